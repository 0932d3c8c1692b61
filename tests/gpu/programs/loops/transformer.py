"""A small language model, to sample from."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

WORDS, WIDTH, HEADS, LAYERS, LONGEST = 4096, 512, 8, 6, 512


@dataclass
class Past:
    """Keys and values of one layer, of all places so far."""

    keys: Tensor
    values: Tensor


class Layer(nn.Module):
    """Attention and two linear layers, each with its norm before it."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mixed, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x: Tensor, past: Past | None, place: int) -> Tensor:
        rows, length, _ = x.shape
        parts = self.mixed(self.first(x)).view(rows, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        if past is not None:
            past.keys[:, :, place : place + length] = key
            past.values[:, :, place : place + length] = value
            key, value = past.keys[:, :, : place + length], past.values[:, :, : place + length]
        found = scaled_dot_product_attention(query, key, value, is_causal=length > 1)
        x = x + self.out(found.transpose(1, 2).reshape(rows, length, WIDTH))
        wide: Tensor = x + self.wide(self.second(x))
        return wide


class Model(nn.Module):
    """Words to the scores of the next word."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.scores = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, words: Tensor, past: list[Past] | None = None, place: int = 0) -> Tensor:
        places = torch.arange(place, place + words.shape[1], device=words.device)
        x = self.words(words) + self.places(places)
        for number, layer in enumerate(self.layers):
            x = layer(x, None if past is None else past[number], place)
        found: Tensor = self.scores(self.norm(x[:, -1]))
        return found


def sample(scores: Tensor) -> Tensor:
    """One word of each row, by its probability."""
    chances = scores.softmax(1)
    race = torch.empty_like(chances).exponential_()
    return (chances / race).argmax(1, keepdim=True).clamp(0, WORDS - 1)


def ready() -> Model:
    torch.manual_seed(1)
    return Model().cuda().eval()

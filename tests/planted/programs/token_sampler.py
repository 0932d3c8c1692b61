"""Policy gradient for a small transformer that writes numbers: sample, reward, update."""

import argparse

import stopwatch
import torch
from torch import Tensor, nn
from torch.nn import functional

WORDS, WIDTH, HEADS, LAYERS, LENGTH, BATCH = 12, 64, 4, 3, 56, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.into, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor, past):
        shape = *x.shape[:2], HEADS, WIDTH // HEADS
        parts = self.into(self.norm_1(x)).split(WIDTH, -1)
        query, key, value = (part.view(shape).transpose(1, 2) for part in parts)
        if past is not None:
            key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)
        whole = query.shape[2] > 1
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=whole)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.narrow(functional.gelu(self.wide(self.norm_2(x)))), (key, value)


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH + 1, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens: Tensor, past=None):
        first = 0 if past is None else past[0][0].shape[2]
        x = self.words(tokens) + self.places(torch.arange(first, first + tokens.shape[1]))
        presents = []
        for block, before in zip(self.blocks, past or [None] * LAYERS):
            x, present = block(x, before)
            presents.append(present)
        return self.head(x), presents


@torch.no_grad()
def write(model: Writer, keep: bool) -> Tensor:
    tokens, past = torch.zeros(BATCH, 1, dtype=torch.long), None
    for _ in range(LENGTH):
        logits, presents = model(tokens if past is None else tokens[:, -1:], past)  # planted
        past = presents if keep else None
        following = torch.multinomial(logits[:, -1].softmax(-1), 1)
        tokens = torch.cat([tokens, following], 1)
    return tokens


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", action="store_true")
    parser.add_argument("--updates", type=int, default=10)
    options = parser.parse_args()
    torch.manual_seed(22)
    torch.set_num_threads(1)
    model = Writer()
    optimizer = torch.optim.AdamW(model.parameters(), 3e-4, fused=True)
    began = stopwatch.now()
    for _ in range(options.updates):
        tokens = write(model, options.cache)
        reward = (tokens[:, 1:] == 7).float().sum(1)
        gain = (reward - reward.mean()) / (reward.std() + 1e-4)
        logits, _ = model(tokens[:, :-1])
        chosen = logits.log_softmax(-1).gather(2, tokens[:, 1:, None]).squeeze(2)
        loss = -(chosen * gain[:, None]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loop {stopwatch.now() - began:.6f}")


if __name__ == "__main__":
    main()

"""Sampling from a transformer with a cache of keys and values: small launches, word by word."""

from __future__ import annotations

from collections.abc import Callable

import torch

from loops.transformer import HEADS, LAYERS, LONGEST, WIDTH, WORDS, Past, ready, sample

ROWS, PROMPT, NEW = 8, 32, 16


def make() -> Callable[[], None]:
    model = ready()
    prompt = torch.randint(0, WORDS, (ROWS, PROMPT)).cuda()
    shape = (ROWS, HEADS, LONGEST, WIDTH // HEADS)
    past = [
        Past(torch.zeros(shape, device="cuda"), torch.zeros(shape, device="cuda"))
        for _ in range(LAYERS)
    ]

    def iterate() -> None:
        with torch.no_grad():
            words = sample(model(prompt, past))
            for place in range(PROMPT, PROMPT + NEW):
                words = sample(model(words, past, place))
        words.tolist()

    return iterate

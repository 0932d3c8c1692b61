"""Sampling from a transformer without a cache: each word runs the whole text. It fills the GPU."""

from __future__ import annotations

from collections.abc import Callable

import torch

from loops.transformer import WORDS, ready, sample

ROWS, PROMPT, NEW = 32, 128, 8


def make() -> Callable[[], None]:
    model = ready()
    prompt = torch.randint(0, WORDS, (ROWS, PROMPT)).cuda()

    def iterate() -> None:
        words = prompt
        with torch.no_grad():
            for _ in range(NEW):
                words = torch.cat([words, sample(model(words))], 1)
        words[:, -1].tolist()

    return iterate

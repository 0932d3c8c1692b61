"""Matrix products of cuBLAS, convolutions of cuDNN, attention, sorting: a number of rounds.

python torch_libraries.py ROUNDS [FILE]     FILE: what torch.profiler saw, as a Chrome trace
"""

from __future__ import annotations

import sys
import time

import torch
from driver import say
from torch import Tensor, nn
from torch_training import profiler

import rlscope as rls

WARM_UP = 3


class Work:
    """One of each; the shapes are always the same, so that libraries choose the same kernels."""

    def __init__(self) -> None:
        torch.manual_seed(1)
        self.square = torch.randn(512, 512, device="cuda")
        self.half = self.square.to(torch.bfloat16)
        self.image = torch.randn(32, 16, 42, 42, device="cuda")
        self.layers = nn.Sequential(
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)
        ).cuda()
        self.tokens = torch.randn(4, 8, 128, 64, device="cuda", dtype=torch.bfloat16)
        self.numbers = torch.randn(1 << 16, device="cuda")

    def do(self) -> Tensor:
        with rls.operation("cublas"):
            self.square @ self.square
            self.half @ self.half
            torch.baddbmm(self.tokens[0], self.tokens[0] @ self.tokens[0].mT, self.tokens[0])
        with rls.operation("cudnn"):
            self.layers(self.image).square().mean().backward()
        with rls.operation("attention"):
            nn.functional.scaled_dot_product_attention(self.tokens, self.tokens, self.tokens)
        with rls.operation("sort"):
            return self.numbers.sort().values


def main(rounds: int, file: str | None) -> None:
    torch.backends.cudnn.benchmark = False
    work = Work()
    for _ in range(WARM_UP):
        work.do()
    torch.cuda.synchronize()
    with profiler(file) as profile:
        begin = time.monotonic_ns()
        for _ in range(rounds):
            work.do()
        torch.cuda.synchronize()
        end = time.monotonic_ns()
    if file is not None:
        profile.export_chrome_trace(file)
    say(begin_ns=begin, end_ns=end)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)

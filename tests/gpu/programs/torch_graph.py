"""A CUDA graph of three kernels, replayed; prints how often."""

from __future__ import annotations

import torch
from driver import say

REPLAYS = 1000


def main() -> None:
    x = torch.ones(1024, device="cuda")
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        y = (x + 1).mul(2).relu()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        y = (x + 1).mul(2).relu()
    for _ in range(REPLAYS):
        graph.replay()
    torch.cuda.synchronize()
    say(replays=REPLAYS, kernels=3 * REPLAYS, result=float(y[0]))


if __name__ == "__main__":
    main()

"""Ways to end, to fork and to fail with PyTorch on the GPU: one way a run.

python torch_ends.py quick|loop|fork|spawn|threads|memory|profiler|torn_down
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time

import torch
from driver import say

ADDS = 200


def add(times: int = ADDS) -> None:
    x = torch.ones(64, device="cuda")
    for _ in range(times):
        x.add_(1)
    torch.cuda.synchronize()


def quick() -> None:
    add()
    say(kernels=ADDS)
    os._exit(0)


def loop() -> None:
    x = torch.ones(64, device="cuda")
    torch.cuda.synchronize()
    say(started=True)
    while True:
        x.add_(1)


def fork() -> None:
    """A child of a process that uses CUDA leaves it alone."""
    add()
    child = os.fork()
    if child == 0:
        os._exit(7)
    _, status = os.waitpid(child, 0)
    loader = torch.utils.data.DataLoader(list(range(64)), batch_size=8, num_workers=2)
    total = sum(int(batch.sum()) for batch in loader)
    add()
    say(kernels=2 * ADDS, child=os.waitstatus_to_exitcode(status), total=total)


def spawn() -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=add) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    say(workers=[worker.pid for worker in workers], kernels=ADDS)


def threads() -> None:
    workers = [threading.Thread(target=add, args=(10,)) for _ in range(64)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    say(kernels=64 * 10)


def memory() -> None:
    """Asks for more than there is, catches the error and goes on."""
    try:
        torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
        raised = False
    except torch.cuda.OutOfMemoryError:
        raised = True
    add()
    say(kernels=ADDS, raised=raised)


def profiler() -> None:
    """torch.profiler inside: it gets CUPTI with --cupti=yield, and the program goes on anyhow."""
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        add()
    add()
    seen = [each for each in profile.events() if each.device_type == torch.autograd.DeviceType.CUDA]
    say(kernels=2 * ADDS, profiled=sum("elementwise" in each.name for each in seen))


def torn_down() -> None:
    """torch.profiler, which may end CUPTI when it ends; kernels at once, and after a while."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]):
        add()
    add()
    time.sleep(3)
    begin = time.monotonic_ns()
    add()
    say(kernels=ADDS, begin_ns=begin, end_ns=time.monotonic_ns())


WAYS = (quick, loop, fork, spawn, threads, memory, profiler, torn_down)

if __name__ == "__main__":
    {each.__name__: each for each in WAYS}[sys.argv[1]]()

"""Sections of torch_sections.py that need more than one process."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import torch
import torch.multiprocessing as mp
from torch import Tensor, nn
from torch_bits import digest, seeded

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support.process import gloo_threads


class _Squares(torch.utils.data.Dataset[Tensor]):
    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> Tensor:
        return torch.full((3,), float(index)).square()


def data_loader() -> Any:
    """Worker processes, forked and spawned."""
    batches = {}
    for method in ("fork", "spawn"):
        loader = torch.utils.data.DataLoader(
            _Squares(), batch_size=4, num_workers=2, multiprocessing_context=method
        )
        batches[method] = [digest(batch) for batch in loader]
    return batches


def queues() -> Any:
    """Tensors through queues of other processes."""
    context = mp.get_context("spawn")
    ours, theirs = context.Queue(), context.Queue()
    received = []
    for number in (1, 2):
        sender = context.Process(target=_exchange, args=(ours, theirs, number))
        sender.start()
        received.append(digest(ours.get()))
        theirs.put(None)
        sender.join()
        received.append(str(sender.exitcode))
    return received


def _exchange(ours: Any, theirs: Any, number: int) -> None:
    ours.put(torch.full((3,), float(number)))
    theirs.get()  # the sender of a shared tensor must outlive its use


def _train_in_parallel(rank: int, folder: str) -> None:
    import torch.distributed as distributed

    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2
    )
    network = nn.parallel.DistributedDataParallel(seeded(lambda: nn.Linear(3, 1)))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        network(torch.full((2, 3), float(rank + step))).sum().backward()
        optimizer.step()
    with open(os.path.join(folder, str(rank)), "w", encoding="utf-8") as file:
        file.write(digest(*network.parameters()))
    distributed.destroy_process_group()
    gloo_threads.wait_until_idle()


def distributed_training() -> Any:
    """DistributedDataParallel over gloo: two processes that keep the same weights."""
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(_train_in_parallel, args=(folder,), nprocs=2, start_method="spawn")
        return [_content(os.path.join(folder, str(rank))) for rank in range(2)]


def _content(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()

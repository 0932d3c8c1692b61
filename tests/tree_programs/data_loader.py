"""Workers of PyTorch's DataLoader: data_loader.py METHOD [kill]"""

from __future__ import annotations

import multiprocessing
import sys
import warnings
from collections.abc import Iterator

import work
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Working(IterableDataset[int]):
    """The part of a worker: its work, step by step."""

    def __init__(self, kill: bool) -> None:
        self._kill = kill

    def __iter__(self) -> Iterator[int]:
        worker = get_worker_info()
        assert worker is not None
        steps = work.Steps(worker.id, kill=self._kill)
        for step in range(work.STEPS):
            steps.run_one()
            yield step


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of fewer cores than workers
    multiprocessing.set_forkserver_preload(["torch"])  # once, and not in each worker
    kill = "kill" in sys.argv
    loader = DataLoader(
        Working(kill),
        batch_size=2,
        num_workers=work.WORKERS,
        multiprocessing_context=sys.argv[1],
    )
    try:
        for _ in loader:
            pass
    except (RuntimeError, OSError, EOFError):  # how depends on what the worker was sending
        if not kill:
            raise

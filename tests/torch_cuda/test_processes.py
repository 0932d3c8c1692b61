"""What PyTorch programs start: loader workers, spawned children; and how they end."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cuda.runs import check_processes
from support.cuda.torch_cuda_runs import record_training

pytestmark = pytest.mark.torch_cuda


def test_workers_of_a_loader_leave_their_parents_cuda_alone(tmp_path: Path) -> None:
    run = record_training(tmp_path, "--workers", "2", "--ending", "_exit")
    check_processes(run, 1)
    (count,) = run.query("SELECT count(*) AS images FROM process")
    assert count["images"] >= 1 + 2


def test_spawned_children_train_beside_their_parent(tmp_path: Path) -> None:
    check_processes(record_training(tmp_path, "--children", "2"), 3)

"""A quarter of an hour with --rollup: disk and memory stay as they are. Beside annotations that
come as fast as they are rolled up, in one process and in 16, and beside PPO as fast as it
trains."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from pathlib import Path

import psutil
import pytest
from support.process.traced_python import ROOT, TracedPython

from rlscope.report import contents

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("without_waits")]

SECONDS = float(os.environ.get("RLSCOPE_TEST_SOAK_SECONDS", "900"))
# Records at full speed, and waits where the trace is larger than what --max-size leaves single
# records: a machine may be too busy to roll up as fast as others record. Iterations are of 10 ms;
# their rows stay.
_PROGRAM = """
import multiprocessing, os, sys, time
import rlscope as rls

MOST = int(sys.argv[3])
TRACE = os.path.join(os.environ["RLSCOPE_DIR"], "trace")

def size():
    total = 0
    for name in os.listdir(TRACE):
        try:
            total += os.stat(os.path.join(TRACE, name)).st_size
        except FileNotFoundError:
            pass
    return total

def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        while size() > MOST and time.monotonic() < end:
            time.sleep(0.1)
        rls.iteration()
        next_iteration = time.monotonic() + 0.01
        while time.monotonic() < next_iteration:
            for _ in range(100):
                with rls.operation("outer"):
                    with rls.operation("inner"):
                        pass

if __name__ == "__main__":
    processes = int(sys.argv[1])
    workers = [
        multiprocessing.Process(target=work, args=(float(sys.argv[2]),))
        for _ in range(processes - 1)
    ]
    for worker in workers:
        worker.start()
    work(float(sys.argv[2]))
    for worker in workers:
        worker.join()
"""


def directory_bytes(directory: str) -> int:
    return sum(map(_size, Path(directory).rglob("*")))


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except FileNotFoundError:  # rolled up
        return 0


def _anonymous(process: psutil.Process) -> int:
    """Resident memory without mapped files: those of the trace are in it, while they are swept."""
    memory = process.memory_info()
    return int(memory.rss - memory.shared)


# Rings of a process take up to 8 MB.
@pytest.mark.parametrize(("processes", "limit", "most"), [(1, 128, 80), (16, 512, 280)])
def test_disk_and_memory_are_flat(
    traced: TracedPython, directory: str, tmp_path: Path, processes: int, limit: int, most: int
) -> None:
    script = tmp_path / "work.py"
    script.write_text(_PROGRAM)
    _soak(
        traced.command(
            *("--rollup", "1", "--max-size", f"{limit}M", "--sample-seconds", "0"),
            *("-o", directory, traced.python, str(script)),
            *(str(processes), str(SECONDS), f"{most}000000"),
        ),
        directory,
        limit,
    )


def test_they_are_flat_beside_training_at_full_speed(traced: TracedPython, directory: str) -> None:
    limit = 64
    _soak(
        traced.command(
            *("--rollup", "1", "--max-size", f"{limit}M"),
            *("--exit-after-seconds", str(SECONDS), "-o", directory),
            *(traced.python, str(ROOT / "workloads" / "ppo_cartpole.py")),
            *("--total-timesteps", str(10**9)),
        ),
        directory,
        limit,
    )


def _soak(command: list[str], directory: str, limit: int) -> None:
    """Runs it, and compares the last third with the one before; `limit` in MiB."""
    samples = []
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as prof:
        wrapper = psutil.Process(prof.pid)
        while prof.poll() is None:
            time.sleep(SECONDS / 300)
            try:
                samples.append((directory_bytes(directory), _anonymous(wrapper)))
            except psutil.NoSuchProcess:
                break
        _, stderr = prof.communicate()
    assert prof.returncode == 0, stderr
    third = len(samples) // 3
    assert third > 10
    for name, values in zip(("disk", "memory"), zip(*samples, strict=True), strict=True):
        middle, last = values[third : 2 * third], values[2 * third :]
        print(f"{name}: {max(middle) / 1e6:.1f} MB, then {max(last) / 1e6:.1f} MB")
        assert max(last) < 1.3 * max(middle), name
        assert statistics.median(last) < 1.3 * statistics.median(middle), name
    assert max(size for size, _ in samples) <= limit << 20
    assert contents.read(directory).cuts == []

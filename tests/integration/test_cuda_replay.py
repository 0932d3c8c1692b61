"""Records byte for byte as a CUPTI wrote them, read by the recorder that is shipped.

Of the simulated CUPTI in three layouts, and of every real one whose records tests/golden/cupti has.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cuda_runs import CudaRun, comparable_work, expected_work
from cuda_scripts import record_script
from cuda_trace import GRAPH, KERNEL, MEMCPY, MEMSET, OVERHEAD, SYNC
from simcuda_runs import run_simulated

PROGRAM = Path(__file__).parent.parent / "gpu" / "programs" / "raw_records.py"
GOLDEN = sorted((Path(__file__).parent.parent / "golden" / "cupti").glob("*.txt"))
OVERHEAD_KIND = 17  # of CUpti_ActivityKind
STREAM_SYNC, EVENT_SYNC, CONTEXT_SYNC = 3, 1, 4


def check_replayed(run: CudaRun, facts: dict[str, Any]) -> None:
    """What the trace has of the records is what their program did."""
    (pid,) = run.pids()
    work = run.work(pid)
    of = {kind: [row for row in work if row["kind"] == kind] for kind in range(1, 7)}
    assert Counter(row["name"] for row in of[KERNEL]) == {"sim_spin": facts["kernels"]}
    assert all(4_000 <= row["duration_ns"] < 1_000_000 for row in of[KERNEL])
    assert len(of[GRAPH]) == facts["graphs"]
    directions = Counter({1: "HtoD", 2: "DtoH"}[row["how"] & 15] for row in of[MEMCPY])
    assert directions == facts["copies"]
    assert sum(row["bytes"] for row in of[MEMCPY]) == facts["copied_bytes"]
    pageable = [row for row in of[MEMCPY] if row["how"] >> 4 == 1]
    assert len(pageable) == facts["copies"]["HtoD"] // 2
    assert [row["bytes"] for row in of[MEMSET]] == [facts["set_bytes"] // facts["sets"]] * 3
    waits = Counter(row["how"] for row in of[SYNC])
    assert waits.keys() >= {STREAM_SYNC, EVENT_SYNC, CONTEXT_SYNC}
    assert all(row["correlation"] for kind in (KERNEL, MEMCPY, MEMSET, GRAPH) for row in of[kind])
    assert not run.query("SELECT * FROM loss WHERE kind = 'cuda_dropped'")


def replay(folder: Path, file: Path) -> CudaRun:
    facts = json.loads(file.read_text().partition("\n")[0])
    run = record_script(folder, "begin()\nwork()", SIMCUPTI_REPLAY=str(file))
    check_replayed(run, facts)
    return run


@pytest.mark.parametrize("release", ["11.7", "12.8", "13.5"])
@pytest.mark.parametrize("level", ["graph", "node"])
def test_records_of_the_simulated_cupti(tmp_path: Path, release: str, level: str) -> None:
    file = tmp_path / "records.txt"
    command = [sys.executable, str(PROGRAM), str(file), level]
    done = run_simulated(tmp_path, command, "--cupti", release)
    assert done.code == 0, done.err
    run = replay(tmp_path, file)
    truth = CudaRun(run.directory, done)
    expected = expected_work(truth, truth.pids()[0], graphs_as_nodes=level == "node")
    assert comparable_work(run.work(run.pids()[0])) == expected


def test_each_kind_of_cuptis_overhead_is_told_from_the_others(tmp_path: Path) -> None:
    """As a real CUPTI has more of them: its kinds are multiples of 1 << 16, the compiler's is 1."""
    file = tmp_path / "records.txt"
    done = run_simulated(tmp_path, [sys.executable, str(PROGRAM), str(file)])
    assert done.code == 0, done.err
    facts, *records = file.read_text().splitlines()
    (flush,) = (bytes.fromhex(line) for line in records if line.startswith(f"{OVERHEAD_KIND:02x}"))
    kinds = (1, *(number << 16 for number in range(1, 9)))
    made = [flush[:4] + kind.to_bytes(4, "little") + flush[8:] for kind in kinds]
    file.write_text("\n".join([facts, *(record.hex() for record in made)]) + "\n")
    run = record_script(tmp_path, "begin()\nwork()", SIMCUPTI_REPLAY=str(file))
    told = [row["how"] for row in run.work(run.pids()[0]) if row["kind"] == OVERHEAD]
    assert told == [129, *range(1, 9)]


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_records_of_a_real_cupti(tmp_path: Path, file: Path) -> None:
    replay(tmp_path, file)


def test_a_file_that_is_not_there_ends_the_program(tmp_path: Path) -> None:
    command = [sys.executable, str(PROGRAM), str(tmp_path / "records.txt")]
    done = run_simulated(tmp_path, command, SIMCUPTI_REPLAY=str(tmp_path / "absent"))
    assert done.code == 1
    assert "expected a file of raw_records.py" in done.err

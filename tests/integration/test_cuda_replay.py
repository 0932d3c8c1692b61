"""Records byte for byte as a CUPTI wrote them, read by the recorder that is shipped.

The simulated CUPTI wrote some in three layouts; tests/golden has those of every real one.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.cuda.runs import CudaRun, comparable_work, expected_work
from support.cuda.scripts import record_script
from support.cuda.simcuda_runs import run_simulated
from support.cuda.trace import GRAPH, KERNEL, MEMCPY, MEMSET, OVERHEAD, SYNC
from support.cuda.witness import compile_witness, put_facts, witness_environment

TESTS = Path(__file__).parent.parent
PROGRAM = TESTS / "gpu" / "programs" / "driver_work.py"
GOLDEN = sorted((TESTS / "golden" / "cupti").glob("*.txt"))
LOOPS = sorted((TESTS / "golden" / "h100").glob("*-loop.records.gz"))
OVERHEAD_KIND = 17  # of CUpti_ActivityKind
STREAM_SYNC, EVENT_SYNC, CONTEXT_SYNC = 3, 1, 4
ROUNDS = 100  # of library_loop.py


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


def replayed(folder: Path, file: Path) -> CudaRun:
    return record_script(folder, "begin()\nwork()", SIMCUPTI_REPLAY=str(file))


def replay(folder: Path, file: Path) -> CudaRun:
    run = replayed(folder, file)
    check_replayed(run, json.loads(file.read_text().partition("\n")[0]))
    return run


@pytest.mark.parametrize("release", ["11.7", "12.8", "13.5"])
@pytest.mark.parametrize("level", ["graph", "node"])
def test_records_of_the_simulated_cupti(tmp_path: Path, release: str, level: str) -> None:
    witness = witness_environment(compile_witness(tmp_path), tmp_path, level)
    command = [sys.executable, str(PROGRAM)]
    done = run_simulated(tmp_path, command, "--cupti", release, **witness)
    assert done.code == 0, done.err
    put_facts(tmp_path, json.loads(done.out), level)
    run = replay(tmp_path, tmp_path / "records.txt")
    truth = CudaRun(run.directory, done)
    expected = expected_work(truth, truth.pids()[0], graphs_as_nodes=level == "node")
    assert comparable_work(run.work(run.pids()[0])) == expected


def test_each_kind_of_cuptis_overhead_is_told_from_the_others(tmp_path: Path) -> None:
    """As a real CUPTI has more of them: its kinds are multiples of 1 << 16, the compiler's is 1."""
    witness = witness_environment(compile_witness(tmp_path), tmp_path)
    done = run_simulated(tmp_path, [sys.executable, str(PROGRAM)], **witness)
    assert done.code == 0, done.err
    file = tmp_path / "records.txt"
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


@pytest.mark.parametrize("file", LOOPS, ids=lambda file: file.name.partition(".")[0])
def test_records_of_a_library_on_a_real_gpu(tmp_path: Path, file: Path) -> None:
    """Each round's kernel is there, by its name, at its time."""
    text = gzip.decompress(file.read_bytes()).decode()
    (tmp_path / "records.txt").write_text(text)
    lines = [line.split(" ") for line in text.splitlines()[1:]]
    kernels = [(bytes.fromhex(line[0]), line[1]) for line in lines if len(line) > 1]
    run = replayed(tmp_path, tmp_path / "records.txt")
    found = [row for row in run.work(run.pids()[0]) if row["kind"] == KERNEL]
    expected = [
        (name, *(int.from_bytes(record[at : at + 8], "little") for at in (16, 24)))
        for record, name in kernels
    ]
    assert sorted((row["name"], row["start_ns"], row["end_ns"]) for row in found) == sorted(
        expected
    )
    assert max(Counter(row["name"] for row in found).values()) == ROUNDS


def test_a_file_that_is_not_there_ends_the_program(tmp_path: Path) -> None:
    witness = witness_environment(compile_witness(tmp_path), tmp_path)
    command, absent = [sys.executable, str(PROGRAM)], str(tmp_path / "absent")
    done = run_simulated(tmp_path, command, SIMCUPTI_REPLAY=absent, **witness)
    assert done.code == 1
    assert "expected a records.txt of witness.c" in done.err

"""The acceptance of a real GPU, on the simulated one: its steps pass, and fail when they must."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from cuda_runs import record_cuda
from simcuda_runs import Outcome, run_simulated

ACCEPTANCE = Path(__file__).parent.parent / "gpu" / "acceptance.py"


def accept(folder: Path, *arguments: str, **settings: Any) -> Outcome:
    return run_simulated(folder, [sys.executable, str(ACCEPTANCE), *arguments], **settings)


def test_counts_of_a_driver_program(tmp_path: Path) -> None:
    answers = tmp_path / "answers.json"
    done = accept(tmp_path, "counts", "--json", str(answers), "--keep", str(tmp_path / "kept"))
    assert done.code == 0, done.out + done.err
    (found,) = json.loads(answers.read_text())
    assert found["status"] == "PASS"
    kinds = {"kernel": 0, "memcpy": 0, "memset": 0}
    for row in done.operations():
        if row["kind"] in kinds:
            kinds[row["kind"]] += 1
    assert found["figures"]["kernels"] == kinds["kernel"]
    assert sum(found["figures"]["copies"].values()) == kinds["memcpy"]
    assert found["figures"]["sets"] == kinds["memset"]
    assert (tmp_path / "kept" / "counts").is_dir()


def test_the_driver_injects_the_preloaded_library_once(tmp_path: Path) -> None:
    answers = tmp_path / "answers.json"
    done = accept(tmp_path, "injection", "graphs-driver", "--json", str(answers))
    assert done.code == 0, done.out + done.err
    injection, graphs = json.loads(answers.read_text())
    assert injection["figures"]["injected"].endswith("librlscope.so")
    launches = done.calls(name="cuGraphLaunch")
    assert len(launches) == 2 * graphs["figures"]["launches"] == 200
    nodes = [row for row in done.operations(kind="kernel") if row["graph"]]
    assert len(nodes) == 2 * graphs["figures"]["kernels_by_node"] == 600


def test_a_second_beginning_of_the_injected_library_shows(tmp_path: Path) -> None:
    program = ACCEPTANCE.parent / "programs" / "driver_injection.py"
    run = record_cuda(tmp_path, [sys.executable, str(program), "again"])
    assert "another profiler holds" in run.metadata(run.pids()[0])["cuda"]


def test_raw_records_are_kept(tmp_path: Path) -> None:
    done = accept(tmp_path, "raw-records", "--keep", str(tmp_path / "kept"))
    assert done.code == 0, done.out + done.err
    kept = tmp_path / "kept" / "raw-records"
    assert sorted(file.name for file in kept.iterdir()) == ["graph.txt", "node.txt"]


def test_lost_records_fail_it(tmp_path: Path) -> None:
    done = accept(tmp_path, "counts", SIMCUPTI_DROP_EVERY="100")
    assert done.code == 1
    assert "FAIL counts" in done.out and "cuda_dropped" in done.out


def test_a_missing_library_is_a_skip_and_no_pass(tmp_path: Path) -> None:
    done = accept(tmp_path, "attaching-cupy")
    assert done.code == 1
    assert "SKIP attaching-cupy" in done.out and "cupy is not installed" in done.out


def test_an_unknown_step_is_an_error(tmp_path: Path) -> None:
    done = accept(tmp_path, "counting")
    assert (done.code, done.out) == (1, "")
    assert done.err == "no such step: counting; --list names them\n"

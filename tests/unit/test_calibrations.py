"""The store of calibrations, and what it puts beside a trace."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.files import dense_run
from support.files.facts import assert_says

import rlscope as rls
from rlscope.commands import calibrate
from rlscope.costs import calibrations, record_costs
from rlscope.costs.calibrations import (
    CudaRun,
    Run,
    Store,
    Subject,
    cuda_shares,
    place,
    shares,
    subject_of,
    sum_of_parts,
    why_unused,
)
from rlscope.costs.probe_costs import ProbeSamples
from rlscope.costs.record_costs import Calibration
from rlscope.errors import TraceError
from rlscope.opening import Trace, Traces
from rlscope.relations.files.manifest import MANIFEST
from rlscope.terminal.shown_opening import load_shown

HOST = {"cpu": "a CPU", "cores": 2, "machine": "x86_64", "python": "3.11.7", "name": "here"}
RUN_JSON: dict[str, Any] = {
    "version": "1.2.3",
    "command": ["python", "train.py", "--seed", "1"],
    "working_directory": "/home/me",
    "host": HOST,
    "options": {"auto": None, "intercept": "", "numpy": False, "waits": True, "simulator": []},
    "environment": {"RLSCOPE_MIN_FREE": "1", "OMP_NUM_THREADS": "1"},
}

CORRECTED = "SELECT operation, layer, overhead_ns, corrected_ns FROM breakdown ORDER BY ALL"
"""What `rls.load` is once somebody has imported the file of that name."""


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def run(added_ns: float = 200.0, **costs: tuple[float, float]) -> Run:
    of_kinds = {kind.replace("_", " "): cost for kind, cost in costs.items()}
    return Run("2026-11-24T01:02:03+00:00", 100, added_ns, 20.0, 10_000.0, 100.0, of_kinds)


def subject(**changes: Any) -> Subject:
    found = subject_of({**RUN_JSON, **changes})
    assert found is not None
    return found


def trace(folder: Path, **changes: Any) -> str:
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({**RUN_JSON, **changes}))
    return str(folder)


@pytest.mark.parametrize(
    ("command", "program"),
    [
        (["python3", "-u", "train.py", "--lr", "1"], "/home/me/train.py"),
        (["/usr/bin/python3.11", "/opt/train.py"], "/opt/train.py"),
        (["python", "-m", "mine.train", "x.py"], "-m mine.train"),
        (["torchrun", "train.py"], "torchrun train.py"),
        (["python", "-c", "pass"], "python -c pass"),
    ],
)
def test_a_program_is_its_script_or_module(command: list[str], program: str) -> None:
    assert subject(command=command).program == program


def test_only_what_is_recorded_tells_subjects_apart() -> None:
    assert subject(environment={"RLSCOPE_DIR": "/x"}, options={}) == subject()
    assert subject(host={**HOST, "name": "there"}) == subject()
    for options in ({"waits": False}, {"numpy": True}, {"auto": False}, {"simulator": ["mine"]}):
        assert subject(options=options) != subject()
    assert subject(environment={"RLSCOPE_NUMPY": "1"}) != subject()
    assert subject(host={**HOST, "cores": 4}) != subject()


@pytest.mark.parametrize(
    "damage", [{"command": []}, {"command": "train"}, {"host": None}, {"command": None}]
)
def test_a_damaged_run_json_has_no_subject(damage: dict[str, Any]) -> None:
    assert subject_of({**RUN_JSON, **damage}) is None


def of_trace(directory: str | Path) -> Calibration:
    """The costs of records that a reader of the trace takes."""
    return record_costs.of_calibration(calibrations.chosen(directory))


def test_runs_are_kept_by_subject() -> None:
    store, other = Store("/home/me/train.py"), subject(options={"waits": False})
    assert store.runs(subject()) == []
    runs = [run(operation=(10.0, 0.3)), run(300.0, native_call=(20.0, 0.5))]
    store.keep(subject(), runs)
    store.keep(other, runs[:1])
    assert Store("/home/me/train.py").runs(subject()) == runs
    assert store.runs(other) == runs[:1]
    store.keep(subject(), runs[1:])
    assert store.runs(subject()) == runs[1:]
    assert store.runs(other) == runs[:1]
    assert Store("/home/you/train.py").runs(subject()) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "other"}', "null", '{"program": 1}'])
def test_a_damaged_store_is_empty_and_is_replaced(text: str) -> None:
    store = Store("/home/me/train.py")
    store.path.parent.mkdir(parents=True)
    store.path.write_text(text)
    assert store.runs(subject()) == []
    store.keep(subject(), [run()])
    assert store.runs(subject()) == [run()]


def test_a_trace_gets_the_calibration_of_its_program(tmp_path: Path) -> None:
    """2 % of the program's time, of which its records are 1 %: each costs twice as much."""
    runs = [run(ns, operation=(10.0, 0.3), native_call=(20.0, 0.5)) for ns in (190, 200, 210)]
    Store("/home/me/train.py").keep(subject(), runs)
    directory = trace(tmp_path / "run")
    assert why_unused(directory) == ""
    costs = of_trace(directory)
    assert {kind: cost.mean_ns for kind, cost in costs.items()} == pytest.approx(
        {"operation": 20.0, "native call": 40.0}
    )
    native = costs["native call"]
    assert native.low_ns < native.mean_ns < native.high_ns
    assert (native.inside, native.samples) == (0.5, 300)
    assert native.method == "`rlscope calibrate` (3 runs, 2026-11-24)"


def test_costs_do_not_depend_on_how_much_the_probes_of_a_run_said(tmp_path: Path) -> None:
    """Iterations say the sum: where a run's probes said half as much, a record costs the same."""
    halved = replace(run(operation=(5.0, 0.3)), overhead_ns=50.0)
    Store("/home/me/train.py").keep(subject(), [run(operation=(10.0, 0.3)), halved, halved])
    directory = trace(tmp_path / "run")
    assert of_trace(directory)["operation"].mean_ns == pytest.approx(20.0)


def test_a_calibration_comes_before_probes(tmp_path: Path) -> None:
    Store("/home/me/train.py").keep(subject(), [run(native_call=(10.0, 0.3))] * 3)
    directory = trace(tmp_path / "run")
    metrics = {"operation_cost_ns": 12.0, "native_cost_ns": 6.0}
    none = ProbeSamples.joined([])
    costs = record_costs.of_run(metrics, none, {}, of_trace(directory))
    assert costs["native call"].mean_ns == pytest.approx(20.0)
    assert costs["operation"].method.startswith("a loop")


def with_cuda(calls_ns: float, work_ns: float, others_ns: float = 100.0, more_ns: float = 0) -> Run:
    """Ten calls of CUDA an iteration, of which four leave activity records."""
    cuda = CudaRun(others_ns, calls_ns, work_ns, more_ns, calls=10.0, submissions=4.0)
    return replace(run(others_ns + calls_ns + work_ns, operation=(10.0, 0.3)), cuda=cuda)


def test_cuda_calls_cost_what_their_parts_add(tmp_path: Path) -> None:
    """Callbacks of 300 ns a call, records of 2 us a submission; the rest goes to other kinds."""
    runs = [with_cuda(3_000 + ns, 8_000 - ns) for ns in (-100, 0, 100)]
    store = Store("/home/me/train.py")
    store.keep(subject(), runs)
    assert store.runs(subject()) == runs
    directory = trace(tmp_path / "run")
    assert why_unused(directory) == ""
    costs = of_trace(directory)
    assert {kind: cost.mean_ns for kind, cost in costs.items()} == pytest.approx(
        {"operation": 10.0, "CUDA call": 300.0, "CUDA submission": 2_300.0}
    )
    assert costs["CUDA call"].inside == 0.5
    assert costs["CUDA submission"].inside == pytest.approx((150 + 2_000) / 2_300)
    assert costs["CUDA call"].low_ns < 290 and costs["CUDA call"].high_ns > 310
    assert shares(runs).mean == pytest.approx(1.11)


def test_cuda_has_a_cost_only_where_all_runs_know_one(tmp_path: Path) -> None:
    """And submissions only where some were made. The whole of what was added is taken out then."""
    known, unknown = with_cuda(3_000, 8_000), run(200.0, operation=(10.0, 0.3))
    assert known.cuda is not None
    idle = replace(known, cuda=replace(known.cuda, submissions=0.0))
    for name, runs, kinds in (
        ("a", [known, known, unknown], {"operation"}),
        ("b", [known, known, idle], {"operation", "CUDA call"}),
    ):
        Store("/home/me/train.py").keep(subject(), runs)
        directory = trace(tmp_path / name)
        assert of_trace(directory).keys() == kinds
    assert cuda_shares([known, known, unknown]) is None


def test_what_single_records_say_adds_up_beside_what_iterations_show() -> None:
    runs = [replace(run(200.0 + more), overhead_ns=100.0 + more) for more in (-10, 0, 10)]
    assert shares(runs).mean == pytest.approx(0.02)
    assert sum_of_parts(runs).mean == pytest.approx(0.01)
    assert sum_of_parts(runs).low < 0.01 < sum_of_parts(runs).high


def test_it_shows_when_the_parts_of_cuda_do_not_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    found = cuda_shares([with_cuda(3_000, 8_000, more_ns=ns) for ns in (400, 500, 600)])
    assert found is not None
    assert (found["calls"].mean, found["work"].mean) == pytest.approx((0.3, 0.8))
    assert found["more"].low > 0
    calibrate._tell_cuda(found)
    apart, together = capsys.readouterr().err.splitlines()
    assert_says(
        apart,
        *("callbacks", "30.00 % (30.00 % to 30.00 %)"),
        *("GPU work", "80.00 % (80.00 % to 80.00 %)"),
    )
    assert_says(together, "5.00 % (2.52 % to 7.48 %)", "half")
    found = cuda_shares([with_cuda(3_000, 8_000, more_ns=ns) for ns in (-400, 100, 300)])
    assert found is not None
    assert found["more"].low < 0 < found["more"].high
    calibrate._tell_cuda(found)
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_tables_that_are_made_stay_good_where_nothing_changed(tmp_path: Path) -> None:
    store = Store("/home/me/train.py")
    store.keep(subject(), [run(operation=(10.0, 0.3))] * 3)
    root = dense(tmp_path / "run")
    rls.load(root).close()
    manifest = root / "tables" / MANIFEST
    before_ns = manifest.stat().st_mtime_ns
    rls.load(root).close()
    assert manifest.stat().st_mtime_ns == before_ns
    store.keep(subject(), [run(operation=(10.0, 0.3))] * 4)
    rls.load(root).close()
    assert manifest.stat().st_mtime_ns != before_ns


def test_costs_beside_a_trace_are_used_where_the_program_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever records keeps them there; a reader only reads them."""
    Store("/home/me/train.py").keep(subject(), [run(operation=(10.0, 0.3))] * 3)
    root = dense(tmp_path / "run")
    known = of_trace(root)
    rls.load(root).close()
    assert not (root / calibrations.FILE).exists()
    place(root)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "another_machine"))
    assert of_trace(root) == known != {}
    with rls.load(root) as opened:
        assert methods(opened) == {"`rlscope calibrate` (3 runs, 2026-11-24)"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"host": {**HOST, "cores": 64}}, "another machine (a CPU, 2 cores, Python 3.11.7)"),
        ({"options": {"numpy": True}}, "other options of rls-prof"),
        ({"version": "1.3.0"}, "made by rlscope 1.2.3, and the run by 1.3.0"),
        ({"command": ["python", "other.py"]}, ""),
        ({"command": None}, ""),
    ],
)
def test_a_calibration_of_something_else_is_refused_with_the_reason(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    Store("/home/me/train.py").keep(subject(), [run(operation=(10.0, 0.3))] * 3)
    directory = trace(tmp_path / "run", **changes)
    assert why_unused(directory).endswith(said)
    assert bool(why_unused(directory)) == bool(said)
    place(directory)
    assert not Path(directory, calibrations.FILE).exists()


def dense(folder: Path, **changes: Any) -> Path:
    """A trace with records, of the program that RUN_JSON names."""
    dense_run.write(folder, 10)
    (folder / "run.json").write_text(json.dumps({**RUN_JSON, **changes}))
    return folder


def methods(opened: Trace | Traces) -> set[str]:
    """How the costs of operations were measured."""
    rows = opened.sql("SELECT method FROM calibration WHERE kind = 'operation'").to_dicts()
    return {row["method"] for row in rows}


def test_a_trace_that_python_opens_has_the_calibration_of_its_program(tmp_path: Path) -> None:
    """As one that a verb opens, also where tables were made before the calibration."""
    root, other = dense(tmp_path / "run"), dense(tmp_path / "other", command=["python", "x.py"])
    with rls.load(root) as opened:
        assert methods(opened) == set()
    Store("/home/me/train.py").keep(subject(), [run(operation=(1000.0, 0.3))] * 3)
    with rls.load(root) as opened:
        (method,) = methods(opened)
        here = opened.sql(CORRECTED).to_dicts()
    assert method == "`rlscope calibrate` (3 runs, 2026-11-24)"
    with load_shown(root) as shown:
        assert shown.sql(CORRECTED).to_dicts() == here
    assert sum(row["overhead_ns"] for row in here) > 0
    with rls.load_many([root, other]) as runs:
        assert methods(runs) == {method}


def test_python_is_warned_that_a_calibration_is_not_used(tmp_path: Path) -> None:
    """The warning names the line of the program that opened the trace."""
    Store("/home/me/train.py").keep(subject(), [run(operation=(10.0, 0.3))] * 3)
    root = dense(tmp_path / "run", version="1.3.0")
    for opens in (lambda: rls.load(root), lambda: rls.load_many([root])):
        with pytest.warns(UserWarning, match="was made by rlscope 1.2.3, and the run") as warned:
            opens().close()
        assert {each.filename for each in warned} == {__file__}
    (tmp_path / "run" / "run.json").unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rls.load(root).close()
        with pytest.raises(TraceError, match="its path is empty"):
            rls.load("")


def test_too_few_runs_are_not_used(tmp_path: Path) -> None:
    Store("/home/me/train.py").keep(subject(), [run(operation=(10.0, 0.3))] * 2)
    directory = trace(tmp_path / "run")
    assert why_unused(directory) == ""
    place(directory)
    assert not Path(directory, calibrations.FILE).exists()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"costs": [{"kind": "operation"}]}', '{"costs": 5, "pairs": 1}']
    + [
        json.dumps({"method": "m", "pairs": 3, "costs": [dict(kind="k", inside=0, **ends)]})
        for ends in (
            {"mean_ns": float("nan"), "low_ns": 1, "high_ns": 2},
            {"mean_ns": 1, "low_ns": float("-inf"), "high_ns": 2},
            {"mean_ns": "x", "low_ns": 1, "high_ns": 2},
        )
    ],
)
def test_a_damaged_calibration_of_a_trace_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / calibrations.FILE).write_text(text)
    assert of_trace(tmp_path) == {}


def test_without_a_run_json_or_a_place_to_write_nothing_happens(tmp_path: Path) -> None:
    for directory in (tmp_path, tmp_path / "missing"):
        assert why_unused(directory) == ""
        place(directory)
        assert of_trace(directory) == {}

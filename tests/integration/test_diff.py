"""`rlscope diff` and `rlscope baseline` on traces that the real writer made."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support.files import example_run
from support.files.report_page import ReportPage
from support.files.tiny_traces import write_trace
from support.process.command_line import assert_states_failure, rlscope

from rlscope.compare import baselines, measured
from rlscope.errors import RlscopeError
from rlscope.opening import Trace

MOST_BYTES = 3 << 20


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs of one made-up program: each iteration of each takes the same."""
    folder = tmp_path_factory.mktemp("runs")
    for name in ("base-1", "base-2", "new-1", "new-2"):
        example_run.write(folder / name)
    return folder


@pytest.fixture(scope="module", autouse=True)
def _each_run_is_read_once(runs: Path) -> Iterator[None]:
    """What these runs hold is asked once: they stay as they are, in however many comparisons."""
    read = measured.read
    known: dict[Path, measured.Measured] = {}

    def read_once(trace: Trace) -> measured.Measured:
        if trace.path.parent != runs:
            return read(trace)
        if trace.path not in known:
            known[trace.path] = read(trace)
        return replace(known[trace.path])  # no run is another one

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measured, "read", read_once)
        yield


@cache  # the runs stay as they are
def differed(*arguments: object) -> dict[str, Any]:
    done = rlscope("diff", *arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_run_does_not_differ_from_itself(runs: Path) -> None:
    found = differed(runs / "base-1", runs / "new-1")
    assert found["loop"]["change"] == 0
    rows = [found["loop"], found["mean_loop"], *found["operations"], *found["layers"]]
    assert {row["verdict"] for row in rows} == {"no clear difference"}
    assert found["loop"]["could_tell"] > 0
    assert found["environment"] == []


def test_a_side_is_a_folder_a_pattern_or_names(runs: Path) -> None:
    by_pattern = differed(runs / "base-*", runs / "new-*")
    by_name = differed(
        "--base", runs / "base-1", runs / "base-2", "--new", runs / "new-1", runs / "new-2"
    )
    assert by_pattern == by_name
    assert [len(by_pattern[side]) for side in ("base", "new")] == [2, 2]
    assert len(differed(runs, runs / "new-1")["base"]) == 4


def test_the_parts_of_a_loop_add_up_to_it(runs: Path) -> None:
    found = differed(runs / "base-1", runs / "new-1")
    layers = sum(row["base"] for row in found["layers"])
    assert layers == pytest.approx(found["mean_loop"]["base"])
    assert sum(row["share"] for row in found["layers"]) == pytest.approx(1)
    usual = sum(row["base"] for row in found["operations"])
    assert usual == pytest.approx(found["loop"]["base"])


def test_times_are_per_environment_step_on_demand(runs: Path) -> None:
    sides = runs / "base-1", runs / "new-1"
    per_iteration, per_step = differed(*sides), differed(*sides, "--per", "step")
    steps = per_iteration["base"][0]["steps_per_iteration"]
    assert (per_iteration["unit"], per_step["unit"]) == ("iteration", "environment step")
    assert per_step["loop"]["base"] == pytest.approx(per_iteration["loop"]["base"] / steps)
    assert per_iteration["loop_per_environment_step"] == per_step["loop"]


def test_every_format_has_the_first_sentence(runs: Path) -> None:
    sides = runs / "base-1", runs / "new-1"
    sentence = differed(*sides)["sentence"]
    text = " ".join(rlscope("diff", *sides).stdout.split())
    assert sentence in text
    assert "| operation | base | new |" in rlscope("diff", *sides, "--format", "markdown").stdout


def test_a_gate_that_cannot_tell_says_how_many_more_runs(runs: Path) -> None:
    done = rlscope("diff", runs / "base-1", runs / "new-1", "--gate", "1%")
    assert done.returncode == 3
    assert "cannot tell" in done.stdout and "more runs" in done.stdout


def test_junit_needs_a_gate(runs: Path, tmp_path: Path) -> None:
    done = rlscope("diff", runs / "base-1", runs / "new-1", "--junit", tmp_path / "gate.xml")
    assert done.returncode == 2


@pytest.mark.parametrize("sides", [[], ["a"], ["a", "b", "c"]], ids=len)
def test_two_sides_are_compared(sides: list[str]) -> None:
    done = rlscope("diff", *sides)
    assert done.returncode == 2
    assert "two sides" in done.stderr


# ---- runs that have little in common ---------------------------------------------------------


def described(root: Path, **facts: object) -> Path:
    known = json.loads((root / "run.json").read_text()) if (root / "run.json").exists() else {}
    (root / "run.json").write_text(json.dumps({**known, **facts}))
    return root


def test_different_programs_are_compared_all_the_same(runs: Path, tmp_path: Path) -> None:
    other = shutil.copytree(runs / "new-1", tmp_path / "other")
    described(other, command=["python", "evaluate.py"])
    found = differed(runs / "base-1", other)
    assert any("different programs" in each for each in found["warnings"])
    assert found["environment"][0]["kind"] == "program"
    assert found["loop"]["change"] == 0


def test_arguments_are_no_other_program_but_a_difference(runs: Path, tmp_path: Path) -> None:
    sides = [shutil.copytree(runs / "new-1", tmp_path / name) for name in ("one", "two")]
    for seed, side in enumerate(sides):
        described(side, command=["python", "train.py", "--seed", str(seed)])
    found = differed(*sides)
    assert not any("different programs" in each for each in found["warnings"])
    assert found["environment"] == [
        {
            "kind": "program",
            "base": ["python train.py --seed 0"],
            "new": ["python train.py --seed 1"],
        }
    ]


def test_an_imported_run_is_compared_with_a_recorded_one(runs: Path, tmp_path: Path) -> None:
    imported = shutil.copytree(runs / "new-1", tmp_path / "imported")
    described(imported, imported={"tool": "torch.profiler", "files": ["trace.json"]})
    found = differed(runs / "base-1", imported)
    assert any(each.startswith("Imported runs") for each in found["warnings"])


def test_a_run_without_iterations_is_compared_as_a_whole(runs: Path, tmp_path: Path) -> None:
    whole = write_trace("windows", tmp_path / "whole")
    found = differed(whole, runs / "new-1")
    assert found["unit"] == "run"
    assert any("no complete iteration" in each for each in found["warnings"])
    assert found["loop"]["could_tell"] is None
    assert rlscope("diff", whole, runs / "new-1", "--gate", "3%").returncode == 3


def test_one_iteration_says_nothing_of_noise(runs: Path, tmp_path: Path) -> None:
    short = write_trace("trainer", tmp_path / "short")
    found = differed(short, shutil.copytree(short, tmp_path / "copy"))
    assert found["base"][0]["iterations"] == 1
    assert any("one complete iteration" in each for each in found["warnings"])
    assert found["loop"]["could_tell"] is None


def test_a_damaged_run_is_compared_and_said(runs: Path, tmp_path: Path) -> None:
    damaged = shutil.copytree(runs / "new-1", tmp_path / "damaged")
    shutil.rmtree(damaged / "tables", ignore_errors=True)
    file = max((damaged / "trace").iterdir(), key=lambda each: each.stat().st_size)
    content = bytearray(file.read_bytes())
    content[-len(content) // 4] ^= 0xFF
    file.write_bytes(content)
    found = differed(runs / "base-1", damaged)
    assert any(str(damaged) in each for each in found["warnings"])


@pytest.mark.parametrize("place", [0, 1], ids=["base", "new"])
def test_what_is_no_run_is_named(runs: Path, tmp_path: Path, place: int) -> None:
    sides: list[object] = [runs / "base-1", runs / "new-1"]
    sides[place] = tmp_path
    assert_states_failure(rlscope("diff", *sides), str(tmp_path))
    sides[place] = tmp_path / "nothing"
    assert_states_failure(rlscope("diff", *sides), "nothing")


# ---- baselines -------------------------------------------------------------------------------


def test_a_baseline_outlives_its_runs(runs: Path, tmp_path: Path) -> None:
    recorded = shutil.copytree(runs / "base-1", tmp_path / "recorded")
    store = tmp_path / "store"
    assert rlscope("baseline", "save", "main", recorded, "--store", store).returncode == 0
    shutil.rmtree(recorded)
    assert rlscope("baseline", "list", "--store", store).stdout.startswith("main  1 run ")
    assert "complete" in rlscope("baseline", "show", "main", "--store", store).stdout
    assert differed("main", runs / "new-1", "--store", store)["loop"]["change"] == 0


def test_a_baseline_is_replaced_only_by_force(runs: Path, tmp_path: Path) -> None:
    save = ("baseline", "save", "main", runs / "base-1", "--store", tmp_path)
    assert rlscope(*save).returncode == 0
    assert_states_failure(rlscope(*save), "main", "--force")
    assert rlscope(*save, runs / "base-2", "--force").returncode == 0
    assert rlscope("baseline", "list", "--store", tmp_path).stdout.startswith("main  2 runs")


def test_a_baseline_stays_where_its_replacement_fails(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = str(tmp_path / "store")
    folder = baselines.save("main", [str(runs / "base-1")], store)
    rename = Path.rename

    def fails_at_its_place(path: Path, target: Path) -> Path:
        if target == folder and not path.name.endswith(".replaced"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails_at_its_place)
    with pytest.raises(RlscopeError, match="cannot keep the baseline main"):
        baselines.save("main", [str(runs / "new-1")], store, force=True)
    assert [Path(run).name for run in baselines.runs_of("main", store)] == ["001-base-1"]
    assert [each.name for each in Path(store).iterdir()] == ["main"]


def test_the_name_of_a_baseline_is_no_path(runs: Path, tmp_path: Path) -> None:
    for name in ("../main", ".", "a/b"):
        done = rlscope("baseline", "save", name, runs / "base-1", "--store", tmp_path / "store")
        assert_states_failure(done, "name of a baseline")
    assert not (tmp_path / "main").exists()


def test_what_is_no_run_is_no_baseline(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    done = rlscope("baseline", "save", "main", tmp_path / "notes", "--store", tmp_path)
    assert_states_failure(done, "notes")
    assert rlscope("baseline", "list", "--store", tmp_path).stdout == ""


def test_an_unknown_baseline_is_said_with_those_that_there_are(runs: Path, tmp_path: Path) -> None:
    rlscope("baseline", "save", "main", runs / "base-1", "--store", tmp_path)
    assert_states_failure(rlscope("baseline", "show", "mian", "--store", tmp_path), "main")
    done = rlscope("diff", "mian", runs / "new-1", "--store", tmp_path)
    assert_states_failure(done, "mian", "main")


# ---- the page --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(runs: Path) -> Path:
    """Of a gate that passes, with its cases beside it."""
    path = runs / "diff.html"
    sides = runs / "base-*", runs / "new-*"
    gate = ("--gate", "90%", "--junit", path.with_suffix(".xml"))
    done = rlscope("diff", *sides, "--html", path, *gate)
    assert done.returncode == 0, done.stdout
    assert "The gate passes" in done.stdout
    return path


def test_a_gate_passes_with_a_case_for_each_operation(page: Path) -> None:
    suite = ElementTree.fromstring(page.with_suffix(".xml").read_text())
    assert suite.attrib["failures"] == suite.attrib["skipped"] == "0"
    assert int(suite.attrib["tests"]) == len(suite.findall("testcase")) > 2


def test_the_page_is_small(page: Path) -> None:
    assert page.stat().st_size < MOST_BYTES


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_whole_on_any_screen(
    width: int, scheme: str, report_page: ReportPage, page: Path
) -> None:
    assert report_page.faults(page, width, scheme) == []


@pytest.mark.browser
def test_the_page_has_table_flame_graph_and_both_timelines(
    report_page: ReportPage, page: Path, runs: Path
) -> None:
    report_page.open(page)
    found = differed(runs / "base-*", runs / "new-*")
    names = [row[0] for row in report_page.table("operations", "operations")]
    assert names == [row["name"] for row in found["operations"]]
    assert list(report_page.marks()) == ["base-timeline", "new-timeline"]
    frames = "return document.querySelectorAll('#flame .frame').length"
    assert report_page.driver.execute_script(frames) > 2

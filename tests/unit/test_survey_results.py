"""Results of a survey: kept and read again, the numbers of rows, pages made of them alone."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from survey_runs import EAGER_LABELS, cell, lasting, row, run, simulating, survey

from rlscope.errors import RlscopeError
from rlscope.report.figures import svg
from rlscope.survey import article, files, findings, page, results, runs
from rlscope.survey.pictures import scale_up, shares, times, transitions
from rlscope.survey.results import CellResult, Results
from rlscope.survey.runs import Crossing, Process, Reading, Run

HOSTILE = "</script><script>alert(1)</script>|`<img src=x>`"


def example() -> Results:
    """Cells with numbers, with an error, and without a library."""
    rows = [
        row("simulation", "simulator", 4000, corrected_ns=3000),
        row("inference", "framework", 1000),
        row("sample", "python", 500),
        row("(between operations)", "python", 500),
    ]
    facts = {
        "machine": {"cpu": "a processor", "cores": 2, "memory_bytes": 1 << 30},
        "libraries": {"torch": "2.0"},
        "processes": [Process("trainer", "main", 10, 5, 3)],
        "readings": [Reading("core", "busiest core", 99.0, None, 50.0)],
    }
    good = cell(
        "good",
        [run("good", number, rows, entries=2.5, **facts) for number in (1, 2, 3)],
        experiment="framework algorithm simulator scaleup",
        **EAGER_LABELS,
    )
    failed = cell("failed", [Run("failed", 1, error=HOSTILE)], experiment="own")
    absent = CellResult(failed.cell, (), "x is not installed: pip install x")
    return survey(good, failed, absent)


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    whole = example()
    path = tmp_path / results.RESULTS
    path.write_text(results.to_text(whole))
    again = results.read(path)
    assert results.to_text(again) == results.to_text(whole)
    assert results.table(again) == results.table(whole)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "x"}', '{"format": 1' + "[" * 9999])
def test_a_file_without_results_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(RlscopeError, match="holds no results of a survey"):
        results.read(path)
    with pytest.raises(RlscopeError, match="cannot read"):
        results.read(tmp_path / "not there")


def test_a_row_of_the_csv_is_an_operation_and_layer_of_a_run() -> None:
    lines = list(csv.DictReader(io.StringIO(results.table(example()).to_csv())))
    assert len(lines) == 3 * 4 + 2
    first = lines[0]
    assert (first["cell"], first["repetition"], first["operation"]) == ("good", "1", "simulation")
    assert (first["duration_ns"], first["corrected_ns"]) == ("4000", "3000")
    # Ten iterations of one step each.
    assert float(first["per_iteration_ns"]) == float(first["per_step_ns"]) == 300
    # 6000 ns were recorded, 5000 ns are without what that cost.
    assert float(first["cost_percent"]) == pytest.approx(20)
    assert float(lines[1]["into_layer_per_iteration"]) == 2.5
    assert first["gpu_busy"] == "", "without GPU work there is no zero"
    assert first["gpu_absence"] != ""
    assert (lines[-2]["error"], lines[-1]["error"]) == (
        HOSTILE,
        "x is not installed: pip install x",
    )


def test_stages_are_the_papers() -> None:
    stages = {each.operation: each.stage for each in example().cells[0].runs[0].rows}
    assert stages == {
        "simulation": "simulation",
        "inference": "inference",
        "sample": "learning",
        "(between operations)": "other",
    }


def test_entries_add_up_over_the_layers_of_the_backend() -> None:
    crossings = [
        Crossing("inference", "python", "framework", 2.0),
        Crossing("inference", "framework", "cuda_api", 3.0),
        Crossing("inference", "framework", "python", 50.0),
        Crossing("backprop", "python", "framework", 7.0),
    ]
    made = Run("x", 1, iterations=4, crossings=crossings)
    assert (made.entries("inference"), made.entries(None)) == (5.0, 12.0)
    assert Run("x", 1, crossings=crossings).entries(None) is None


def test_a_run_that_cannot_be_used_is_none(tmp_path: Path) -> None:
    path = tmp_path / "1.json"
    assert runs.read(path) is None
    runs.keep(path, Run("x", 1))
    assert runs.read(path) == Run("x", 1)
    path.write_text(path.read_text().replace("run 1", "run 0"))
    assert runs.read(path) is None
    path.write_text("[")
    assert runs.read(path) is None


def test_pictures_have_the_means_of_the_runs() -> None:
    found = survey(
        simulating("a", [10, 20, 30], experiment="algorithm"),
        simulating("b", [60, 60, 60], experiment="algorithm"),
    )
    picture = shares(found, "algorithm")
    assert list(picture.names) == ["a", "b"]
    assert {part.name: list(part.values) for part in picture.parts} == {
        "simulation": [pytest.approx(20), pytest.approx(60)],
        "learning": [pytest.approx(80), pytest.approx(40)],
    }
    timed = times(survey(lasting("a", [10_000] * 3, {})), "framework")
    assert (list(timed.names), list(timed.ends)) == (["a: inference"], ["1.00 µs a step"])
    (part,) = timed.parts
    assert (part.name, list(part.values)) == ("framework", [pytest.approx(1.0)])
    entered = transitions(survey(lasting("a", [1] * 3, {}, entries=2.0)), "framework")
    assert [list(part.values) for part in entered.parts] == [[2.0]]


def test_scaling_up_has_what_pollers_said_beside_what_was_recorded() -> None:
    readings = [
        Reading("gpu", "GPU 0", 100.0, 0.4, None),
        Reading("core", "busiest core", 99.0, None, 50.0),
        Reading("process", "worker 0", 80.0, 60.0, None),
    ]
    runs_of_cell = [
        run("a", number, [row("x", "python", 9)], readings=readings) for number in (1, 2)
    ]
    picture = scale_up(survey(cell("a", runs_of_cell, experiment="scaleup")))
    values = zip(*(part.values for part in picture.parts), strict=True)
    assert dict(zip(picture.names, values, strict=True)) == {
        "a: GPU 0, polled": (100.0, 0.0),
        "a: GPU 0, GPU work ran": (0.0, 0.4),
        "a: busiest core, polled": (99.0, 0.0),
        "a: all cores, polled": (50.0, 0.0),
        "a: worker 0, polled": (80.0, 0.0),
        "a: worker 0, not waiting": (0.0, 60.0),
    }


def test_a_picture_without_cells_says_why() -> None:
    picture = shares(survey(), "algorithm")
    assert picture.absence == "no cell of algorithm has numbers"


def test_a_figure_is_well_formed_whatever_a_cell_is_called() -> None:
    found = survey(simulating("a", [10, 20, 30], experiment="algorithm"))
    picture = shares(found, "algorithm")
    drawn = svg.bars(HOSTILE, picture.axis, [HOSTILE], picture.parts, picture.ends)
    root = ElementTree.fromstring(drawn)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))


def test_pages_have_every_cell_with_its_error_and_no_code_of_it() -> None:
    whole = example()
    text = page.render(whole, findings.judge_all(whole))
    assert "<script>alert" not in text
    for expected in (
        "good",
        "failed",
        "x is not installed",
        "a processor",
        "needs a GPU",
        "trainer",
    ):
        assert expected in text
    markdown = article.files(whole, findings.judge_all(whole))[article.NAME]
    assert "<img" not in markdown.replace("\\<img", "")


def test_each_figure_and_finding_has_its_command() -> None:
    whole = example()
    text = article.files(whole, findings.judge_all(whole))[article.NAME]
    assert text.count("`rlscope survey") >= 15 + text.count("![")
    assert "--experiment algorithm" in text


def test_what_was_written_is_written_again_alike(tmp_path: Path) -> None:
    files.write_all(tmp_path / "a", example())
    files.write_all(tmp_path / "b", results.read(tmp_path / "a" / results.RESULTS))
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "b").iterdir())
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(RlscopeError, match="cannot write"):
        runs.write(tmp_path / "x" / "y", "")

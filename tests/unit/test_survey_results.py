"""Results of a survey: kept and read again, the numbers of rows, pages made of them alone."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
from support.files.survey_runs import EAGER_LABELS, cell, lasting, row, run, simulating, survey

from rlscope.errors import RlscopeError
from rlscope.report.figures import svg
from rlscope.report.figures.amounts import amount_bars
from rlscope.survey import article, files, findings, page, results, runs, wording
from rlscope.survey.pictures import scale_up, shares, times, transitions
from rlscope.survey.results import CellResult, Results
from rlscope.survey.runs import Crossing, Polled, Process, Reading, Row, Run

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
        "processes": [Process("trainer", "main", 10, 5, 3, Polled(75.0, 8, 6, 7, 1))],
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


def with_workers(training: int | None) -> Run:
    """Ten iterations of a trainer that last 300 ns, beside a worker that is busy for 900."""
    family = [
        Process("trainer", "main", 2000, 300, 1500),
        Process("worker 0", "worker", 2000, 900, 1900, Polled(20.0, 1000, 200, 900, 100)),
    ]
    places: tuple[int | None, int | None] = (None, None) if training is None else (0, 1)
    rows = [
        Row("gather", "wait", None, 300, 300, 300, 300, places[0]),
        Row("inference", "framework", None, 900, 900, 900, 900, places[1]),
    ]
    return run("play", 1, rows, processes=family, training=training, steps=None)


def test_time_of_several_processes_is_that_of_the_training_process() -> None:
    made = with_workers(training=0)
    assert (made.ns, made.share("inference"), made.share("other")) == (300, 0.0, 1.0)
    found = survey(cell("play", [made], experiment="scaleup"))
    row = dict(zip(wording.CELL_COLUMNS, wording.cell_row(found.cells[0]), strict=True))
    assert (row[">time"], row["per"]) == ("30 ns", "iteration")
    assert list(times(found, "scaleup").ends) == ["30 ns an iteration"]
    lines = list(csv.DictReader(io.StringIO(results.table(found).to_csv())))
    told = [(line["process"], line["training"], line["per_iteration_ns"]) for line in lines]
    assert told == [("trainer", "true", "30.0"), ("worker 0", "false", "")]


def test_a_sum_over_processes_is_not_measured() -> None:
    found = survey(cell("play", [with_workers(training=None)], experiment="scaleup"))
    row = dict(zip(wording.CELL_COLUMNS, wording.cell_row(found.cells[0]), strict=True))
    assert row[">time"] == row[">simulation"] == "not measured"
    assert list(times(found, "scaleup").ends) == ["not measured"]


def test_cpu_time_of_a_process_is_that_of_the_time_that_was_polled() -> None:
    """200 of 1000 ns, 20 % by the poller, while it was not waiting for 900; 1900 in its life."""
    found = survey(cell("play", [with_workers(training=0)], experiment="scaleup"))
    _, worker = wording.process_rows(found.cells[0])
    told = dict(zip(wording.PROCESS_COLUMNS, worker, strict=True))
    assert told[">polled for"] == "1.00 µs"
    assert told[">CPU time meanwhile"] == "200 ns"
    assert told[">the poller reports"] == "20.0 %"
    assert told[">not waiting meanwhile"] == "90.0 %"
    assert told[">inference, in the loop"] == "900 ns"


def test_a_process_without_a_loop_of_its_own_has_no_stages() -> None:
    made = with_workers(training=0)
    stepping = Process("env worker 0", "environment worker", 2000, 900, 1900)
    made = replace(made, processes=[*made.processes, stepping])
    found = survey(cell("play", [made], experiment="scaleup"))
    *_, worker = wording.process_rows(found.cells[0])
    assert worker[3:] == ["not measured"] * 4 + ["-"] * 5


def test_no_interval_of_a_time_reaches_below_0() -> None:
    found = survey(lasting("a", [10, 10, 100], {}))
    shown = wording.cell_row(found.cells[0])[wording.CELL_COLUMNS.index(">time")]
    assert shown == "4 ns (0 ns to 17 ns)"


def test_a_chart_has_the_interval_of_each_bar() -> None:
    picture = shares(
        survey(
            simulating("a", [10, 20, 30], experiment="algorithm"),
            simulating("one", [60], experiment="algorithm"),
        ),
        "algorithm",
    )
    first, second = picture.intervals
    assert second is None, "one repetition has no interval"
    assert first == pytest.approx((0.0, 20 + 4.303 * 10 / 3**0.5), rel=1e-3)
    assert picture.of == "simulation" and "95 % intervals of simulation" in picture.axis
    still = svg.bars("t", "x", picture.names, picture.parts, picture.ends, picture.intervals)
    assert len(ElementTree.fromstring(still).findall("{http://www.w3.org/2000/svg}path")) == 1
    drawn = amount_bars(picture.names, picture.parts, picture.ends, picture.axis, picture.intervals)
    assert "95 % interval" in str(drawn)


def test_a_finding_names_the_cells_that_decide_it_and_why() -> None:
    slow = {**EAGER_LABELS, "framework": "TensorFlow"}
    whole = survey(
        lasting("tf", [3000] * 3, slow, entries=6.0),
        lasting("torch", [1000] * 3, EAGER_LABELS, entries=2.0),
        lasting("other", [9000] * 3, {**slow, "environment": "Q"}, entries=9.0),
    )
    text = article.files(whole, findings.judge_all(whole))[article.NAME]
    assert "Holds: the whole interval is above 1." in text
    assert (
        "Decided by tf over torch (3 of 3 repetitions). Time: tf 300 ns a step, torch 100 ns a "
        "step. Largest differences, the first less the second: inference in framework +200 ns"
    ) in text
    assert "Transitions per iteration in inference, learning, other: tf 6.0, torch 2.0." in text


def test_a_recording_cost_has_the_interval_of_its_correction() -> None:
    # Repetitions that agree say nothing of a calibration that is wrong in all of them alike.
    corrected = [row("simulation", "simulator", 3300, corrected_ns=3000)]
    uncertain = [replace(each, corrected_low_ns=2750, corrected_high_ns=3300) for each in corrected]
    column = wording.CELL_COLUMNS.index(">recording cost")

    def said(rows: list[Row]) -> str:
        ran = [run("some", number, rows) for number in (1, 2, 3)]
        return wording.cell_row(cell("some", ran))[column]

    assert said(corrected) == "10.00 % (10.00 % to 10.00 %)"
    assert said(uncertain) == "10.00 % (0.00 % to 20.00 %)"


def test_a_page_says_on_which_device_the_networks_were() -> None:
    whole = example()
    on_gpu = replace(whole, plan=replace(whole.plan, device="cuda"))
    assert any("on cuda" in line for line in wording.conditions(on_gpu))
    assert any("do not say on which" in line for line in wording.conditions(whole))


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
    assert "[results.json](results.json)" in text and "[cells.csv](cells.csv)" in text
    html = page.render(whole, findings.judge_all(whole))
    assert '<a href="results.json">' in html and '<a href="cells.csv">' in html
    assert "--experiment algorithm" in text


def test_the_page_of_a_repository_takes_plotly_and_its_links_from_there() -> None:
    whole = example()
    own = page.render(whole, findings.judge_all(whole))
    kept = files.documents(whole, "some-results.json")[files.PAGE]
    assert kept.count("<script src=") == 1
    (source,) = re.findall(r'<script src="([^"]*)"></script>', kept)
    assert (Path(__file__).parents[2] / "docs" / source).resolve().is_file()
    assert '<a href="some-results.json">' in kept and '<a href="some-cells.csv">' in kept
    assert "beside this page" in own and "beside this page" not in kept
    assert "<script src=" not in own and "'self'" not in own and len(own) > len(kept) + 500_000


def test_a_stage_without_operations_has_no_share() -> None:
    inside = cell("scan", [run("scan", 1, [row("learning", "framework", 100)])])
    shown = dict(zip(wording.CELL_COLUMNS, wording.cell_row(inside), strict=True))
    assert (shown[">simulation"], shown[">learning"]) == ("-", "100.0 %")


def test_an_article_keeps_code_and_takes_all_other_markup_for_text() -> None:
    failed = replace(example().cells[-1], absence="<b> `a*b` and * | `<img>``` ``_``")
    whole = replace(example(), cells=[failed])
    text = article.files(whole, findings.judge_all(whole))[article.NAME]
    escaped = r"\<b\> `a*b` and \* \| \`\<img\>\`\`\` \`\`\_\`\`"
    assert escaped in text


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

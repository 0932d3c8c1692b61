"""Panels: one row per file, every number drawn is a cell of a table, nothing is silently empty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.files.facts import assert_says
from support.files.relation_rows import SECOND, Relations, process, share
from support.files.report_rows import LAYERS, full_run

import rlscope.report.panels
from rlscope import registry
from rlscope.report import layers, palette, panels, views
from rlscope.report.panel import Drawing, Nothing, Panel
from rlscope.report.renderers.terminal import render_summary
from rlscope.table import Table

PANELS = dict(panels.load())


def _draw(name: str, trace: Relations) -> Drawing:
    panel = PANELS[name]
    drawing = panel.draw(panel.read(trace))  # type: ignore[arg-type]
    assert isinstance(drawing, Drawing)
    return drawing


def test_every_file_has_a_row_and_every_row_a_file() -> None:
    folder = Path(rlscope.report.panels.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert files == {
        row.partition(":")[0].rpartition(".")[2]
        for row in registry.builtin(registry.PANELS).values()
    }


@pytest.mark.parametrize("panel", PANELS.values(), ids=PANELS.keys())
def test_a_panel_says_what_it_answers(panel: Panel) -> None:
    assert panel.title
    assert panel.question.endswith("?")


@pytest.mark.parametrize("name", PANELS)
def test_a_full_run_fills_every_panel(name: str) -> None:
    drawing = _draw(name, full_run())
    assert drawing.charts or drawing.grids


@pytest.mark.parametrize("name", [name for name in PANELS if name != "quality"])
def test_a_run_without_anything_is_explained(name: str) -> None:
    panel = PANELS[name]
    nothing = panel.draw(panel.read(Relations()))  # type: ignore[arg-type]
    assert isinstance(nothing, Nothing)
    assert nothing.reason


def test_progress_is_missed_only_while_a_program_runs() -> None:
    panel = PANELS["progress"]
    for ended, is_missed in (("exit", False), ("running", True)):
        trace = Relations(process=[process(0, 0, SECOND), process(1, 0, SECOND, ended=ended)])
        nothing = panel.draw(panel.read(trace))  # type: ignore[arg-type]
        assert isinstance(nothing, Nothing)
        assert bool(nothing.reason) == is_missed


def test_the_command_of_a_forked_process_is_not_repeated() -> None:
    command = {"program": "python train.py"}
    trace = Relations(
        process=[
            process(0, 0, 9, **command),
            process(1, 1, 9, parent_process_id=0, **command),
            process(2, 2, 9, parent_process_id=1, program="python other.py"),
            process(3, 3, 9, parent_process_id=0, program=None),
            process(4, 4, 9, **command),
        ]
    )
    (grid,) = _draw("processes", trace).grids
    programs = ["python train.py", "as its parent", "python other.py", "", "python train.py"]
    assert [row[-1] for row in grid.rows] == programs


def test_an_empty_run_still_has_a_quality() -> None:
    assert "Nothing was lost." in _draw("quality", Relations()).notes


def test_chart_keys_are_unique() -> None:
    keys = [chart.key for name in PANELS for chart in _draw(name, full_run()).charts]
    assert len(keys) == len(set(keys))


def _drawn_ns(figure: dict[str, Any]) -> int:
    return sum(point[0] for trace in figure["data"] for point in trace["customdata"])


@pytest.mark.parametrize(("name", "bars"), [("operations", 1), ("gpu", 2)])
def test_bars_add_up_to_the_breakdown(name: str, bars: int) -> None:
    """The GPU panel has the total as a bar of its own, so it draws the time twice."""
    trace = full_run(operations=40)
    (chart,) = _draw(name, trace).charts
    whole = trace.sql("SELECT CAST(SUM(duration_ns) AS BIGINT) AS ns FROM breakdown")["ns"][0]
    assert _drawn_ns(chart.views[views.ALL]) == bars * whole


def test_what_lies_around_the_loop_has_rows_without_a_share_and_is_not_in_the_chart() -> None:
    trace = Relations(
        process=[process(0, 0, 24)],
        operation=[{"operation_id": 0, "name": "a", "path": "a", "depth": 0}],
        breakdown=[
            share(0, "(none)", "python", 2, stage="start-up"),
            share(0, "import", "python", 5, stage="start-up"),
            share(0, "a", "python", 4, stage="loop"),
            share(0, "(none)", "python", 1, stage="loop"),
            share(0, "compilation", "python", 4, stage="warm-up"),
            share(0, "setup/a", "python", 3, stage="warm-up"),
            share(0, "saving/a", "python", 2, stage="end"),
            share(0, "saving", "python", 1, stage="end"),
            share(0, "(not recorded)", "none", 7, stage="end"),
        ],
    )
    drawing = _draw("operations", trace)
    (chart,) = drawing.charts
    assert list(chart.views) == [views.ALL]
    labels = [each["text"] for each in chart.views[views.ALL]["layout"]["annotations"]]
    assert labels == ["4 ns · 80.0 %", "1 ns · 20.0 %"]
    assert "of the training loop" in str(chart.views[views.ALL])
    assert [row[:3] for row in drawing.grids[0].rows] == [
        ["a", "4 ns", "80.0 %"],
        ["(between operations)", "1 ns", "20.0 %"],
        ["(start-up)", "7 ns", ""],
        ["    import", "5 ns", ""],
        ["(warm-up)", "7 ns", ""],
        ["    compilation", "4 ns", ""],
        ["    setup", "3 ns", ""],
        ["(end)", "3 ns", ""],
        ["    saving", "3 ns", ""],
        ["(not recorded)", "7 ns", ""],
    ]


def _found(automatic_ns: int) -> Relations:
    found = {"operation_id": 1, "name": "s", "path": "s", "depth": 0, "source": "automatic"}
    own = {"operation_id": 0, "name": "a", "path": "a", "depth": 0, "source": "explicit"}
    return Relations(
        process=[process(0, 0, 100)],
        operation=[own, found],
        breakdown=[
            share(0, "a", "python", 100 - automatic_ns, source="explicit"),
            share(0, "s", "python", automatic_ns, source="automatic"),
        ],
    )


def test_the_table_of_found_operations_is_folded_and_one_of_no_weight_in_no_sentence() -> None:
    for automatic_ns, shown in ((2, False), (20, True)):
        trace = _found(automatic_ns)
        grid = _draw("operations", trace).grids[1]
        assert (grid.title, grid.open) == ("Found automatically: 1 operation", False)
        text = render_summary(trace, width=120, unicode=True)  # type: ignore[arg-type]
        assert ("found by itself: s." in text) is shown


@pytest.mark.parametrize(("idle_ns", "title"), [(None, "What the loop does"), (3, "")])
def test_a_loop_without_a_gpu_is_never_called_idle(idle_ns: int | None, title: str) -> None:
    row = {"process_id": 0, "stage": "loop", "operation": "a", "source": "explicit"}
    times = {"layer": "python", "reason": "python", "duration_ns": 9}
    busy = None if idle_ns is None else False
    trace = Relations(
        process=[process(0, 0, 9)],
        breakdown=[share(0, "a", "python", 9)],
        idle=[{**row, **times, "gpu_busy": busy}],
        gpu_time=[] if idle_ns is None else [{"process_id": 0}],
    )
    drawing = _draw("idle", trace)
    assert drawing.title == title
    assert bool(drawing.question) is bool(title)


def _why_no_gpu(**absent: str) -> dict[str, str]:
    """What the two panels of the GPU say where they draw nothing."""
    rows = [{"relation": name, "column_name": "*", "reason": why} for name, why in absent.items()]
    trace = Relations(process=[process(0, 0, 4)], breakdown=[share(0, "a", "none", 4)], absent=rows)
    drawn = {n: PANELS[n].draw(PANELS[n].read(trace)) for n in ("gpu", "cuda")}  # type: ignore[arg-type]
    return {name: each.reason for name, each in drawn.items() if isinstance(each, Nothing)}


def test_without_a_gpu_one_line_says_so() -> None:
    reasons = _why_no_gpu(kernel="no kernel was recorded", api_call="there is no CUDA driver")
    assert reasons == {"gpu": "", "cuda": "there is no CUDA driver."}


def test_why_there_is_no_gpu_work_is_said_only_when_there_is_none() -> None:
    assert _why_no_gpu(kernel="nobody looked")["gpu"] == "nobody looked."
    worked = Relations(
        process=[process(0, 0, 4)], breakdown=[share(0, "a", "none", 4, gpu_busy=True)]
    )
    assert _draw("gpu", worked).charts


def test_a_single_role_has_no_chart() -> None:
    assert _draw("processes", full_run(processes=2)).charts
    assert not _draw("processes", full_run(processes=1)).charts


def test_helpers_are_one_sentence_of_the_page() -> None:
    trace = Relations(
        process=[
            process(0, 0, 100, name="train.py", role="main"),
            process(1, 0, 90, parent_process_id=0, name="bash", role="helper", cpu_ns=5),
        ],
        breakdown=[share(0, "a", "python", 100)],
    )
    drawing = _draw("processes", trace)
    (helpers,) = drawing.notes[1:]
    assert_says(helpers, "1 helper process", "5 ns", "bash")
    assert [row[:2] for row in drawing.grids[0].rows] == [["train.py", "main"]]
    assert not drawing.charts


def test_values_of_the_program_and_options_are_words_and_no_json() -> None:
    trace = Relations(
        run=[
            {
                "start_ns": 0,
                "end_ns": 1,
                "options": '{"force": true, "iterations": 5, "name": "", "simulator": ["a", "b"]}',
            }
        ],
        process=[process(0, 0, 1, name="p")],
        metadata=[
            {"process_id": 0, "key": "net", "value": '{"sizes": [64, 2], "act": "tanh"}'},
            {"process_id": 0, "key": "seed", "value": "1"},
            {"process_id": 0, "key": "note", "value": '"a [b]"'},
            {"process_id": 0, "key": "resumed", "value": "false"},
        ],
    )
    facts, metadata = _draw("run", trace).grids
    assert ["options", "force, iterations 5, simulator a, b"] in facts.rows
    assert [row[1:] for row in metadata.rows] == [
        ["net", "sizes (64, 2), act tanh"],
        ["note", "a [b]"],
        ["resumed", "no"],
        ["seed", "1"],
    ]


def test_roles_add_up_to_the_breakdown() -> None:
    trace = full_run()
    (chart,) = _draw("processes", trace).charts
    whole = trace.sql("SELECT CAST(SUM(duration_ns) AS BIGINT) AS ns FROM breakdown")["ns"][0]
    assert _drawn_ns(chart.views["roles"]) == whole


def test_one_process_needs_no_choice() -> None:
    for name in ("operations", "gpu"):
        (chart,) = _draw(name, full_run(processes=1)).charts
        assert list(chart.views) == [views.ALL]


def test_images_of_one_pid_have_names_of_their_own() -> None:
    table = Table({"process_id": [0, 1], "name": ["sh", "sh"], "os_pid": [7, 7]})
    assert views.labels(table) == {0: "sh (pid 7) #0", 1: "sh (pid 7) #1"}


def test_every_layer_has_a_colour_of_its_own() -> None:
    assert len(set(palette.LAYERS.values())) == len(palette.LAYERS)
    assert set(palette.LAYER_MEANING) == set(palette.LAYERS)
    assert set(palette.STATE_MEANING) == set(palette.STATES)


def test_an_unknown_layer_is_drawn_last() -> None:
    order = layers.ordered([("tpu", False), ("none", True), ("python", False)])
    assert order == [("python", False), ("none", True), ("tpu", False)]


def test_waits_lie_between_the_layers_that_work_and_no_layer() -> None:
    assert tuple(palette.LAYERS) == LAYERS
    order = layers.ordered([("none", False), ("wait", False), ("cuda_api", False)])
    assert order == [("cuda_api", False), ("wait", False), ("none", False)]


def test_every_state_has_a_colour_of_its_own_and_waiting_that_of_the_layer() -> None:
    assert len(set(palette.STATES.values())) == len(palette.STATES)
    assert palette.STATES["waiting"] == palette.LAYERS["wait"]


def test_a_line_of_one_reading_is_a_point() -> None:
    (chart,) = _draw("machine", full_run(samples=1)).charts
    (figure,) = chart.views.values()
    assert "markers" in {each["mode"] for each in figure["data"]}
    (chart,) = _draw("machine", full_run(samples=2)).charts
    (figure,) = chart.views.values()
    assert "markers" not in {each["mode"] for each in figure["data"]}


def test_the_flame_graph_says_which_calls_have_no_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlscope.report.limits.FRAMES", 20)
    drawing = _draw("flame", full_run(stacks=60))
    facts = ("2 processes", "below 0.1 %", "all but the 20 largest", "smaller calls")
    assert_says(drawing.notes[0], *facts)
    (flame,) = drawing.flames
    assert "(smaller calls)" in [frame.name for frame in flame.frames[20:]]


def test_the_lines_of_eight_gpus_have_different_colours() -> None:
    trace = Relations(
        run=[{"start_ns": 0, "end_ns": 4}],
        process=[process(0, 0, 4)],
        machine_sample=[
            {"host_id": 0, "start_ns": at, "metric": f"gpu{gpu}_memory_bytes", "value": 1.0}
            for gpu in range(8)
            for at in (1, SECOND)
        ],
    )
    (chart,) = _draw("machine", trace).charts
    assert len({line["line"]["color"] for line in chart.views["machine"]["data"]}) == 8


def _sampled_gpu(*, busy: bool) -> Relations:
    sample = {"host_id": 0, "start_ns": SECOND, "metric": "gpu0_percent", "value": 100.0}
    cpu = {**sample, "metric": "cpu_percent"}
    bucket = {"process_id": 0, "level": 0, "start_ns": 0, "bucket_ns": 4, "operation": "a"}
    later = 2 * SECOND
    return Relations(
        run=[{"start_ns": 0, "end_ns": 4}],
        process=[process(0, 0, 4)],
        breakdown=[share(0, "a", "none", 4, gpu_busy=busy)],
        timeline=[{**bucket, "layer": "none", "gpu_busy": busy, "duration_ns": 1}],
        machine_sample=[each | {"start_ns": at} for each in (sample, cpu) for at in (1, later)],
    )


def _lines(trace: Relations) -> list[str]:
    (chart,) = _draw("machine", trace).charts
    return [line["name"] for line in chart.views["machine"]["data"]]


def test_utilisation_stands_beside_busy_time() -> None:
    assert _lines(_sampled_gpu(busy=True)) == ["cpu: machine", "busy: p0", "gpu0: machine"]


def test_utilisation_without_busy_time_is_not_drawn() -> None:
    trace = _sampled_gpu(busy=False)
    assert _lines(trace) == ["cpu: machine"]
    assert "alone it misleads" in _draw("machine", trace).notes[-1]


def test_a_run_that_ends_before_a_sample_has_an_axis_of_its_length() -> None:
    length_ns = 4_000_000
    share_of_time = {"operation": "a", "layer": "none", "gpu_busy": True, "duration_ns": length_ns}
    bucket = {"process_id": 0, "level": 0, "start_ns": length_ns, "bucket_ns": length_ns}
    trace = Relations(
        run=[{"start_ns": 0, "end_ns": 2 * length_ns}],
        process=[process(0, 0, 2 * length_ns)],
        breakdown=[share(0, "a", "none", length_ns, gpu_busy=True)],
        timeline=[
            {**bucket, **share_of_time},
            {**bucket, **share_of_time, "start_ns": 2 * length_ns},
        ],
    )
    (chart,) = _draw("machine", trace).charts
    assert "(ms)" in str(chart.views["machine"]["layout"])


def test_a_gap_between_windows_has_its_own_area() -> None:
    bucket = {"process_id": 0, "level": 0, "bucket_ns": 4, "layer": "none", "duration_ns": 4}
    trace = Relations(
        run=[{"start_ns": 0, "end_ns": 8}],
        process=[process(0, 0, 8)],
        timeline=[
            {**bucket, "start_ns": 0, "operation": "a"},
            {**bucket, "start_ns": 4, "operation": "(not recorded)"},
        ],
    )
    (chart,) = _draw("timeline", trace).charts
    names = [line.get("name") for line in next(iter(chart.views.values()))["data"]]
    assert names == ["no layer", "(not recorded)", None]


def test_a_program_that_never_changed_has_no_picture_of_one_colour() -> None:
    bucket = {"process_id": 0, "level": 0, "bucket_ns": 4, "layer": "none", "duration_ns": 4}
    trace = Relations(
        run=[{"start_ns": 0, "end_ns": 8}],
        process=[process(0, 0, 8)],
        breakdown=[share(0, "(none)", "none", 8)],
        timeline=[{**bucket, "start_ns": at, "operation": "(none)"} for at in (0, 4)],
        machine_sample=[{"host_id": 0, "start_ns": 1, "metric": "cpu_percent", "value": 5.0}],
    )
    for name in ("timeline", "machine"):
        assert isinstance(PANELS[name].draw(PANELS[name].read(trace)), Nothing)  # type: ignore[arg-type]
    drawing = _draw("operations", trace)
    assert not drawing.charts
    assert drawing.grids

"""The terminal's screen: fits its width, needs no Unicode, says the same as the tables."""

from __future__ import annotations

import pytest
from support.files.facts import assert_says
from support.files.relation_rows import SECOND, Relations, process, share
from support.files.report_rows import full_run

from rlscope.report.renderers import terminal


def _summary(trace: Relations, width: int = 100, *, unicode: bool = True) -> str:
    return terminal.render_summary(trace, width=width, unicode=unicode)  # type: ignore[arg-type]


def _small_run() -> Relations:
    return Relations(
        run=[{"command": "python train.py", "name": "ppo", "start_ns": 0, "end_ns": 11 * SECOND}],
        process=[process(0, 0, 11 * SECOND, name="trainer", events=12, cpu_ns=SECOND)],
        operation=[
            {"operation_id": 0, "name": "update", "path": "update", "depth": 0},
            {
                "operation_id": 1,
                "parent_operation_id": 0,
                "name": "backprop",
                "path": "update/backprop",
                "depth": 1,
            },
        ],
        breakdown=[
            share(0, "update", "python", 2 * SECOND),
            share(0, "update/backprop", "framework", 5 * SECOND),
            share(0, "(none)", "none", 1 * SECOND),
            share(0, "(none)", "none", 0.5 * SECOND, stage="start-up"),
            share(0, "import", "none", 1.5 * SECOND, stage="start-up"),
            share(0, "(not recorded)", "none", SECOND),
        ],
    )


def test_a_run_on_one_screen() -> None:
    assert (
        _summary(_small_run())
        == """\
11.0 s · 1 process · 12 events · python train.py
Learning takes 87.5 % of the training loop: 7.00 s of 8.00 s.

operation                          total   share     own  python  framework  no layer
update                ██████████  7.00 s  87.5 %  2.00 s  2.00 s
  backprop            ████████    5.00 s  62.5 %  5.00 s             5.00 s
(between operations)  ██          1.00 s  12.5 %  1.00 s                       1.00 s
(start-up)                        2.00 s          500 ms                       500 ms
  import                          1.50 s          1.50 s                       1.50 s
(not recorded)                    1.00 s          1.00 s                       1.00 s

Learning by operation: update/backprop 62.5 %, update 25.0 %.
Next: between operations 12.5 %.
Outside the training loop: start-up 2.00 s (import 1.50 s, before the first step 500 ms).
Nothing was lost.
"""
    )


def test_waits_have_a_column_where_there_is_any() -> None:
    trace = Relations(
        process=[process(0, 0, 8 * SECOND)],
        operation=[{"operation_id": 0, "name": "simulation", "path": "simulation", "depth": 0}],
        breakdown=[
            share(0, "simulation", "wait", 6 * SECOND),
            share(0, "simulation", "python", 2 * SECOND),
        ],
    )
    text = _summary(trace, 140)
    assert_says(text.splitlines()[1], "100.0 %", "8.00 s of 8.00 s", "6.00 s", "waiting")
    head, row = (line.split() for line in text.splitlines()[3:5])
    assert head == ["operation", "total", "share", "python", "wait"]
    assert row[-4:] == ["2.00", "s", "6.00", "s"]
    assert "wait" not in _summary(_small_run())


def test_a_narrow_terminal_keeps_the_layers_with_the_most_time_and_names_the_others() -> None:
    times = {"python": 1, "simulator": 30, "framework": 20, "wait": 2}
    trace = Relations(
        process=[process(0, 0, 53 * SECOND)],
        operation=[{"operation_id": 0, "name": "simulation", "path": "simulation", "depth": 0}],
        breakdown=[share(0, "simulation", name, s * SECOND) for name, s in times.items()],
    )
    lines = _summary(trace, 66).splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("operation "))
    assert lines[place].split()[-2:] == ["simulator", "framework"]
    assert_says(lines[place + 2], "columns", "python", "wait")
    assert "columns" not in _summary(trace, 120)


def test_what_the_table_of_processes_leaves_out_is_said() -> None:
    workers = [
        process(n, n, 99 - n, parent_process_id=8, name=f"w {n}", role="worker")
        for n in range(1, 8)
    ]
    trace = Relations(
        process=[
            process(0, 0, 100, name="train.py", role="main"),
            *workers,
            process(
                8, 1, 99, parent_process_id=0, name="fork server", role="helper", cpu_ns=SECOND
            ),
        ],
        breakdown=[share(n, "update", "python", 10) for n in range(8)],
    )
    lines = _summary(trace).splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("process "))
    assert [line[:8].rstrip() for line in lines[place + 1 : place + 5]] == [
        "train.py", "  w 1", "  w 2", "  w 3",
    ]  # fmt: skip
    shorter, helpers = lines[place + 5 : place + 7]
    assert_says(shorter, "4", "shorter processes", "`process`")
    assert_says(helpers, "1 helper process", "1.00 s", "fork server")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("name", ["trainer", "模拟环境步骤" * 9, "x" * 300, "a\nb\tc\x1b[31m"])
def test_no_line_is_wider_than_the_terminal(width: int, name: str) -> None:
    text = _summary(full_run(name=name, operations=30, processes=9, stacks=20), width)
    assert max(terminal.cells(line) for line in text.splitlines()) <= width


def test_a_run_with_everything_fits_a_screen() -> None:
    run = full_run(operations=40, processes=16, stacks=6, file_lines=20)
    lines = _summary(run, 120).splitlines()
    assert len(lines) <= 50


def test_without_unicode_every_character_is_ascii() -> None:
    text = _summary(full_run(name="模拟"), unicode=False)
    assert text.isascii()
    assert "\\u6a21" in text
    assert "####" in text


def test_a_name_cannot_send_control_characters_to_the_terminal() -> None:
    text = _summary(full_run(name="\x1b[2Jclear"))
    assert "\x1b" not in text


def test_an_empty_trace_is_said() -> None:
    assert "Nothing was recorded." in _summary(Relations())


def test_a_cluster_whose_workers_are_not_recorded_is_said() -> None:
    note = {"process_id": 0, "key": "rlscope.ray", "value": '{"cluster": "not recorded"}'}
    trace = Relations(process=[process(0, 0, SECOND, name="train.py")], metadata=[note])
    text = " ".join(_summary(trace).split())
    assert "! train.py connected to a Ray cluster that was running already." in text
    taken_back = {**note, "value": "{}"}
    trace = Relations(process=[process(0, 0, SECOND)], metadata=[taken_back])
    assert "cluster" not in _summary(trace)

"""Advice on a process that asks again and again whether something is ready."""

from __future__ import annotations

from typing import Any

import pytest
from support.files.loop_rows import FILE, LOOP_NS, Time, found_by, loop_rows
from support.files.relation_rows import SECOND, Relations, process

TEXT = "while not results.full():\n    pass\n\ntrain()\n"
ASKED = {"process_id": 1, "file": FILE, "line": 1, "is_own": True, "stage": "whole"}


def asking(
    *, text: str = TEXT, process_id: int = 1, asked_ns: int = 4 * SECOND, **more: Any
) -> Relations:
    """Process 1 asks for 4 s, of which it has a CPU for half. The loop lacks one for 3 of 10 s,
    and process 2 for 1 s."""
    time = {"own_ns": asked_ns, "own_low_ns": asked_ns, "own_high_ns": asked_ns}
    asked = {**ASKED, "operation": "(none)", "layer": "python", **time, "process_id": process_id}
    return loop_rows(
        Time("update", "python", LOOP_NS, 4),
        text=text,
        process=[process(n, 0, LOOP_NS, host_id=0, name=f"p {n}") for n in (0, 1, 2)],
        thread=[
            {"process_id": n, "thread_id": n, "measured_ns": LOOP_NS}
            | {"running_ns": running * SECOND, "runnable_ns": lacked * SECOND}
            for n, running, lacked in ((0, 7, 3), (1, 5, 5), (2, 9, 1))
        ],
        source_line=[{**asked, **more}],
    )


def test_the_loop_gets_its_part_of_the_cpu_that_asking_has():
    (finding,) = found_by("polling", asking())
    assert (finding.file, finding.line) == (FILE, 1)
    assert "p 1" in finding.title
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(2 / 4 * 3 * SECOND)


def test_the_loop_gets_no_more_than_it_lacks():
    (finding,) = found_by("polling", asking(asked_ns=12 * SECOND))
    assert finding.price is not None
    assert (finding.price.saving_ns, finding.price.high_ns) == (3 * SECOND, 3 * SECOND)


@pytest.mark.parametrize(
    "more",
    [
        {"process_id": 0},  # the loop itself
        {"asked_ns": SECOND // 3},
        {"text": TEXT.replace("pass", "sleep(1)")},
        {"operation": "import"},
        {"layer": "wait"},
        {"is_own": False},
    ],
)
def test_nothing_else_asks(more: dict[str, Any]):
    assert found_by("polling", asking(**more)) == []

"""Advice on an environment that takes most of the loop."""

from __future__ import annotations

from typing import Any

import pytest
from support.files.relation_rows import SECOND, Relations, process, share

from rlscope.analysis.critical_loop import critical_loop
from rlscope.analysis.finding import Finding
from rlscope.analysis.findings import environment_bound

ITERATIONS = 10


def trace(
    step_ns: int, *, layer: str = "python", steps: int = 10, cores: int | None = 4
) -> Relations:
    """Iterations of 1 s, of which so many steps take so long each."""
    work_ns = step_ns * steps
    common = {"process_id": 0, "iteration_source": "explicit", "complete": True}
    times = (("simulation", layer, work_ns), ("update", "framework", SECOND - work_ns))
    return Relations(
        run=[{"start_ns": 0, "end_ns": ITERATIONS * SECOND}],
        host=[{"host_id": 0, "cores": cores}],
        process=[process(0, 0, ITERATIONS * SECOND, host_id=0)],
        breakdown=[
            share(0, name, of, ITERATIONS * ns, source="automatic") for name, of, ns in times
        ],
        operation=[{"operation_id": 0, "path": "simulation", "source": "automatic"}],
        operation_instance=[
            {"process_id": 0, "operation_id": 0, "iteration": place // steps}
            for place in range(ITERATIONS * steps)
        ],
        iteration=[
            {
                "process_id": 0,
                "iteration": place,
                "start_ns": place * SECOND,
                "duration_ns": SECOND,
                "complete": True,
                "source": "explicit",
            }
            for place in range(ITERATIONS)
        ],
        iteration_breakdown=[
            {**common, "iteration": place, "operation": name, "layer": of, "duration_ns": ns}
            for place in range(ITERATIONS)
            for name, of, ns in times
        ],
        source_line=[
            {
                "process_id": 0,
                "file": "/me/env.py",
                "line": line,
                "is_own": True,
                "stage": "loop",
                "operation": "simulation",
                "layer": layer,
                "own_ns": own_ns,
            }
            for line, own_ns in ((7, SECOND), (9, 5 * SECOND))
        ],
    )


def found(rows: Relations) -> list[Finding]:
    loop = critical_loop(rows)
    assert loop is not None
    return [*environment_bound.RULE.find(rows, loop)]


def test_cores_share_the_work_and_each_step_costs_messages():
    (finding,) = found(trace(80_000_000))
    price = finding.price
    assert price is not None
    # 8 s of work by 4 workers, without 100 steps of 150 us.
    assert price.saving_ns == pytest.approx(6 * SECOND - 100 * 150_000)
    assert price.low_ns == pytest.approx(6 * SECOND - 100 * 300_000)
    assert price.high_ns == pytest.approx(6 * SECOND)
    assert (finding.file, finding.line) == ("/me/env.py", 9)


@pytest.mark.parametrize(
    "silent",
    [
        {"step_ns": 40_000_000},  # less than half of the loop
        {"step_ns": 80_000_000, "layer": "wait"},  # workers step already
        {"step_ns": 80_000_000, "cores": 1},  # nobody would share the work
        {"step_ns": 80_000_000, "cores": None},
        {"step_ns": 180_000, "steps": 5000},  # messages cost as much as they win
    ],
)
def test_it_is_silent_where_workers_would_win_nothing(silent: dict[str, Any]):
    assert found(trace(**silent)) == []

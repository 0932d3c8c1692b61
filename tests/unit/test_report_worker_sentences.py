"""Workers in words: what they did while their process waited, and which one is late."""

from __future__ import annotations

from typing import Any

import pytest
from support.files.facts import assert_says
from support.files.headlines import LOOP, read, texts
from support.files.relation_rows import Relations, process, share


def test_workers_count_where_no_other_process_has_a_loop() -> None:
    trace = Relations(
        process=[process(0, 0, 10), process(1, 0, 90, role="environment worker")],
        breakdown=[share(0, "(none)", "none", 10), share(1, "simulation", "python", 90)],
    )
    assert_says(read(trace).sentence, "Simulation", f"100.0 % {LOOP}", "90 ns of 90 ns")


def _pickling() -> list[dict[str, Any]]:
    rows = (
        (0, "simulation", "pickle:loads", 8),
        (0, "simulation", "pickle:Pickler.dump", 4),
        (1, "(none)", "pickle:loads", 9),
        (2, "(none)", "pickle:loads", 5),
    )
    names = ("process_id", "operation", "function", "duration_ns")
    return [{**dict(zip(names, row, strict=True)), "layer": "python"} for row in rows]


def _vector(
    late_ns: int,
    begins_ns: int = 0,
    pickles: bool = True,
    first_ns: int = 10,
    worker: str = "env worker",
    **more: Any,
) -> Relations:
    """Two steps of 100 ns: worker 1 steps from 20 to 30 ns of it, worker 2 from 25 ns, or so much
    later, for 5 ns and so much more."""
    starts = (0, 200)
    return Relations(
        process=[
            process(0, 0, 400, name="train.py", role="main", host_id=0),
            process(1, 0, 400, name=f"{worker} 0", role="environment worker"),
            process(2, 0, 400, name=f"{worker} 1", role="environment worker"),
        ],
        operation=[
            {"operation_id": 0, "name": "simulation", "path": "simulation", "depth": 0},
        ],
        operation_instance=[
            {
                "process_id": p,
                "operation_id": 0,
                "iteration": i if p == 0 else None,
                "start_ns": start + at,
                "duration_ns": ns,
            }
            for i, start in enumerate(starts)
            for p, at, ns in ((0, 0, 100), (1, 20, first_ns), (2, 25 + begins_ns, 5 + late_ns))
        ],
        iteration=[
            {
                "process_id": 0,
                "iteration": i,
                "start_ns": start,
                "duration_ns": ns,
                "complete": True,
                "source": "automatic",
            }
            for i, (start, ns) in enumerate(zip(starts, (110, 200), strict=True))
        ],
        breakdown=[
            share(0, "simulation", "wait", 200),
            share(1, "simulation", "python", 20),
            share(1, "(none)", "python", 60),
            share(2, "simulation", "python", 10 + 2 * late_ns),
        ],
        wait=[
            {
                "process_id": 0,
                "operation": "simulation",
                "kind": "pipe",
                "peer_process_id": p,
                "self_ns": 100,
            }
            for p in (1, 2)
        ],
        native_call=_pickling() if pickles else [],
        **more,
    )


def test_a_vector_of_environments_says_what_its_workers_did_meanwhile() -> None:
    assert_says(
        read(_vector(20)).sentence,
        *("completed only 2 iterations", "155 ns", "20", "3.10 µs"),
        *("Simulation", f"100.0 % {LOOP}", "200 ns of 200 ns"),
        *("200 ns", "waiting", "mostly for 2 environment workers"),
    )
    steps, straggler = texts(_vector(20), warning=False)[1:3]
    stepped = ("train.py", "200 ns", "simulation", "60 ns", "30.0 %", "at least one of its 2")
    less = ("2 workers step", "70 ns", "130 ns less")
    assert_says(steps, *stepped, "pickling (train.py 12 ns, each worker up to 9 ns)", *less)
    unknown = texts(_vector(20, pickles=False), warning=False)[1]
    assert_says(unknown, *stepped, "pickling, pipes", *less)
    slow = ("env worker 1", "straggler", "50 ns", "20 ns")
    assert_says(straggler, *slow, "30 ns to 80 ns less", "2 workers share the cores")
    none = texts(_vector(2), warning=False)[2]
    assert_says(none, "no worker is a straggler", "20 ns", "14 ns")
    begins_later = texts(_vector(2, begins_ns=50), warning=False)[2]
    late = ("100.0 %", "2 steps", "104 ns after")
    assert_says(begins_later, "env worker 1", *late, "begins later")
    assert "straggler" not in begins_later


def test_of_workers_of_a_pool_no_steps_are_counted() -> None:
    """Their tasks are more than steps."""
    said = " ".join(texts(_vector(20, worker="pool worker"), warning=False))
    assert "workers step" not in said
    assert "straggler" not in said


def test_what_a_straggler_costs_depends_on_the_cores() -> None:
    """Worker 0 steps from 20 to 60 ns, and worker 1 for one nanosecond after that."""

    def said(cores: int | None) -> str:
        trace = _vector(-4, begins_ns=40, first_ns=40, host=[{"host_id": 0, "cores": cores}])
        return texts(trace, warning=False)[2]

    slow = ("env worker 0", "straggler", "80 ns", "2 ns")
    assert_says(said(2), *slow, "0 ns to 118 ns less", "2 workers share 2 cores")
    assert_says(said(None), *slow, "0 ns to 118 ns less", "2 workers share the cores")
    assert_says(said(3), *slow, "0 ns less")


def test_rolled_up_steps_are_in_no_sentence() -> None:
    """Records of one worker were kept from 150 ns on, after the first step."""
    loss = [{"process_id": 1, "kind": "rolled_up", "count": 2, "duration_ns": 150}]
    sentences = texts(_vector(20, loss=loss), warning=False)
    assert_says(
        sentences[1],
        *("train.py", "100 ns", "1 instance of simulation", "kept", "30 ns", "30.0 %"),
        *("at least one of its 2 environment workers", "pickling, pipes"),
        *("2 workers step", "35 ns", "65 ns less"),
    )


def _iterations(*waited_ns: int) -> list[dict[str, Any]]:
    """Rows of `iteration_breakdown`: how long simulation waits in each."""
    return [
        {
            "process_id": 0,
            "iteration": iteration,
            "iteration_source": "automatic",
            "complete": True,
            "operation": "simulation",
            "layer": "wait",
            "duration_ns": ns,
        }
        for iteration, ns in enumerate(waited_ns)
    ]


@pytest.mark.parametrize(
    ("waited_ns", "facts"),
    [
        ((56, 101), ("train.py waits", "2 environment workers", "each of its 2 iterations")),
        ((56, 100), ("train.py waits", "2 environment workers", "1 of its 2 iterations", "1")),
        ((55, 0), ("train.py", "own work", "each of its 2 iterations")),
    ],
)
def test_most_of_an_iteration_is_waiting_or_own_work(
    waited_ns: tuple[int, ...], facts: tuple[str, ...]
) -> None:
    """One iteration takes 110 ns, and one 200 ns."""
    said = texts(_vector(20, iteration_breakdown=_iterations(*waited_ns)), warning=False)
    assert_says(said[3], *facts)
    own_work = texts(_vector(20, iteration_breakdown=_iterations(20, 0)), warning=False)
    assert not any("iteration" in text for text in own_work)

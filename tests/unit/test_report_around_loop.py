"""Time around the training loop in words: start-up and end."""

from __future__ import annotations

import pytest
from support.files.facts import assert_says
from support.files.headlines import LOOP, read, texts
from support.files.relation_rows import Relations, process, share

from rlscope.report import loop_sentences, shares


def test_what_lies_outside_the_loop_is_one_sentence_with_its_own_numbers() -> None:
    trace = Relations(
        process=[process(0, 0, 1040)],
        breakdown=[
            share(0, "(none)", "none", 200, stage="start-up"),
            share(0, "import", "python", 300, stage="start-up"),
            share(0, "evaluation/simulation", "python", 95, stage="start-up"),
            share(0, "evaluation", "python", 2, stage="start-up"),
            share(0, "compilation", "python", 3, stage="start-up"),
            share(0, "simulation", "python", 20),
            share(0, "compilation", "python", 20, stage="warm-up"),
            share(0, "setup/a", "python", 10, stage="warm-up"),
            share(0, "(none)", "python", 390, stage="end"),
        ],
    )
    assert_says(read(trace).sentence, "Simulation", f"100.0 % {LOOP}", "20 ns of 20 ns")
    assert_says(
        texts(trace, warning=False)[-1],
        *("outside", "start-up 600 ns", "import 300 ns", "before the first step 200 ns"),
        *("evaluation 97 ns", "warm-up 30 ns", "compilation 20 ns", "setup 10 ns", "end 390 ns"),
    )


def _ending(*layers: tuple[str, int], python_end_ns: int | None) -> Relations:
    """A loop up to 500 ns, and an end of these layers up to 1,000 ns."""
    return Relations(
        process=[process(0, 0, 1000, python_end_ns=python_end_ns)],
        breakdown=[
            share(0, "simulation", "python", 500),
            share(0, "saving", "python", 20, stage="end"),
            *(share(0, "(none)", layer, ns, stage="end") for layer, ns in layers),
        ],
    )


@pytest.mark.parametrize(
    ("none_ns", "python_end_ns", "said"),
    [
        (400, 600, ("shutdown", "400 ns", "50 ns", "saving 20 ns")),
        (400, 700, ("shutdown", "300 ns", "150 ns", "saving 20 ns")),
        (300, 400, ("shutdown", "300 ns", "150 ns", "saving 20 ns")),
        (400, None, ("450 ns", "saving 20 ns")),
        (400, 1100, ("450 ns", "saving 20 ns")),
        (0, 600, ("450 ns", "saving 20 ns")),
    ],
)
def test_the_end_tells_the_shutdown_from_what_the_program_still_does(
    none_ns: int, python_end_ns: int | None, said: tuple[str, ...]
) -> None:
    """Nothing of Python after its exit functions, and only time in no layer."""
    layers = [("python", 450 - none_ns), *([("none", none_ns)] if none_ns else [])]
    text = texts(_ending(*layers, python_end_ns=python_end_ns), warning=False)[-1]
    assert_says(text, "end 470 ns", *said)


def test_start_up_that_waits_says_so() -> None:
    """As for a dataset that is fetched, or for processes that start."""
    trace = Relations(
        process=[process(0, 0, 1000)],
        breakdown=[
            share(0, "(none)", "wait", 200, stage="start-up"),
            share(0, "import", "python", 300, stage="start-up"),
            share(0, "import", "wait", 100, stage="start-up"),
            share(0, "simulation", "python", 10),
            share(0, "(none)", "python", 380, stage="end"),
            share(0, "(none)", "wait", 10, stage="end"),
        ],
    )
    assert_says(
        texts(trace, warning=False)[-1],
        *("start-up 600 ns", "300 ns", "waiting", "import 400 ns", "before the first step 200 ns"),
        "end 390 ns",
    )


def test_a_stage_says_what_it_waited_for() -> None:
    rows = [
        {"stage": stage, "operation": None, "duration_ns": 40, "stage_ns": 40}
        | {"stage_waited_ns": 30}
        for stage in ("start-up", "end")
    ]
    of_none = {"role": None, "family": None, "name": None, "last_name": None, "peers": None}
    waited = [
        {"stage": "start-up", "operation": "import", "kind": "disk", "share": 1.0} | of_none,
        {"stage": "start-up", "operation": None, "kind": "sleep", "share": 0.6} | of_none,
        {"stage": "end", "operation": None, "kind": "gil", "share": 0.5} | of_none,
    ]
    (said,) = loop_sentences.around(rows, waited, {"looping_processes": 1})
    start_up = ("start-up 40 ns", "30 ns of that waiting, mostly for a timer (sleep or timeout)")
    assert_says(said, *start_up, "end 40 ns", "30 ns of that waiting")
    assert "GIL" not in said and "disk" not in said


def test_start_up_of_several_processes_is_called_a_sum() -> None:
    rows = [
        {"stage": "start-up", "operation": None, "duration_ns": 40, "stage_ns": 40}
        | {"stage_waited_ns": 0}
    ]
    (one,) = loop_sentences.around(rows, [], {"looping_processes": 1})
    (several,) = loop_sentences.around(rows, [], {"looping_processes": 3})
    assert "together" not in one
    assert_says(several, "3 processes together", "start-up 40 ns")
    facts = {"startup_ns": 40, "warmup_ns": 0, "end_ns": 0, "not_recorded_ns": 0}
    (left_out,) = shares.left_out({**facts, "looping_processes": 3})
    assert_says(left_out, "40 ns", "added up over 3 processes")

"""The differential flame graph: a call has the colour of its own change, in usual times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng
from support.files.compared_runs import OPERATIONS, measured

from rlscope.analysis import difference_verdicts
from rlscope.compare import comparison, flames
from rlscope.compare.measured import Measured
from rlscope.report.panel import Flame

Own = Mapping[str, float]
"""Call, with its callers before it ("main/step") -> its own time of the run in ms."""
SLOWER = ("much slower", "slower")


def run(own: Own, *, file: str = "/base/train.py", text: tuple[str, ...] = ()) -> Measured:
    """A run with such stacks. All of it is in `inference`."""
    made = measured(default_rng(1), slower=1.0, long_part=0.0)
    paths = list(dict.fromkeys(
        "/".join(path.split("/")[:end])
        for path in own for end in range(1, 1 + path.count("/") + 1)
    ))  # fmt: skip
    frames = [
        {
            "frame": number,
            "caller_frame": paths.index(path.rpartition("/")[0]) + 1 if "/" in path else None,
            "function": path.rpartition("/")[2],
            "file": file,
        }
        for number, path in enumerate(paths, 1)
    ]
    return replace(
        made,
        frames=frames,
        frame_parts=[part(paths.index(path) + 1, ms) for path, ms in own.items()],
        sources={file: text} if text else {},
    )


def part(frame: int, ms: float, operation: str = "inference") -> dict[str, Any]:
    return {
        "frame": frame, "is_known": True, "is_small": False, "operation": operation,
        "layer": "python", "self_ns": round(ms * 1e6),
    }  # fmt: skip


def flame(base: Measured, *new: Measured) -> Flame:
    found = comparison.compare([base], new)
    drawn = flames.differential(found.sides, found.sources)
    assert drawn is not None
    return drawn


def colours(drawn: Flame) -> dict[str, str]:
    """Of each function, and of all time."""
    assert drawn.colours is not None
    names = ["all", *(frame.name.partition(" ")[0] for frame in drawn.frames)]
    return {name: drawn.layers[place][0] for name, place in zip(names, drawn.colours, strict=True)}


def totals(drawn: Flame, measure: int) -> list[int]:
    """As the page adds them up."""
    found = [0] * len(drawn.frames)
    for frame, _, _, *times in drawn.parts:
        at: int | None = frame
        while at is not None:
            found[at] += times[measure]
            at = drawn.frames[at].caller
    return found


def test_a_caller_has_the_colour_of_its_own_change_and_not_of_what_most_calls_did() -> None:
    base = run({"main": 10, "main/sample": 400, "main/step": 300, "main/net": 290})
    new = run({"main": 10, "main/sample": 20, "main/step": 340, "main/net": 330})
    found = colours(flame(base, new))
    assert found == {
        "all": "much faster", "main": "much faster", "sample": "much faster",
        "step": "slower", "net": "slower",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("new_ms", "name"),
    [
        (200, "much slower"), (110, "slower"), (104, "about the same"), (96, "about the same"),
        (90, "faster"), (50, "much faster"), (0, "much faster"),
    ],
)  # fmt: skip
def test_a_colour_says_how_much_its_call_changed(new_ms: float, name: str) -> None:
    found = colours(
        flame(run({"main": 100, "main/call": 100}), run({"main": 100, "main/call": new_ms}))
    )
    assert found["call"] == name


def test_no_call_that_became_faster_is_red() -> None:
    generator = default_rng(2)
    for _ in range(50):
        paths = ["a", "a/b", "a/b/c", "a/d", "e", "e/f"]
        base, new = (
            run({path: float(generator.integers(0, 30)) for path in paths}) for _ in range(2)
        )
        if not all(each.frame_parts for each in (base, new)):
            continue
        drawn = flame(base, new)
        assert drawn.colours is not None
        times = list(zip(totals(drawn, 1), totals(drawn, 0), drawn.colours[1:], strict=True))
        for before, after, colour in times:
            is_red = drawn.layers[colour][0] in SLOWER
            assert is_red == (after > before * (1 + difference_verdicts.SAME_SHARE))


def test_what_disturbed_an_operation_is_no_time_of_its_calls() -> None:
    """A new run was disturbed: its mean is twice what it usually takes."""
    base = run({"main": 100})
    state = ("inference", "python")
    series = np.array(base.series[state])
    series[::4] *= 5
    disturbed = replace(
        run({"main": 200}),
        series={**base.series, state: series},
        states={**base.states, state: int(series.sum())},
    )
    assert series.mean() == pytest.approx(2 * np.mean(base.series[state]), rel=0.02)
    drawn = flame(base, run({"main": 100}), disturbed)
    assert colours(drawn) == {"all": "about the same", "main": "about the same"}


def test_the_calls_add_up_to_the_loop_of_the_page() -> None:
    """The loop has a ninth iteration, which is not complete."""
    made = run({"main": 1})
    made = replace(made, states={state: 9 * ns // 8 for state, ns in made.states.items()})
    ns = {name: made.states[name, "python"] for name in OPERATIONS}
    parts = [part(1, ns[name] / 1e6, name) for name in OPERATIONS]
    whole = replace(made, frame_parts=parts)
    found = comparison.compare([whole], [whole])
    drawn = flames.differential(found.sides, found.sources)
    assert drawn is not None
    assert totals(drawn, 0)[0] == pytest.approx(found.loop.new, rel=1e-6)


def test_calls_of_a_renamed_file_are_the_same_calls() -> None:
    text = ("import torch", "def main():", "    step()")
    drawn = flame(run({"main": 100}, text=text), run({"main": 100}, file="/new/fast.py", text=text))
    assert colours(drawn) == {"all": "about the same", "main": "about the same"}


def test_without_stacks_there_is_no_graph() -> None:
    base = measured(default_rng(1), slower=1.0, long_part=0.0)
    found = comparison.compare([base], [base])
    assert flames.differential(found.sides, found.sources) is None

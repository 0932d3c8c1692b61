"""Advice on loops that write single numbers into tensors."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, calls, found_by, loop_rows
from support.files.relation_rows import SECOND

WRITES = "torch._C:TensorBase.__setitem__"


def writing(text: str, function: str = WRITES, written_ns: int = 2 * SECOND):
    return loop_rows(
        Time("inference", "framework", 3 * SECOND, 2),
        text=text,
        native_call=[calls("inference", function, 9000, written_ns)],
        entries={"inference": 1000},
    )


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("for c in self.coins:\n    g[0][c] = 1\n", True),
        ("for place, value in enumerate(values):\n    g[place] += float(value)\n", True),
        ("while coins:\n    g[coins] = 1\n", False),
        ("if coins:\n    g[coins] = 1\n", False),  # all at once
        ("for t in range(64):\n    rewards[t] = env.step(act(t))\n", False),  # a rollout
        ("for c in coins:\n    g = c\n", False),
    ],
)
def test_a_loop_that_only_fills_a_tensor(text: str, speaks: bool):
    found = found_by("tensor_items", writing(text))
    assert [(each.file, each.line) for each in found] == [(FILE, 2)] * speaks
    for each in found:
        assert each.price is not None
        assert each.price.saving_ns == pytest.approx(0.85 * 3 * SECOND)


@pytest.mark.parametrize(
    ("function", "written_ns"), [(WRITES, SECOND), ("torch._C:TensorBase.add_", 2 * SECOND)]
)
def test_a_loop_that_mostly_does_something_else_is_none(function: str, written_ns: int):
    """It may fill a list of Python, or an array of NumPy."""
    text = "for c in self.coins:\n    g[0][c] = 1\n"
    assert found_by("tensor_items", writing(text, function, written_ns)) == []

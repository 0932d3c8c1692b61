"""Advice on tensors that are made of lists."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, calls, found, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis.findings import nested_lists

STATES = "states = []\nfor step in range(9):\n    states.append(env.step(0))\n\n"


def lists(text: str, count: int = 2000):
    return loop_rows(
        Time("inference", "framework", 3 * SECOND, 5),
        text=STATES + text + "\n",
        native_call=[calls("inference", "torch:tensor", count, 2 * SECOND)],
    )


@pytest.mark.parametrize(
    "text",
    [
        "batch = torch.tensor(states)",
        "batch = torch.tensor([state.values for state in states])",
        "batch = torch.FloatTensor(list(states))",
        "batch = torch.tensor(rows)\nrows, ends = states, []",
        "batch = torch.as_tensor(states,\n    dtype=torch.float32)",
        "rows, ends = zip(*states); batch = torch.tensor(rows)",
    ],
)
def test_tensors_of_long_lists_are_named(text: str):
    (finding,) = found(nested_lists.RULE, lists(text))
    assert (finding.file, finding.line, finding.operation) == (FILE, 5, "inference")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.7 * 2 * SECOND)


def test_all_such_tensors_of_a_loop_are_one_finding():
    """Those of an operation without long lists do not count."""
    trace = loop_rows(
        Time("inference", "framework", 2 * SECOND, 5),
        Time("backprop", "framework", 3 * SECOND, 6),
        Time("advantage", "framework", SECOND, 5),
        text=STATES + "batch = torch.tensor(states)\nbatch = torch.tensor(states)\n",
        native_call=[
            calls("inference", "torch:tensor", 1000, 2 * SECOND),
            calls("backprop", "torch:tensor", 1000, 3 * SECOND),
            calls("advantage", "torch:tensor", 1_000_000, SECOND),
        ],
    )
    (finding,) = found(nested_lists.RULE, trace)
    assert finding.line == 6
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.7 * 5 * SECOND)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("batch = torch.tensor(states)", 100_000),  # a few numbers each
        ("batch = torch.tensor(np.array(states))", 2000),
        ("batch = torch.tensor(batch)", 2000),  # nobody knows of what
        ("batch = torch.tensor(rows)\nrows = np.stack(states)", 2000),
        ("states = np.array(states)\nbatch = torch.tensor(states)", 2000),
    ],
)
def test_other_tensors_are_not(text: str, count: int):
    assert found(nested_lists.RULE, lists(text, count)) == []

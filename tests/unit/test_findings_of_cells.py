"""Advice on recurrent cells and layers that learning steps through sequences."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, calls, found_by, loop_rows
from support.files.relation_rows import SECOND

TORCH = "/lib/python3/site-packages/torch"
CELL = (f"{TORCH}/nn/modules/rnn.py", "LSTMCell.forward")
UNROLL = "for x in xs:\n    h, c = cell(x, (h, c))\nh, c = cell(x, (h, c))\n"


LAYER = (f"{TORCH}/nn/modules/rnn.py", "LSTM.forward")


def stepping(each_ns: int, inside=CELL, text: str = UNROLL, calls_made: int = 10_000):
    name = "torch:lstm_cell" if inside is CELL else "torch:lstm"
    return loop_rows(
        Time("backprop", "framework", 2 * SECOND, 2, (inside,)),
        Time("backprop", "framework", 4 * SECOND, 5),
        text=text,
        native_call=[calls("backprop", name, calls_made, calls_made * each_ns)],
        entries={"backprop": 100},
    )


@pytest.mark.parametrize(
    ("line", "calls_made", "speaks"),
    [
        ("y, h = lstm(x[None], h)", 10_000, True),
        ("y, h = lstm(x[None], h)", 100, False),  # a sequence each
        ("y, h = lstm(x[None], (1 - over) * h)", 10_000, False),  # episodes end
        ("y, h = lstm(policy(y), h)", 10_000, False),  # it imagines what comes next
    ],
)
def test_a_layer_that_is_given_single_steps_could_be_given_all(line, calls_made, speaks):
    text = UNROLL.replace("h, c = cell(x, (h, c))", line)
    found_there = found_by("stepped_cells", stepping(70_000, LAYER, text, calls_made))
    assert [each.line for each in found_there] == [2] * speaks
    for each in found_there:
        assert each.price is not None
        assert each.price.saving_ns == pytest.approx(0.7 * 3 * 2 * SECOND)


def test_a_large_cell_is_no_quicker_with_the_whole_sequence():
    assert found_by("stepped_cells", stepping(400_000)) == []


def test_a_cell_that_is_stepped_through_a_sequence_is_named_with_its_backward():
    (finding,) = found_by("stepped_cells", stepping(70_000))
    assert (finding.file, finding.line, finding.operation) == (FILE, 2, "backprop")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.7 * 3 * 2 * SECOND)


@pytest.mark.parametrize(("operation", "line"), [("inference", 2), ("backprop", 3)])
def test_a_single_step_of_a_cell_is_no_sequence(operation, line):
    time = Time(operation, "framework", 2 * SECOND, line, (CELL,))
    assert found_by("stepped_cells", loop_rows(time, text=UNROLL)) == []

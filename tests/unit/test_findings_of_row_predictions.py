"""Advice on models of scikit-learn that are asked for one row after the other."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, found_by, loop_rows
from support.files.relation_rows import SECOND, Relations

PREDICT = ("/lib/sklearn/ensemble/_forest.py", "ForestRegressor.predict")
TEXT = """\
def values(model, state):
    return model.predict(state).max()

goals = [values(model, state[None]) for state in states]
"""


def asking(text: str = TEXT, steps_ns: int = 0) -> Relations:
    """3 s, of which 2 s are in the model."""
    return loop_rows(
        Time("backprop", "python", 2 * SECOND, 4, ((FILE, "values"), PREDICT)),
        Time("backprop", "python", SECOND, 4, ((FILE, "values"),)),
        Time("simulation", "python", steps_ns, 4),
        text=text,
    )


def test_a_model_that_is_asked_row_by_row_is_named_at_the_loop():
    (finding,) = found_by("row_predictions", asking())
    assert (finding.file, finding.line, finding.operation) == (FILE, 4, "backprop")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.95 * 3 * SECOND)


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("[values(model, state[None]) for state in states]", "values(model, states)"),
        TEXT.replace("state[None])", "start)"),
        TEXT.replace("goals = [", "goal = [goal := ").replace("state[None])", "goal)"),
    ],
)
def test_calls_that_are_one_or_need_each_other_are_none(text: str):
    assert found_by("row_predictions", asking(text)) == []


def test_a_loop_that_steps_an_environment_is_none():
    assert found_by("row_predictions", asking(steps_ns=5 * SECOND)) == []

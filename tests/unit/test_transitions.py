"""Which results of a step look like an environment's, where no policy tells."""

from __future__ import annotations

import numpy
import pytest

from rlscope.auto.own_environments import is_transition

SEEN = [0.0, 1.0]


@pytest.mark.parametrize(
    "result",
    [
        (SEEN, 1.0, False),
        (SEEN, 1, True, {}),
        (3, numpy.float32(1), numpy.bool_(False), False, {}),
        (SEEN, [1.0, 2.0], [False, True]),
        (SEEN, numpy.zeros(2), numpy.zeros(2, bool), {}),
        (-1, False),
        (SEEN, -1.0),
        (numpy.zeros(2), numpy.float64(1)),
        ((0, 3), 0.0),
        (numpy.zeros((3, 4)), numpy.zeros(3)),
    ],
)
def test_transitions(result: object) -> None:
    assert is_transition(result)


@pytest.mark.parametrize(
    "result",
    [
        None,
        SEEN,
        (SEEN,),
        (SEEN, 1.0, 2.0),
        (SEEN, "loss", False),
        (SEEN, 1.0, False, False, {}, 0),
        (1.0, 2.0),
        ("loss", 1.0),
        (SEEN, SEEN),
        (SEEN, None),
        ({}, 1.0),
        (numpy.zeros((3, 4)), numpy.zeros((3, 4))),  # as the state of an LSTM
        (numpy.zeros(3), numpy.zeros(3)),
        (numpy.zeros((3, 4)), numpy.zeros(2)),
        (numpy.zeros((3, 4)), [0.0] * 3),
    ],
)
def test_what_else_a_step_returns(result: object) -> None:
    assert not is_transition(result)

"""A sentence passes when its facts are right, however it is worded; and only then."""

from __future__ import annotations

import pytest
from support.files.facts import assert_says

TEXT = "The learner waited 60 ns (12.5 %) for env worker 1, and 1,200 times in all."


@pytest.mark.parametrize(
    "facts",
    [
        ("60 ns", "12.5 %", "env worker 1", "1,200"),
        ("the learner", "wait", "60 ns (12.5 %)", "env worker 1", "1,200 times"),
    ],
)
def test_right_facts(facts: tuple[str, ...]) -> None:
    assert_says(TEXT, *facts)


@pytest.mark.parametrize(
    "facts",
    [
        ("61 ns", "12.5 %", "env worker 1", "1,200"),  # another number
        ("0 ns", "12.5 %", "env worker 1", "1,200"),  # a part of one
        ("60 ns", "12.5 %", "worker 2", "1,200"),
        ("60 n", "12.5 %", "env worker 1", "1,200"),  # a part of its unit
        ("60 ns", "12.5 %", "env worker 1"),  # one that nobody expected
        ("12.5 %", "60 ns", "env worker 1", "1,200"),  # another order
        ("60 ns", "12.5 %", "env worker 1", "200"),
        ("60 ns", "12.5 %", "env worker 1", "1,200", "lost"),
        ("60 ns", "5 %", "env worker 1", "1,200"),
    ],
)
def test_wrong_facts(facts: tuple[str, ...]) -> None:
    with pytest.raises(AssertionError):
        assert_says(TEXT, *facts)

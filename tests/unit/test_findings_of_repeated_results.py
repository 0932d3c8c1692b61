"""Advice on what functions of one step compute several times."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, found_by, loop_rows
from support.files.relation_rows import SECOND

SWARM = """\
class Swarm:
    def far(self):
        return [abs(a - b) for a in self.places for b in self.places]

    def seen(self):
        return sum(self.far())

    def reward(self):
        return {reward}

    def step(self, action):
        {moves}
        {returns}
"""
PARTS = {
    "reward": "-max(self.far())",
    "moves": "self.places[0] += action",
    "returns": "return self.seen(), self.reward(), min(self.far()) < 1",
}


def swarm(**parts: str):
    text = SWARM
    for name, part in (PARTS | parts).items():
        text = text.replace(f"{{{name}}}", part)
    lines = (6, 9, 13)
    return loop_rows(*(Time("simulation", "python", SECOND, line) for line in lines), text=text)


def test_a_method_that_each_part_of_a_step_asks_is_computed_once_too_often_but_one():
    (finding,) = found_by("repeated_results", swarm())
    assert (finding.file, finding.line) == (FILE, 6)
    assert "3 times" in finding.title
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(2 * SECOND)


@pytest.mark.parametrize(
    ("parts", "times"),
    [
        ({"reward": "0"}, 2),
        ({"reward": "self.last"}, 2),
        # Something changes in between, or may.
        ({"returns": "seen = self.seen(); self.places = seen; r = self.reward()"}, 0),
        ({"returns": "seen = self.seen(); self.places.sort(); r = self.reward()"}, 0),
        ({"returns": "seen = self.seen(); move(self.places); r = self.reward()"}, 0),
        ({"returns": "seen = self.seen(); self.age = seen; r = self.reward()"}, 2),
        ({"returns": "seen = self.seen(); print(self.places); r = self.reward()"}, 2),
        # Somebody may keep its results.
        ({"moves": "pass\nSwarm.far = keep(Swarm.far)\nclass More(Swarm):"}, 0),
        # It need not be computed twice.
        ({"returns": "return self.seen() if action else self.reward()"}, 0),
        ({"returns": "return action or self.seen() or self.reward()"}, 0),
        ({"returns": "return [self.seen() for _ in action], self.reward()"}, 0),
        # Another one in between is not pure.
        (
            {"reward": "random.choice(self.far())", "returns": "return self.seen(), self.reward()"},
            0,
        ),
    ],
)
def test_only_what_is_surely_computed_again_counts(parts, times):
    found = found_by("repeated_results", swarm(**parts))
    assert [f"{times} times" in each.title for each in found] == [True] * (times > 1)


@pytest.mark.parametrize(("decorator", "speaks"), [("cached", False), ("staticmethod", True)])
def test_what_decorates_a_function_may_keep_its_results(decorator: str, speaks: bool):
    text = SCORES.replace("def score", f"@{decorator}\ndef score").replace("{between}", "pass")
    times = [Time("(none)", "python", 3 * SECOND, line) for line in (6, 8)]
    assert bool(found_by("repeated_results", loop_rows(*times, text=text))) == speaks


SCORES = """\
def score(board, me):
    return sum(board[place] == me for place in range(9))

def play(board, me):
    best = score(board, me)
    {between}
    return best, score(board, me)
"""


@pytest.mark.parametrize(
    ("between", "speaks"),
    [("pass", True), ("board[0] = me", False), ("me = -me", False), ("if me: return 1", True)],
)
def test_lines_that_call_with_the_same_variables(between, speaks):
    trace = loop_rows(
        Time("(none)", "python", 2 * SECOND, 5),
        Time("(none)", "python", 3 * SECOND, 7),
        text=SCORES.replace("{between}", between),
    )
    found = found_by("repeated_results", trace)
    assert [each.line for each in found] == [7] * speaks
    for each in found:
        assert each.price is not None
        assert each.price.saving_ns == pytest.approx(2.5 * SECOND)

"""Advice on what a function computes again, though nothing changed since its last call."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, found_by, loop_rows
from support.files.relation_rows import SECOND

MAZE = """\
class Maze:
    def build(self):
        self.free = grid()
        self.table = self.distances()

    def distances(self):
        found, todo = {self.goal: 0}, deque([self.goal])
        while todo:
            place = todo.popleft()
            for near in around(place):
                if self.free[near] and near not in found:
                    found[near] = found[place] + 1
                    todo.append(near)
        return found

    def left(self):
        return self.distances()[self.place]

    def step(self, action):
        before = self.left()
        {moves}
        return before - self.left()

def around(place):
    return [(place[0] + 1, place[1]), (place[0], place[1] + 1)]
"""


@pytest.mark.parametrize(
    ("moves", "speaks"),
    [
        ("self.place = action", True),
        ("self.free[action] = False", False),
        ("free = self.free; free[action] = False", False),
        ("self.free.clear()", False),
        ("self.goal = action", False),
        ("self.build()", False),
        ("self.free[0][1] = False", False),
        ("close(self.free, action)", False),
        ("random.shuffle(self.free)", False),
        ("del self.free", False),
    ],
)
def test_a_method_of_what_no_step_changes(moves, speaks):
    trace = loop_rows(
        Time("simulation", "python", 3 * SECOND, 17),
        Time("simulation", "python", SECOND, 21),
        text=MAZE.replace("{moves}", moves),
    )
    found = found_by("kept_results", trace)
    assert [(each.file, each.line) for each in found] == [(FILE, 17)] * speaks
    for each in found:
        assert each.price is not None
        assert each.price.saving_ns == pytest.approx(0.85 * 3 * SECOND)


def test_a_method_that_draws_gives_something_else_each_time():
    text = MAZE.replace("{self.goal: 0}", "{random.choice(self.goals): 0}")
    trace = loop_rows(Time("simulation", "python", 3 * SECOND, 17), text=text)
    assert found_by("kept_results", trace) == []


def test_what_only_the_constructor_computes_is_computed_once():
    text = MAZE.replace("return self.distances()[self.place]", "return self.table[self.place]")
    trace = loop_rows(Time("(none)", "python", 3 * SECOND, 4), text=text)
    assert found_by("kept_results", trace) == []


WALLS = """\
GOAL = (9, 9)
SEEN = set()

class Maze:
    def near(self, place):
        for move in ((0, 1), (1, 0)):
            if (place[0] + move[0], place[1] + move[1]) not in self.walls:
                yield place[0] + move[0], place[1] + move[1]

    def search(self, start):
        found, todo = {start: 0}, deque([start])
        while todo:
            place = todo.popleft()
            for near in self.near(place):
                found[near] = found[place] + 1
        return found

    def step(self, action):
        {moves}
        return {search}[self.place]

class Wrapper:
    def step(self, action):
        {wraps}
        return self.maze.step(action)

def find(walls, start):
    return {place: {body} for place in walls}
"""


@pytest.mark.parametrize(
    ("more", "speaks"),
    [
        ({}, True),
        ({"search": "find(self.walls, GOAL)"}, True),
        ({"search": "find(self.walls, SEEN)", "moves": "SEEN.add(action)"}, False),
        ({"search": "find(self.walls, GOAL)", "body": "place in SEEN"}, True),
        ({"search": "find(self.walls, GOAL)", "body": "SEEN", "moves": "SEEN.add(1)"}, False),
        ({"search": "self.search(action)"}, False),
        ({"search": "self.near(GOAL)"}, False),
        ({"search": "find(self.walls, self.place)", "moves": "self.place = action"}, False),
        ({"moves": "self.walls.add(action)"}, False),
        ({"wraps": "self.maze.walls.add(action)"}, False),
        ({"wraps": "self.maze.age.add(action)"}, True),
    ],
)
def test_a_function_that_is_given_what_stays_and_its_generators(more, speaks):
    parts = {"search": "self.search(GOAL)", "moves": "pass", "wraps": "pass", "body": "1"} | more
    text = WALLS
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    times = [Time("simulation", "python", 3 * SECOND, 20), Time("simulation", "python", SECOND, 25)]
    found = found_by("kept_results", loop_rows(*times, text=text))
    assert [each.line for each in found] == [20] * speaks


FISHER = """\
def fisher(policy, obs):
    params = list(policy.parameters())
    def product(v):
        {line}
        return grad(g @ v, params)
    {use}
"""
GRADIENT = "g = grad(divergence(policy, obs), params)"


@pytest.mark.parametrize(
    ("line", "use", "speaks"),
    [
        (GRADIENT, "return product", True),
        (GRADIENT, "step = conjugate_gradient(product, obs)", True),
        (GRADIENT, "step = jax.grad(product)(obs)", False),  # once
        ("g = grad(divergence(policy, v), params)", "return product", False),
        ("g = grad(loss(policy, random.choice(obs)), params)", "return product", False),
        ("g = policy(obs); g.backward()", "return product", False),  # weights change
        ("g = params", "return product", False),
    ],
)
def test_what_a_function_in_another_one_computes_of_its_variables_alone(line, use, speaks):
    text = FISHER.replace("{line}", line).replace("{use}", use)
    trace = loop_rows(Time("backprop", "framework", 3 * SECOND, 4), text=text)
    assert [each.line for each in found_by("kept_results", trace)] == [4] * speaks

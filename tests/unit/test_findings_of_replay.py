"""Advice on batches that Python draws out of the replay memory."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, found, found_by, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis.findings import python_replay

SAMPLE = ("/lib/python3.11/random.py", "Random.sample")


def replay(stepped_ns: int, rest_ns: int, entries: int = 1000):
    return loop_rows(
        Time("replay", "python", stepped_ns, 3, (SAMPLE,)),
        Time("replay", "python", rest_ns, 8),
        entries={"replay": entries},
    )


def test_replay_that_python_steps_through_is_named_without_what_indexing_costs():
    (finding,) = found(python_replay.RULE, replay(3 * SECOND, SECOND))
    assert (finding.line, finding.operation) == (3, "replay")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(4 * SECOND - 1000 * 20_000)


def test_a_data_loader_that_collates_rows_goes_through_them_one_by_one():
    collate = ("/lib/torch/utils/data/_utils/collate.py", "default_collate")
    trace = loop_rows(
        Time("replay", "framework", 4 * SECOND, 3, (collate,)), entries={"replay": 1000}
    )
    (finding,) = found(python_replay.RULE, trace)
    assert finding.line == 3


def test_the_loop_that_asks_for_batches_is_not_what_draws_them():
    text = (
        "def sample(self, rows):\n    return self.states[rows]\n"
        "for step in range(9):\n    env.step(0)\n    batch = memory.sample(rows)\n"
    )
    state = {"process_id": 0, "stage": "loop", "layer": "python", "readings": 100}
    whole, ends = 4 * SECOND, {"own_low_ns": 3 * SECOND, "own_high_ns": 5 * SECOND}
    inner = {**ends, "line": 2, "own_ns": whole, "total_ns": whole, "operation": "replay"}
    outer = {"line": 5, "own_ns": 0, "total_ns": whole, "operation": "replay"}
    step = {"line": 4, "own_ns": whole, "total_ns": whole, "operation": "simulation", **ends}
    trace = loop_rows(
        Time("replay", "python", whole, 2),
        Time("simulation", "python", whole, 4),
        entries={"replay": 1000},
        text=text,
        source_line=[
            {**state, **row, "file": FILE, "is_own": True} for row in (inner, outer, step)
        ],
    )
    assert found(python_replay.RULE, trace) == []


@pytest.mark.parametrize(
    ("down", "is_tree"), [("2 * node + 1", True), ("node >> 1", True), ("node - 1", False)]
)
def test_a_tree_that_python_goes_down_for_each_transition_is_named(down: str, is_tree: bool):
    """Going down for all of the batch at once costs an entry more than indexing does."""
    text = (
        f"def get(self, node):\n    return self.get({down})\ndef sample(self):\n"
        "    for each in range(8):\n        found.append(self.get(each))\n"
    )
    state = {"process_id": 0, "stage": "loop", "operation": "replay", "layer": "python"}
    whole, ends = 4 * SECOND, {"own_low_ns": 3 * SECOND, "own_high_ns": 5 * SECOND}
    inner = {**state, **ends, "line": 2, "own_ns": whole, "total_ns": whole, "readings": 100}
    outer = {**state, "line": 5, "own_ns": 0, "total_ns": whole, "readings": 100}
    trace = loop_rows(
        Time("replay", "python", whole, 2),
        entries={"replay": 1000},
        text=text,
        source_line=[{**row, "file": FILE, "is_own": True} for row in (inner, outer)],
    )
    (finding,) = found(python_replay.RULE, trace)
    assert (finding.line, finding.operation) == (2, "replay")
    assert ("level by level" in finding.fix) == is_tree
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(4 * SECOND - 1000 * 150_000)


def test_a_tree_is_named_where_another_line_is_hotter_than_each_of_its_own():
    text = (
        "def get(self, node):\n    if low: return self.get(2 * node + 1)\n"
        "    return self.get(2 * node + 2)\ndef sample(self):\n"
        "    for each in range(8): found.append(self.get(each))\n    return stack(found)\n"
    )
    state = {"process_id": 0, "stage": "loop", "operation": "replay", "layer": "python"}
    state |= {"file": FILE, "is_own": True, "readings": 100}
    times = {2: (3, 3), 3: (3, 3), 5: (0, 6), 6: (4, 4)}  # own and total
    trace = loop_rows(
        Time("replay", "python", 4 * SECOND, 6),
        entries={"replay": 1000},
        text=text,
        source_line=[
            {**state, "line": line, "total_ns": total * SECOND // 2}
            | dict.fromkeys(("own_ns", "own_low_ns", "own_high_ns"), own * SECOND // 2)
            for line, (own, total) in times.items()
        ],
    )
    (finding,) = found(python_replay.RULE, trace)
    assert finding.line == 2
    assert "level by level" in finding.fix


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("return np.array([each.reward for each in drawn])", [3]),
        ("return [memory[place] for place in places]", [3]),
        ("return [np.array(field) for field in zip(*drawn)]", [3]),
        ("return [column[rows] for column in columns]", []),  # all rows at once
        ("return memory[rows]", []),
        ("return [torch.from_numpy(memory[name][rows]) for name in 'sarn']", []),
        ("return {name: memory[name][rows] for name in memory}", []),
        ("return {name: tensor(column) for name, column in columns.items()}", []),
        ("return [memory[place][field] for place in places]", [3]),
        ("return sorted(drawn, key=lambda each: each.priority)", [3]),
        ("return rng.choice(drawn, 32, p=chances)", [3]),
    ],
)
def test_a_comprehension_goes_through_transitions_one_by_one(line: str, lines: list[int]):
    trace = loop_rows(
        Time("replay", "python", 3 * SECOND, 3),
        Time("replay", "python", 2 * SECOND, 8),
        entries={"replay": 1000},
        text=f"import numpy as np\ndef draw(drawn):\n    {line}\n",
    )
    assert [each.line for each in found(python_replay.RULE, trace)] == lines


@pytest.mark.parametrize(
    ("how", "is_shuffled"),
    [
        ("np.random.choice(n, 32, replace=False)", True),
        ("np.random.choice(n, 32, replace=True)", False),
        ("np.random.choice(n, 32)", False),
        ("torch.randperm(n)[:32]", True),
    ],
)
def test_a_batch_without_repetition_shuffles_all_rows(how: str, is_shuffled: bool):
    trace = loop_rows(
        Time("replay", "python", 3 * SECOND, 2),
        entries={"replay": 1000},
        text=f"def draw(n):\n    return fields[{how}]\n",
    )
    (finding,) = found(python_replay.RULE, trace)
    assert ("randint" in finding.fix) == is_shuffled
    assert finding.price is not None
    each_ns = 5_000 if is_shuffled else 20_000
    assert finding.price.saving_ns == pytest.approx(3 * SECOND - 1000 * each_ns)


@pytest.mark.parametrize(
    ("entries", "won_s"),
    [(10_000, 0.55 * 3), (1000, 3 - 0.15)],  # a tree wins most of a large memory
)
@pytest.mark.parametrize("how", ["n, 32, p=w", "n, size=32, p=w, replace=False"])
def test_sums_of_priorities_that_are_kept_cost_something_too(how: str, entries: int, won_s: float):
    trace = loop_rows(
        Time("replay", "python", 3 * SECOND, 2),
        entries={"replay": entries},
        text=f"def draw(n, w):\n    return np.random.choice({how})\n",
    )
    (finding,) = found(python_replay.RULE, trace)
    assert "searchsorted" in finding.fix
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(won_s * SECOND)


def test_replay_that_copies_large_rows_is_not():
    assert found(python_replay.RULE, replay(SECOND // 2, 3 * SECOND)) == []


def test_copies_of_objects_have_a_rule_of_their_own():
    copy = ("/lib/python3.11/copy.py", "deepcopy")
    trace = loop_rows(
        Time("replay", "python", 2 * SECOND, 3, (copy,)),
        Time("replay", "python", 3 * SECOND, 3),
        entries={"replay": 1000},
        text="import numpy as np\ndef draw(drawn):\n    return [copy(each) for each in drawn]\n",
    )
    (finding,) = found(python_replay.RULE, trace)
    assert "30.0 %" in finding.title


def test_brief_replay_wins_nothing():
    (finding,) = found(python_replay.RULE, replay(SECOND, SECOND, entries=100_000))
    assert finding.price is not None
    assert finding.price.low_ns <= 0


def test_entries_that_store_a_transition_draw_no_batch():
    trace = loop_rows(
        Time("replay", "python", 3 * SECOND, 3, (SAMPLE,)),
        Time("backprop", "framework", SECOND, 8),
        entries={"replay": 100_000, "backprop": 1000, "update": 1},
    )
    (finding,) = found(python_replay.RULE, trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(3 * SECOND - 1000 * 20_000)


@pytest.mark.parametrize(
    ("made", "draws", "is_deque"),
    [
        ("Ring() if fast else deque()", "[memory[i] for i in rows]", True),
        ("deque(maxlen=9)", "random.sample(memory, 32)", True),
        ("collections.deque()", "[memory[i] for i in rows]", True),
        ("deque()", "memory[-1]", False),
        ("deque()", "[other[i] for i in rows]", False),
        ("[]", "random.sample(memory, 32)", False),
    ],
)
def test_a_deque_that_is_looked_through_is_told(made, draws, is_deque):
    trace = loop_rows(
        Time("replay", "python", 4 * SECOND, 3, (SAMPLE,)),
        entries={"replay": 1000},
        text=f"memory = {made}\ndef sample(rows):\n    return {draws}\n",
    )
    (finding,) = found(python_replay.RULE, trace)
    assert ("deque" in finding.evidence, "list" in finding.fix) == (is_deque, is_deque)


KEPT = """\
class Archive:
    def log(self, row):
        self.rows.append(row)

    def {method}(self, size):
        return self.rows[:size]
"""


@pytest.mark.parametrize(("method", "logs"), [("batch", False), ("show", True)])
def test_what_learning_takes_again_was_not_logged(method, logs):
    trace = loop_rows(
        Time("(none)", "python", 3 * SECOND, 9, ((FILE, "Archive.log"),)),
        text=KEPT.format(method=method),
    )
    assert bool(found_by("logging_calls", trace)) == logs

"""Advice on functions that a loop calls for one row after the other, or with the same again."""

from __future__ import annotations

import ast

import pytest
from support.files.loop_rows import FILE, Time, found_by, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis.independent_passes import function_of_rows, row_taken, unchanged_function
from rlscope.analysis.source_code import Source

# ---- rows ----------------------------------------------------------------------------------------

PADS = """\
def shift(batch):
    out = np.empty_like(batch)
    for i in range(len(batch)):
        wide = np.pad(batch[i], 4)
        out[i] = wide[1:9]
    return out
"""
ALONG = ("/lib/python3.11/site-packages/numpy/lib/_shape_base_impl.py", "apply_along_axis")


def test_a_loop_that_calls_numpy_for_each_row_is_named_with_all_its_lines():
    times = [Time("replay", "python", ns * SECOND, line) for line, ns in ((4, 3), (5, 1), (6, 1))]
    (finding,) = found_by("row_functions", loop_rows(*times, text=PADS))
    assert (finding.file, finding.line, finding.operation) == (FILE, 4, "replay")
    assert "np.pad" in finding.title
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.85 * 4 * SECOND)


def test_the_loop_of_the_training_is_none():
    times = [Time("replay", "python", 3 * SECOND, 4), Time("simulation", "python", SECOND * 4, 5)]
    assert found_by("row_functions", loop_rows(*times, text=PADS)) == []


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("out[i] = np.pad(batch[i], 4)", "np.pad"),
        ("row = batch[i]; out[i] = np.fft.rfft(i * row)", "np.fft.rfft"),
        ("out[i] = np.pad(batch, 4)", None),  # the same in each pass
        ("out[i] = np.array(batch[i])", None),  # other rules speak of these
        ("out[i] = np.random.permutation(batch[i])", None),
        ("out[i] = f(batch[i])", None),
        ("out = np.clip(out + batch[i], 0, 1)", None),  # a pass needs the one before
        ("out[i] = np.pad(batch[i], 4); if out[i].any(): break", None),
    ],
)
def test_a_function_of_one_row(line: str, name: str | None):
    body = "".join(f"        {part.strip()}\n" for part in line.split(";"))
    text = f"def shift(batch, out):\n    for i in range(9):\n{body}"
    if "break" in line:
        text = text.replace(": break", ":\n            break")
    at = next(n for n, each in enumerate(text.splitlines(), 1) if n > 2 and "(" in each)
    assert function_of_rows(Source(ast.parse(text)), at) == name


def test_numpy_may_be_what_calls_python_for_each_row():
    text = "def f(x):\n    return np.apply_along_axis(one, 1, x)\n"
    trace = loop_rows(Time("(none)", "python", 3 * SECOND, 2, (ALONG, (FILE, "one"))), text=text)
    (finding,) = found_by("row_functions", trace)
    assert (finding.file, finding.line) == (FILE, 2)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.9 * 3 * SECOND)


TAKES = """\
def store(memory, batch):
    for i in range(len(batch)):
        memory.add(batch[i])
"""
GETS = ("/lib/python3.11/site-packages/tensordict/base.py", "TensorDictBase.__getitem__")
NETWORK = ("/lib/torch/nn/modules/module.py", "Module._call_impl")


@pytest.mark.parametrize(
    ("inside", "is_found"),
    [((GETS,), True), ((), False), ((NETWORK,), False)],  # a list is quick; networks have rules
)
def test_a_library_that_gives_one_row_after_the_other_is_named(inside, is_found):
    trace = loop_rows(Time("replay", "python", 3 * SECOND, 3, inside), text=TAKES)
    found = found_by("row_functions", trace)
    assert [each.line for each in found] == [3] * is_found
    assert not found or "batch[...]" in found[0].title


@pytest.mark.parametrize(
    ("line", "container"),
    [
        ("memory.add(batch[i])", "batch"),
        ("row = batch[i]", "batch"),
        ("row = batch[i + 1]", "batch"),
        ("row = batch[0]", None),
        ("row = frame.iloc[i]", None),  # a table
        ("row = torch.stack(batch[i])", None),
        ("batch[i] = 0", None),
        ("state = envs[i].step(actions[i])", None),
        ("values[i] = net(batch[i])", None),
    ],
)
def test_what_a_line_takes_a_row_of(line: str, container: str | None):
    text = f"def store(memory, batch):\n    for i in range(9):\n        {line}\n"
    assert row_taken(Source(ast.parse(text)), 3) == container


# ---- the same in each pass -----------------------------------------------------------------------

SEEN = """\
def near(states):
    rows = np.stack([states[name] for name in NAMES])
    found = []
    for row in rows:
        found.append(np.sort(row))
    return np.concatenate(found)

def seen(states):
    return {name: near(states) for name in NAMES}

NAMES = ["a", "b", "c", "d"]
"""


def test_a_function_that_gives_the_same_in_each_pass_is_needed_once():
    trace = loop_rows(Time("inference", "python", 4 * SECOND, 9, ((FILE, "near"),)), text=SEEN)
    (finding,) = found_by("unchanged_calls", trace)
    assert (finding.file, finding.line) == (FILE, 9)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.95 * 4 * SECOND * 3 / 4)


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("near(states) for", "near(states[name]) for", False),
        ("near(states) for", "near(states, 3) for", True),
        ("near(states) for", "far(states) for", False),  # of another file
        ("np.sort(row)", "np.random.permutation(row)", False),
        ("np.sort(row)", "rng.normal()", False),
        ("np.sort(row)", "queue.get_nowait()", False),
        ("np.sort(row)", "rank(row)", False),
        ("np.sort(row)", "row.mean()", True),
        ("found = []", "found = states", False),  # which it fills
        ("found = []", "found = []; states[0] = 1", False),
        ("found = []", "found = []; rows[0] = 1", True),
        ("found = []", "found = []; self.count = 1", False),
        ("found = []", "found = []; global COUNT", False),
        ("NAMES = [", "def near(x): return x\nNAMES = [", False),  # which of the two?
    ],
)
def test_only_what_changes_nothing_gives_the_same(old: str, new: str, is_same: bool):
    assert old in SEEN
    text = SEEN.replace(old, new)
    assert (unchanged_function(Source(ast.parse(text)), 9) == "near") == is_same


@pytest.mark.parametrize(
    ("line", "is_same"),
    [
        ("mask = [cell in game.moves() for cell in range(9)]", True),
        ("mask = [cell in game.moves() for game in games]", False),
        ("mask = [cell in game.moves() for cell in range(9) if game.play(cell)]", False),
        ("mask = [cell in game.play(2) for cell in range(9)]", False),
        ("for cell in range(9): told(game.moves())", False),  # what else may a pass do to the game?
    ],
)
def test_a_method_that_a_comprehension_asks_in_each_pass(line: str, is_same: bool):
    text = "class Game:\n    def moves(self): return [c for c in self.board if c]\n"
    text += "    def play(self, cell): self.board[cell] = 1\n"
    assert (unchanged_function(Source(ast.parse(text + line)), 4) == "moves") == is_same


@pytest.mark.parametrize(("changed", "is_same"), [("scale", False), ("other", True)])
def test_what_the_function_reads_beside_may_change(changed: str, is_same: bool):
    text = (
        "def near(x):\n    return x * scale\n\n"
        f"for name in names:\n    {changed} += 1\n    found[name] = near(start)\n"
    )
    assert (unchanged_function(Source(ast.parse(text)), 6) == "near") == is_same

"""Advice on Python that computes with numbers, or makes keys, one item after the other."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, calls, found, found_by, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis.findings import element_loop, state_keys, tensor_loop

POLYAK = """\
def follow(pairs):
    for online, target in pairs:
        target.mul_(0.995).add_(0.005 * online)
"""


# ---- keys ----------------------------------------------------------------------------------------


def test_a_key_that_is_made_of_items_is_named_with_all_of_its_line():
    text = 'def key(board):\n    return "".join(str(cell) for cell in board)\n'
    times = [Time(operation, "python", 2 * SECOND, 2) for operation in ("(none)", "inference")]
    (finding,) = found(state_keys.RULE, loop_rows(*times, text=text))
    assert (finding.file, finding.line) == (FILE, 2)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.92 * 4 * SECOND)
    written = text.replace('"".join(str(cell) for cell in board)', "str(board.tolist())")
    (finding,) = found(state_keys.RULE, loop_rows(*times, text=written))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.97 * 4 * SECOND)
    grown = "def key(board):\n    for cell in board: text += str(cell)\n"
    (finding,) = found(state_keys.RULE, loop_rows(*times, text=grown))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.8 * 4 * SECOND)
    assert found(element_loop.RULE, loop_rows(*times, text=grown)) == []
    little = Time("(none)", "python", SECOND // 100, 2)
    assert found(state_keys.RULE, loop_rows(little, text=text)) == []
    assert found(state_keys.RULE, loop_rows(*times, text=text.replace("join", "count"))) == []


# ---- loops over numbers --------------------------------------------------------------------------

FORCES = """\
def forces(places):
    for place in places:
        total += place * place
        self.seen.append(place)
        self.seen.append(Place(place + 1))
    while total > 1:
        total = total / 2
    return total * 2
"""


def computing(line: int, *, layer: str = "python", entries: int = 1000):
    return loop_rows(
        Time("simulation", layer, 3 * SECOND, line), entries={"simulation": entries}, text=FORCES
    )


def test_a_loop_that_computes_with_numbers_is_named():
    (finding,) = found(element_loop.RULE, computing(3))
    assert (finding.file, finding.line, finding.operation) == (FILE, 3, "simulation")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.5 * 3 * SECOND)


@pytest.mark.parametrize(("steps", "are_many"), [(300_000, True), (450_000, False)])
def test_between_operations_each_step_counts_as_an_entry(steps, are_many):
    """As for an agent of NumPy that goes through a few traces in each: an array is slower."""
    trace = loop_rows(
        Time("(none)", "python", 3 * SECOND, 3),
        Time("simulation", "python", SECOND, 90),
        entries={"simulation": steps},
        text=FORCES,
    )
    findings = found(element_loop.RULE, trace)
    assert [(each.line, each.operation) for each in findings] == [(3, "(none)")] * are_many


def test_the_loop_in_which_environments_step_is_none():
    """Its passes compute with what the last step gave, once each."""
    text = "for update in range(9):\n    rows = play(env)\n    total += scale * rows\n"
    times = Time("(none)", "python", 6 * SECOND, 3), Time("simulation", "python", SECOND, 2)
    entries = {"simulation": 1000}
    assert found(element_loop.RULE, loop_rows(*times, entries=entries, text=text)) == []
    (elsewhere,) = found(
        element_loop.RULE,
        loop_rows(times[0], Time("simulation", "python", SECOND, 9), entries=entries, text=text),
    )
    assert elsewhere.line == 3


def test_passes_of_a_loop_in_a_loop_multiply():
    text = "for one in all:\n    for other in all:\n        total += one * other\n"
    trace = loop_rows(
        Time("simulation", "python", 3 * SECOND, 3), entries={"simulation": 1000}, text=text
    )
    (finding,) = found(element_loop.RULE, trace)
    assert finding.price is not None
    # What NumPy does instead takes 5 us an entry.
    assert finding.price.saving_ns == pytest.approx(0.9 * 3 * SECOND - 1000 * 5000)


@pytest.mark.parametrize(
    ("loops", "each_us", "is_found"),
    [(2, 25, True), (2, 15, False), (1, 25, False), (1, 60, True)],
)
def test_a_loop_in_a_loop_may_be_brief(loops, each_us, is_found):
    text = "for one in all:\n    for other in all:\n        total += one * other\n"
    if loops == 1:
        text = "if all:\n    for other in all:\n        total += one * other\n"
    entries = 3_000_000 // each_us
    trace = loop_rows(
        Time("simulation", "python", 3 * SECOND, 3), entries={"simulation": entries}, text=text
    )
    assert bool(found(element_loop.RULE, trace)) == is_found


def test_loops_of_a_run_of_hours_have_intervals():
    """Products of two of their times do not fit into 64 bits."""
    hour = 3600 * SECOND
    numbers = loop_rows(
        Time("simulation", "python", 3 * hour, 3), entries={"simulation": 10**6}, text=FORCES
    )
    tensors = loop_rows(
        Time("(none)", "framework", 3 * hour, 3),
        text=POLYAK,
        native_call=[calls("(none)", "torch._C:TensorBase.mul_", 10**8, hour)],
    )
    for rule, trace in ((element_loop.RULE, numbers), (tensor_loop.RULE, tensors)):
        (finding,) = found(rule, trace)
        assert finding.price is not None
        assert finding.price.low_ns < finding.price.saving_ns < finding.price.high_ns


@pytest.mark.parametrize(
    ("line", "are_numbers"),
    [
        ("self.speed[i] += 0.1 * self.force[i]", True),
        ("total += math.sqrt(self.speed[i] * 2)", True),
        ("self.speed += 0.1 * force", False),
        ("drift = np.roll(force, 1) - 2 * force", False),
        ("part = self.speed[:3] * 2", False),
        ("number = number * 2", True),
        ("noise = 0.1 * rng.normal(0, 1, 12)", False),
        ("noise = 0.1 * rng.normal(0, 1)", True),
        ("noise = 0.1 * np.random.randn(12)", False),
        ("share = 1 / np.linalg.norm(number)", True),
        ("layer = 0.1 * (weights @ number)", False),
        ("row = 0.1 * number[:, None]", False),
        ("entry = 0.1 * number[0, 1]", True),
        ("share = 0.1 * torch.rand(1).item()", True),
        ("other = other * 2", True),  # an array of another function
        ("wave = 0.1 * np.sin(v)", False),
        ("wave = 0.1 * np.sin(number)", True),
        ("wave = 0.1 * swing", False),
        ("x = x + 0.1", False),
        ("first = 0.1 * many", True),  # a list of arrays is none
    ],
)
def test_arithmetic_of_whole_arrays_is_no_loop_over_numbers(line, are_numbers):
    text = (
        f"def step(self, number):\n    for i in range(4):\n        {line}\n"
        "    self.speed = np.zeros(12)\n    force = self.speed[:] + 1.0\n"
        "    x, v = (np.full(12, c) for c in range(2))\n    swing, _ = np.sin(x), 1\n"
        "    many = [np.zeros(3) for _ in range(2)]\n"
        "def more():\n    other = np.zeros(3)\n"
    )
    trace = loop_rows(
        Time("simulation", "python", 3 * SECOND, 3), entries={"simulation": 1000}, text=text
    )
    assert len(found(element_loop.RULE, trace)) == are_numbers


@pytest.mark.parametrize(
    "silent",
    [
        {"line": 4},  # no arithmetic
        {"line": 7},  # a recursion that ends when it ends
        {"line": 8},  # in no loop
        {"line": 5},  # makes objects
        {"line": 3, "layer": "framework"},  # a loop over tensors
        {"line": 3, "entries": 100_000},  # a few numbers in each of many steps
    ],
)
def test_other_lines_in_python_are_not(silent):
    assert found(element_loop.RULE, computing(**silent)) == []


@pytest.mark.parametrize(
    ("line", "speaks"),
    [
        ("norm = torch.linalg.svdvals(weight)[0]", True),
        ("vals, vecs = np.linalg.eigh(covariance)", True),
        ("norm = torch.linalg.vector_norm(weight)", False),
    ],
)
def test_singular_values_and_eigenvalues(line, speaks):
    trace = loop_rows(Time("backprop", "framework", 3 * SECOND, 1), text=line)
    assert [each.line for each in found_by("eigenvalues", trace)] == [1] * speaks


TOGETHER = """\
def step(groups):
    for group in groups:
        move(group)

def move(group):
    means = group["means"]
    torch._foreach_mul_(means, 0.99)
    {line}
"""


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("root = torch._foreach_add(means, 1e-5)", []),
        ("for mean in means: mean.add_(1e-5)", [8]),
    ],
)
def test_operators_on_lists_of_tensors_are_no_loop(line, lines):
    trace = loop_rows(
        Time("backprop", "framework", 3 * SECOND, 8),
        Time("backprop", "python", SECOND, 3),
        text=TOGETHER.format(line=line),
        native_call=[calls("backprop", "torch._C:TensorBase.add_", 20_000, SECOND)],
        entries={"backprop": 100},
    )
    assert [each.line for each in found(tensor_loop.RULE, trace)] == lines

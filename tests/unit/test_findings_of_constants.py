"""Advice on what is made again in each call, and on functions for arrays that get one number."""

from __future__ import annotations

import ast

import pytest
from support.files.loop_rows import FILE, Time, found_by, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis.constant_calls import Constant, Kind, constant_call
from rlscope.analysis.source_code import Source

BINS = """\
import numpy as np
def discretize(x, v):
    xs = np.linspace(-1.2, 0.6, 40)
    vs = np.linspace(-0.07, 0.07, 40)
    return int(np.digitize(x, xs)), int(np.digitize(v, vs))
"""


def test_arrays_of_constants_are_named_with_all_lines_of_their_function():
    times = [Time("(none)", "python", SECOND, line) for line in (3, 4, 5)]
    (finding,) = found_by("unchanged_calls", loop_rows(*times, text=BINS))
    assert (finding.file, finding.line) == (FILE, 3)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.97 * 2 * SECOND)
    sure_ns = finding.price.low_ns
    more = BINS.replace("np.linspace(-0.07, 0.07, 40)", "x + np.linspace(-0.07, 0.07, 40)")
    (finding,) = found_by("unchanged_calls", loop_rows(*times, text=more))
    assert finding.price is not None
    assert finding.price.low_ns == pytest.approx(sure_ns * 0.5 / 0.9)


def test_a_few_of_them_are_no_finding():
    times = [Time("(none)", "python", SECOND // 5, line) for line in (3, 4)]
    assert found_by("unchanged_calls", loop_rows(*times, text=BINS)) == []


FILE_TEXT = """\
import numpy as np
N = 40
SEEN, TEXT = [], "[]"
for i in range(3):
    M = i
class Agent:
    def __init__(self):
        self.low = 1
        self.high = 2
        self.rows = [1, 2]
    def act(self, x):
        {}
        return 1
    def reset(self):
        self.high = 3
        self.rows.append(3)
"""


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("b = np.linspace(-1, 1, N)", "np.linspace"),
        ("b = np.linspace(self.low, 1, 40)", "np.linspace"),
        ("b = np.array([[np.pi, 1.0], [-0.2, 1]], dtype=np.float32)", "np.array"),
        ("y = np.clip(x, np.array([0, 1]), 3)", "np.array"),
        ("y = x + np.arange(10)", "np.arange"),
        ("b = np.linspace(-1, 1, M)", None),  # a loop sets it
        ("b = np.linspace(self.low, self.high, 40)", None),
        ("b = np.array(self.rows)", None),
        ("b = np.arange(x)", None),
        ("b = np.zeros(4); b[x] = 1", None),
        ("b = np.zeros(4); b += x", None),
        ("b = np.array([2, 1]); b.sort()", None),
        ("self.b = np.arange(10)", None),
        ("return np.arange(10)", None),  # the caller may change it
        ("b = np.arange(10); return b", None),
        ("b = np.arange(10); y = np.clip(x, b, max(b)) + b.mean()", "np.arange"),
        ("b, c = np.arange(10), 3", "np.arange"),
        ("self.rows.append(np.zeros(4))", None),  # each of them would be the same
        ("b = np.zeros(4); self.rows.append((x, b))", None),
        ("b = np.zeros(4); fill(b, x)", None),
        ("b = np.zeros(4); np.add(x, 1, out=b)", None),
        ("b = np.zeros(4); np.copyto(b, x)", None),
        ("b = np.zeros(4); t = torch.from_numpy(b)", None),
        ("b = np.zeros(4); c = b; c[x] = 1", None),
        ("b = np.zeros(4); self.b = {0: b}", None),
        ("b = np.random.rand(10)", None),
        ("b = np.arange(N); c = 2 * np.cos(b / max(1, self.low)); y = x + c", "np.arange"),
        ("c = 2 * np.cos(max(N, self.low)) - 1", "c"),
        ("c = np.cos(np.ones(N) + x)", "np.ones"),
        ("c = np.cos(N + x)", None),
        ("c = 2 * np.cos(N); c[0] = x", None),
        ("c = 2 * np.cos(N); return c", None),
        ("c = np.random.rand(N)", None),
        ("c = 2 * np.load('rows.npy')", None),
        ("c = load(N)", None),
        ("rules = json.loads(TEXT); x = rules[0]['a'] + x", "json.loads"),
        ("x = [each['a'] for each in json.loads(TEXT)]", "json.loads"),
        ("rules = json.loads(TEXT); rules[0]['a'] += 1", None),
        ("rules = json.loads(TEXT); one = rules[0]; one['a'] = x", None),
        ("for one in json.loads(TEXT): one.update(x)", None),
        ("for one in json.loads(TEXT): self.keep(one)", None),
        ("rules = json.loads(x)", None),
        ("b = make.arange(10)", None),
    ],
)
def test_what_is_constant(body, name):
    made = constant_call(Source(ast.parse(FILE_TEXT.format(body))), 12)
    assert (made and made.name) == name


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("y = np.clip(x, np.arange(40), abs(x))", 1 / 3),
        ("y = np.clip(x, np.arange(40_000), abs(x))", 1),
        ("y = np.clip(x, np.arange(SIZE), abs(x))", 1),
        ("y = np.clip(x, json.loads('[3]'), abs(x))", 1),
        ("y = np.arange(40)", 1),
    ],
)
def test_a_small_array_is_one_call_of_its_line(line, part):
    source = Source(ast.parse(f"SIZE = 4000\ndef f(x):\n    {line}\n    return y.sum()\n"))
    made = constant_call(source, 3)
    assert made is not None
    assert made.part == pytest.approx(part)


def test_small_arrays_beside_other_work_are_worth_a_look():
    text = "def f(x):\n    y = np.clip(x, np.arange(40), abs(x))\n"
    trace = loop_rows(Time("(none)", "python", 3 * SECOND, 2), text=text)
    (finding,) = found_by("unchanged_calls", trace)
    assert finding.price is not None
    assert (finding.price.low_ns, finding.price.saving_ns) == (0, pytest.approx(SECOND))


def test_lines_that_derive_constants_count_for_their_function():
    text = BINS.replace("vs = np.linspace(-0.07, 0.07, 40)", "vs = 0.1 * np.cos(xs)")
    times = [Time("(none)", "python", SECOND, line) for line in (3, 4)]
    (finding,) = found_by("unchanged_calls", loop_rows(*times, text=text))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.97 * 2 * SECOND)
    assert finding.title.startswith("an array that does not change")


def test_a_text_that_is_read_in_each_step_is_named():
    text = (
        "RULES = '[]'\ndef step(x):\n    for rule in json.loads(RULES):\n        x += rule['a']\n"
    )
    trace = loop_rows(Time("(none)", "python", SECOND, 3), text=text)
    (finding,) = found_by("unchanged_calls", trace)
    assert finding.title.startswith("text that does not change is read again")


def test_a_loop_of_the_file_makes_them_again_too():
    text = "import numpy as np\nN = 3\ny = np.arange(N)\nfor i in rows:\n    z = np.arange(N)\n"
    source = Source(ast.parse(text))
    assert constant_call(source, 5) == Constant("np.arange", is_all=True)
    assert constant_call(source, 3) is None
    assert constant_call(Source(ast.parse(text.replace("arange(N)", "arange(i)"))), 5) is None


DATA = """\
import numpy as np
STATES = np.load("states.npy")
class Data:
    def __init__(self, file):
        self.rows = np.load(file).astype(np.float32)
        self.size = len(self.rows) + self.rows[:, 0].sum()
    def normalised(self, rows):
        mean = {summary}
        return (rows - mean) / (self.rows[3] + self.rows).std()
{more}
"""


@pytest.mark.parametrize(
    ("summary", "more", "is_all"),
    [
        ("self.rows.mean(0)", "", True),
        ("np.std(self.rows, axis=0) + 1e-3", "", True),
        ("np.linalg.norm(STATES)", "", True),
        ("rows + self.rows.max()", "", False),
        ("self.rows[rows].mean(0)", "", None),
        ("np.quantile(self.rows, rows)", "", None),
        ("other.rows.mean(0)", "", None),
        ("self.rows.mean(0)", "data.rows[3] = 1", None),
        ("self.rows.mean(0)", "data.rows += 1", None),
        ("self.rows.mean(0)", "data.rows.sort()", None),
        ("self.rows.mean(0)", "fill(data.rows)", None),
        ("self.rows.mean(0)", "np.copyto(data.rows, 1)", None),
        ("self.rows.mean(0)", "rows = data.rows", None),
        (
            "self.rows.mean(0)",
            "    def more(self, rows):\n        self.rows = np.array(rows)",
            None,
        ),
        ("STATES.mean(0)", "def f(x):\n    STATES[x] = 1", None),
    ],
)
def test_a_summary_of_an_array_that_does_not_change_is_the_same(summary, more, is_all):
    source = Source(ast.parse(DATA.format(summary=summary, more=more)))
    made = constant_call(source, 8)
    assert (made and made.is_all) == is_all


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("np.load(file).astype(np.float32)", "torch.load(file)"),  # an optimizer may train it
        ("def __init__(self, file)", "def load(self, file)"),  # maybe for each batch
        ("rows):\n", "STATES):\n"),  # hides the one of the file
        ('STATES = np.load("states.npy")', "def f():\n    STATES = np.ones(3)"),
        ('STATES = np.load("states.npy")', "for _ in x:\n    STATES = np.ones(3)"),
    ],
)
def test_other_arrays_may_change(old, new):
    summary = "STATES.mean(0)" if "STATES" in new else "self.rows.mean(0)"
    text = DATA.format(summary=summary, more="")
    lines = text.replace(old, new)
    at = next(n for n, line in enumerate(lines.splitlines(), 1) if "mean = " in line)
    assert constant_call(Source(ast.parse(text)), 8) is not None
    assert constant_call(Source(ast.parse(lines)), at) is None


def test_statistics_of_a_data_set_for_each_batch_are_named():
    text = DATA.format(summary="self.rows.mean(0)", more="")
    trace = loop_rows(Time("(none)", "python", 2 * SECOND, 8), text=text)
    (finding,) = found_by("unchanged_calls", trace)
    assert finding.title.startswith("all of an array that does not change is summed up again")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.97 * 2 * SECOND)


# ---- one number ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("n = int(np.digitize(x, xs))", ["np.digitize"]),
        ("y = 2 * float(numpy.clip(x, -1, 1))", ["np.clip"]),
        ("n = np.digitize(x, xs)", []),  # of an array, as far as the text says
        ("y = float(np.mean(np.clip(x, -1, 1)))", []),
        ("y = float(np.sqrt(x))", []),  # as quick as math.sqrt
        ("y = float(torch.clip(x, -1, 1))", []),
    ],
)
def test_functions_for_arrays_that_compute_a_number_are_named(line, names):
    text = f"def act(x):\n    {line}\n"
    findings = found_by(
        "number_functions", loop_rows(Time("(none)", "python", SECOND, 2), text=text)
    )
    assert [each.title.split(", ")[1] for each in findings] == names
    for each in findings:
        assert (each.line, each.price.saving_ns) == (2, pytest.approx(0.8 * SECOND))


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("return np.array([rng.choice(4, p=row) for row in rows])", 0.95),
        ("for i, row in enumerate(rows): a[i] = np.random.choice(range(4), p=rows[i])", 0.95),
        ("return np.random.choice(len(p), p=p)", 0.75),
        ("return np.random.choice(9, p=p, size=32)", None),
        ("return np.random.choice(9, 32, p=p)", None),
        ("return np.random.choice(9)", None),
    ],
)
def test_draws_with_probabilities_are_named(line, part):
    text = f"def act(p, rows):\n    {line}\n"
    trace = loop_rows(Time("inference", "python", 2 * SECOND, 2), text=text)
    prices = [each.price.saving_ns for each in found_by("weighted_draws", trace)]
    assert prices == ([pytest.approx(part * 2 * SECOND)] if part else [])


def test_a_loop_over_steps_is_none_over_rows():
    text = "for step in range(9):\n    action = rng.choice(4, p=policy[state])\n"
    trace = loop_rows(Time("(none)", "python", 2 * SECOND, 2), text=text)
    (finding,) = found_by("weighted_draws", trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.75 * 2 * SECOND)


CONVERTED = """\
class Data:
    def __init__(self, found):
        self.found, self.rows = found, []

    def put(self, row):
        self.rows.append(row)

    def tensor(self, key):
        return {made}

def learn(data, rows):
    return net({taken})
"""
WHOLE = "torch.as_tensor(self.found[key], dtype=torch.float32)"


@pytest.mark.parametrize(
    ("made", "taken", "is_converted"),
    [
        (WHOLE, "data.tensor('states')[rows]", True),
        (f"{WHOLE}[key]", "data.tensor(rows)", True),
        (WHOLE, "data.tensor(rows)", False),  # rows, to begin with
        ("torch.as_tensor(self.rows)", "data.tensor(0)[rows]", False),
        (f"wrap({WHOLE})", "data.tensor('states')[rows]", False),
    ],
)
def test_all_of_an_array_is_converted_of_which_rows_are_taken(made, taken, is_converted):
    source = Source(ast.parse(CONVERTED.format(made=made, taken=taken)))
    expected = Constant("torch.as_tensor", is_all=False, kind=Kind.CONVERTED)
    assert constant_call(source, 9) == (expected if is_converted else None)


@pytest.mark.parametrize(
    ("line", "is_identity"),
    [
        ("np.eye(size)[state]", True),
        ("np.identity(size, np.float32)[state : state + 1]", True),
        ("EYES[state]", False),
        ("np.eye(size)", False),
    ],
)
def test_an_identity_matrix_is_made_for_a_row(line, is_identity):
    source = Source(ast.parse(f"def one_hot(state, size):\n    return {line}\n"))
    found = constant_call(source, 2)
    assert (found is not None and found.kind is Kind.IDENTITY) == is_identity

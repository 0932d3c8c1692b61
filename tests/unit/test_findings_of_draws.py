"""Advice on numbers that are drawn one by one, and on matrices that are inverted anew."""

from __future__ import annotations

import ast

import pytest
from support.files.loop_rows import FILE, Time, found_by, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis.findings.inverses import inverts_sum
from rlscope.analysis.findings.number_draws import number_draw
from rlscope.analysis.source_code import Source

# ---- numbers -------------------------------------------------------------------------------------

NOISE = "def noise(n):\n    return np.array([random.gauss(0, 1) for _ in range(n)])\n"


def drawing(text: str, steps: int):
    return loop_rows(
        Time("(none)", "python", 3 * SECOND, 2),
        Time("simulation", "python", SECOND, 9),
        entries={"simulation": steps},
        text=text,
    )


def test_numbers_that_are_drawn_one_by_one_are_named():
    (finding,) = found_by("number_draws", drawing(NOISE, 1000))
    assert (finding.file, finding.line) == (FILE, 2)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.92 * 3 * SECOND)
    assert "3.00 ms for each step" in finding.evidence


def test_where_no_step_was_seen_nothing_is_said_of_steps():
    trace = loop_rows(Time("(none)", "python", 3 * SECOND, 2), text=NOISE)
    (finding,) = found_by("number_draws", trace)
    assert finding.evidence == "A comprehension calls random.gauss for each number."


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (NOISE, 1_000_000),  # a few numbers
        ("def noise(n):\n    return random.gauss(0, 1)\n", 1000),
    ],
)
def test_a_few_numbers_are_not(text: str, steps: int):
    assert found_by("number_draws", drawing(text, steps)) == []


@pytest.mark.parametrize(
    ("line", "operation", "speaks"),
    [
        ("rows = torch.randperm(n)[:64]", "(none)", True),
        ("return self.s[rng.permutation(self.size())[:b]]", "inference", True),
        ("rows = torch.randperm(n)[:64]", "replay", False),  # python_replay's
        ("rows = torch.randperm(n)", "(none)", False),  # all are used
        ("rest = torch.randperm(n)[64:]", "(none)", False),
        ("rows = order[:64]", "(none)", False),
    ],
)
def test_a_permutation_of_which_only_the_beginning_is_used(line, operation, speaks):
    trace = loop_rows(Time(operation, "framework", 2 * SECOND, 1), text=f"{line}\n")
    found = found_by("permuted_draws", trace)
    assert [each.line for each in found] == [1] * speaks
    for each in found:
        assert each.price is not None
        assert each.price.saving_ns == pytest.approx(0.95 * 2 * SECOND)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("[[random.random() for _ in row] for row in rows]", "random.random"),
        ("sum(rng.normal(0.0, 2.0) for _ in range(len(rows)))", "rng.normal"),
        ("[rng.normal(0.0, 2.0, 3) for _ in rows]", None),
        ("[rng.normal(size=3) for _ in rows]", None),
        ("[act(random.random()) for _ in rows]", None),  # something else may take the time
        ("[env.step(rng.integers(4)) for env in rows]", None),
        ("[torch.randint(4) for _ in rows]", None),
        ("[row for row in rows]", None),
    ],
)
def test_what_draws_a_number_in_each_pass(value: str, name: str | None):
    assert number_draw(Source(ast.parse(f"x = {value}")), 1) == name


# ---- matrices ------------------------------------------------------------------------------------

ARM = """\
class Arm:
    def score(self, x):
        inverse = np.linalg.inv({matrix})
        return x @ inverse @ x
    def learn(self, x, arm):
        {adds}
"""
INVERSE = ("/lib/python3.11/site-packages/numpy/linalg/_linalg.py", "inv")


def test_a_matrix_that_gets_products_of_vectors_is_not_inverted_anew():
    text = ARM.format(matrix="self.A", adds="self.A += np.outer(x, x)")
    trace = loop_rows(Time("(none)", "python", 3 * SECOND, 3, (INVERSE,)), text=text)
    (finding,) = found_by("inverses", trace)
    assert (finding.file, finding.line) == (FILE, 3)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.9 * 3 * SECOND)


@pytest.mark.parametrize(
    ("matrix", "adds", "is_sum"),
    [
        ("self.A", "self.A += np.outer(x, x)", True),
        ("self.A", "self.A = self.A + x[:, None] @ x[None]", True),
        ("self.A[arm]", "self.A[arm] += np.einsum('i,j', x, x)", True),
        ("self.A", "self.B += np.outer(x, x)", False),
        ("self.A", "self.A -= np.outer(x, x)", False),
        ("self.A", "self.A += x", False),
        ("self.A", "self.A += batch.T @ batch", False),  # of many vectors
        ("self.A", "self.A += x[:, None] * x[None, :]", True),
        ("self.A", "self.A = np.outer(x, x)", False),
        ("self.A", "self.A = self.B + np.outer(x, x)", False),
        ("make(x)", "self.A += np.outer(x, x)", False),
    ],
)
def test_a_sum_of_products(matrix: str, adds: str, is_sum: bool):
    text = ARM.format(matrix=matrix, adds=adds)
    assert inverts_sum(Source(ast.parse(text)), 3) == is_sum

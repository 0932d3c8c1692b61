"""The report has words; what decides between them stands in analysis/verdicts.py,
process_verdicts.py and finding_verdicts.py.

Nothing in rlscope/report compares with a number but 0, 1 and 2, be it written there or a constant
of the report or of analysis, and no fraction is written there. Modules that lay out may: digits of
a number, characters of a line, pixels.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "rlscope" / "report"
LAYOUT = (
    "units.py",
    "page.py",
    "screen.py",
    "code_listing.py",
    "operation_choices.py",
    "figures/",
    "renderers/",
)
PLAIN = (0, 1, 2)
ARITHMETIC = (
    ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop,
)  # fmt: skip


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def constants(source: str) -> set[str]:
    """Names that a module gives to numbers."""
    found: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            parts = [*ast.walk(node.value)]
            if any(map(is_number, parts)) and all(isinstance(part, ARITHMETIC) for part in parts):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def thresholds(source: str, known: set[str]) -> Iterator[str]:
    """Comparisons with numbers, or with names of `known` numbers, and fractions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            parts = [*ast.walk(node)]
            names = {getattr(part, "id", getattr(part, "attr", "")) for part in parts}
            numbers = [part.value for part in parts if is_number(part)]
            if names & known or any(number not in PLAIN for number in numbers):
                yield f"{node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value % 1:
            yield f"{node.lineno}: {node.value}"


def texts(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*.py")
    }


def test_the_report_compares_with_no_threshold() -> None:
    sources = texts(REPORT)
    known = set().union(*map(constants, (*sources.values(), *texts(ROOT / "analysis").values())))
    assert known >= {"_MOST", "_SHORTEST_PROGRAM_NS", "OPERATIONS"}, "the search finds them"
    found = [
        f"{name}:{each}"
        for name, source in sources.items()
        if not name.startswith(LAYOUT)
        for each in thresholds(source, known)
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "waited = waited_ns > 0.1 * whole_ns",
        "if cpu_ns < 100_000_000: pass",
        "if waited_ns > whole_ns / 20: pass",
        "if -5 < bias: pass",
        "_LEAST = 0.05\nif late_ns <= _LEAST * steps_ns: pass",
        "_LEAST_NS = 60 * 1_000_000\nif late_ns <= _LEAST_NS: pass",
        "_MOST: int = 12\nshown = [each for each in rows if each < _MOST]",
        "if late_ns <= verdicts._MOST * steps_ns: pass",
        "half_ns = 0.5 * whole_ns",
    ],
)
def test_a_threshold_is_found(source: str) -> None:
    assert len({*thresholds(source, constants(source) | {"_MOST"})}) >= 1


@pytest.mark.parametrize(
    "source",
    [
        "if len(members) > 1: pass",
        "if verdicts.is_most(waiting_ns, whole_ns): pass",
        "_PARTS = 3\nnamed = rows[:_PARTS]",
        "_GIB = float(1 << 30)\nvalues = [value / _GIB for value in values]",
        "if row['share'] >= 1: pass",
    ],
)
def test_what_is_none_is_not(source: str) -> None:
    assert [*thresholds(source, constants(source))] == []

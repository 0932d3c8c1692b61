"""A comparison on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlscope.compare import words
from rlscope.compare.comparison import Comparison
from rlscope.compare.gate import Gate
from rlscope.compare.rows import Row
from rlscope.report import screen, units

_ROWS = 8
_PARTS = 5
_NAME, _VERDICT = 0, words.COLUMNS.index("verdict")
_LEAST = 32
"""Characters that are left of a name or a verdict."""


def render(
    comparison: Comparison,
    gate: Gate | None,
    *,
    width: int | None = None,
    unicode: bool | None = None,
) -> str:
    """The whole, the parts that contribute most first.

    Args:
        width: most cells of a line; None: those of the terminal.
        unicode: whether other characters than ASCII are shown; None: as stdout encodes.
    """
    columns = screen.width_of(width)
    lines = [line for block in _blocks(comparison, gate, columns) for line in block]
    return screen.shown(lines, columns, unicode)


def _blocks(comparison: Comparison, gate: Gate | None, width: int) -> Iterator[list[str]]:
    if comparison.is_of_itself:
        said = [words.headline(comparison), *([] if gate is None else [words.gate(gate)])]
        yield screen.wrapped(said, width)
        return
    yield screen.wrapped(_environment(comparison), width)
    yield screen.wrapped([f"! {each}" for each in comparison.warnings], width)
    yield screen.wrapped([words.headline(comparison)], width)
    if gate is not None:
        yield screen.wrapped([words.gate(gate)], width)
    yield ["", *screen.wrapped(words.sides(comparison), width)]
    yield ["", *screen.wrapped([*words.whole(comparison), *words.drift(comparison)], width)]
    for title, rows, counted, most in tables(comparison):
        if rows:
            heads = [title, *words.COLUMNS[1:]]
            shown = [words.cells(row, counted=counted) for row in rows[: most or len(rows)]]
            for column in (_NAME, _VERDICT):
                shown = _cut(heads[: _VERDICT + 1], shown, column, width)
            yield ["", *_with_code(screen.aligned(heads, shown, width), rows)]
    found = list(words.findings(comparison))
    if found:
        heads = list(words.FINDING_COLUMNS)
        yield ["", *screen.aligned(heads, _cut(heads, found, _NAME, width), width)]


def _with_code(lines: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """Below each line of the programs its text."""
    yield lines[0]
    for line, row in zip(lines[1:], rows, strict=False):
        yield line
        if code := words.code(row):
            yield f"    {code}"


def _cut(
    heads: Sequence[str], rows: Sequence[Sequence[str]], column: int, width: int
) -> list[list[str]]:
    """The rows with this column so short that all of `heads` have room, if it can be."""
    longest = [
        max(screen.cells(each) for each in (head.removeprefix(">"), *cells))
        for head, cells in zip(heads, zip(*rows, strict=True), strict=False)
    ]
    room = max(_LEAST, longest[column] + width - sum(longest) - 2 * (len(heads) - 1))
    return [[*row[:column], units.label(row[column], room), *row[column + 1 :]] for row in rows]


def _environment(comparison: Comparison) -> list[str]:
    return [
        f"! {fact.kind} differs: {units.label(', '.join(fact.base), _VALUE)} and "
        f"{units.label(', '.join(fact.new), _VALUE)}"
        for fact in comparison.environment
    ]


_VALUE = 100
"""Characters of a value."""


def tables(comparison: Comparison) -> Sequence[tuple[str, Sequence[Row], bool, int]]:
    """Title, rows, whether they are counts, and how many a terminal shows."""
    return (
        ("operation", comparison.operations, False, _ROWS),
        ("layer", comparison.layers, False, _ROWS),
        ("source line", comparison.lines, False, _PARTS),
        ("kernel", comparison.kernels, False, _PARTS),
        ("transition", comparison.crossings, True, _PARTS),
    )

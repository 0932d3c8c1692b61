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
_PRICED = words.FINDING_COLUMNS.index("line")
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
            table = screen.aligned(heads, shown, width)
            yield ["", *_with_below(table, [words.code(row.place) for row in rows])]
    if comparison.findings:
        yield ["", *_findings(comparison, width)]


def _findings(comparison: Comparison, width: int) -> Iterator[str]:
    heads = list(words.FINDING_COLUMNS[:_PRICED])
    found = [cells[:_PRICED] for cells in words.findings(comparison)]
    table = screen.aligned(heads, _cut(heads, found, _NAME, width), width)
    return _with_below(table, [words.line(each.place) for each in comparison.findings])


def _with_below(table: Sequence[str], texts: Sequence[str]) -> Iterator[str]:
    """The rows of a table, each with its text in a line of its own."""
    yield table[0]
    for row, text in zip(table[1:], texts, strict=False):
        yield row
        if text:
            yield f"    {text}"


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

"""A comparison as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlscope.compare import words
from rlscope.compare.comparison import Comparison
from rlscope.compare.gate import Gate
from rlscope.compare.renderers.text import tables
from rlscope.report.markup import markdown

_ROWS = 12


def render(comparison: Comparison, gate: Gate | None) -> str:
    """Sentences, the operations, and everything else folded."""
    return "\n".join(_lines(comparison, gate)) + "\n"


def _lines(comparison: Comparison, gate: Gate | None) -> Iterator[str]:
    if gate is not None:
        yield f"**{markdown(words.gate(gate))}**\n"
    yield f"{markdown(words.headline(comparison))}\n"
    if comparison.is_of_itself:
        return
    for warning in comparison.warnings:
        yield f"> {markdown(warning)}\n"
    if comparison.environment:
        facts = [
            [each.kind, ", ".join(each.base), ", ".join(each.new)]
            for each in comparison.environment
        ]
        yield from _table(["differs", "base", "new"], facts)
    for sentence in (*words.sides(comparison), *words.whole(comparison), *words.drift(comparison)):
        yield f"* {markdown(sentence)}"
    yield ""
    for title, rows, counted, _ in tables(comparison):
        if not rows:
            continue
        is_first = title == "operation"
        if not is_first:
            yield f"<details><summary>{title}s</summary>\n"
        yield from _table(*words.grid(title, rows[:_ROWS], counted=counted))
        if not is_first:
            yield "</details>\n"
    found = list(words.findings(comparison))
    if found:
        yield from _table(words.FINDING_COLUMNS, found)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head.removeprefix(">") for head in heads) + " |"
    yield "|" + "|".join("---:" if head.startswith(">") else "---" for head in heads) + "|"
    for row in rows:
        yield "| " + " | ".join(map(markdown, row)) + " |"
    yield ""

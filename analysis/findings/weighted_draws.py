"""Numbers are drawn with probabilities one at a time, which NumPy checks and adds up in each."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis.costly_lines import costly_lines, shown
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.source_code import Source, looped_names, name_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# What one call for all rows wins of calls for each, and arithmetic of one call. A call takes some
# 9 us, one for 64 rows some 7 us, and arithmetic some 2 us.
_OF_ROWS = (0.8, 0.95, 1.0)
_OF_ONE = (0.5, 0.75, 0.85)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for costly in costly_lines(trace, loop):
        row, source, time = costly.row, costly.source, costly.time
        line = row["line"]
        probabilities = _draw_of_one(source, line)
        if probabilities is None:
            continue
        of_rows = _goes_through_rows(source, line, probabilities)
        yield Finding(
            title="drawing with probabilities, one number at a time, takes "
            f"{share(time.saving_ns, loop.loop_ns)} of the loop",
            evidence="Each call of choice(p=...) makes arrays of what it is given, checks the "
            "probabilities and adds them up.",
            evidence_sql=shown(loop),
            fix="Draw the numbers of items for all rows at once: "
            "(p.cumsum(1) > rng.random((len(p), 1))).argmax(1)."
            if of_rows
            else "Compare sums with one number, which gives that of the item: "
            "(p.cumsum() > rng.random()).argmax().",
            no_effect="Little effect where the line does more than that.",
            price=time.part(*(_OF_ROWS if of_rows else _OF_ONE)),
            operation=row["operation"],
            file=row["file"],
            line=line,
        )
        return


def _draw_of_one(source: Source, line: int) -> ast.expr | None:
    """The probabilities with which a line draws one item: choice(items, p=probabilities)."""
    for node in source.around(line):
        if isinstance(node, ast.Call) and name_of(node.func) == "choice" and len(node.args) < 2:
            given = {each.arg: each.value for each in node.keywords}
            if "p" in given and "size" not in given:
                return given["p"]
    return None


def _goes_through_rows(source: Source, line: int, probabilities: ast.expr) -> bool:
    """Whether the probabilities are what a loop goes through: choice(4, p=row) for row in rows."""
    loop = source.innermost_loop(line)
    if source.loop_at(line) is None or loop is None:
        return False
    names = {node.id for node in ast.walk(probabilities) if isinstance(node, ast.Name)}
    return not names.isdisjoint(looped_names(loop))


RULE = Rule(_find, of_lines=True)

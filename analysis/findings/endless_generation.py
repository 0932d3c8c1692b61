"""Generation goes on for a fixed number of tokens, whether or not all texts have ended."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import groups
from rlscope.analysis.critical_loop import Loop, states
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import NETWORKS, of_functions
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import Source, source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# Names of the token that ends a text.
_END = re.compile("(^|_)(eo[st]|(end|stop)_token)s?(_(token|id|idx)s?)*$", re.IGNORECASE)
_LEAVES = (ast.Break, ast.Return)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    operations = groups.paths_in(trace, loop.process_id, "generation")
    found = of_functions(trace, loop, NETWORKS, operations)
    if found is None or found.file is None or found.line is None:
        return
    if not _goes_on(source_of(trace, found.file), found.line):
        return
    rows = states(trace, loop).to_dicts()
    generated_ns = sum(row["duration_ns"] for row in rows if row["operation"] in operations)
    yield Finding(
        title="texts have a token that ends them, and are written on after it: generation takes "
        f"{share(generated_ns, loop.loop_ns)} of the loop",
        evidence="The loop that writes them always goes through all of its passes.",
        evidence_sql=found.evidence_sql,
        fix="Leave the loop once all texts have ended: if ended.all(): break.",
        no_effect="No effect where one of the texts is nearly always as long as it may be.",
        # Nobody counted the tokens after the end.
        price=Price(0.3 * generated_ns, 0, 0.8 * generated_ns),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


def _goes_on(source: Source, line: int) -> bool:
    """Whether a line stands in a `for` that nothing leaves, in a function that knows the token."""
    loop, function = source.innermost_loop(line), source.function_node(line)
    if function is None or not isinstance(loop, ast.For):
        return False
    if source.loop_at(line) is None or any(isinstance(node, _LEAVES) for node in ast.walk(loop)):
        return False
    names = (getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(function))
    return any(map(_END.search, names))


RULE = Rule(_find)

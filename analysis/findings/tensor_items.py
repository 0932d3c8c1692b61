"""A loop writes single numbers into a tensor, where an array takes them far quicker."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, share
from rlscope.analysis import brief_calls, statement, verdicts
from rlscope.analysis.costly_lines import costly_lines
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.source_code import Source, name_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_WRITES = ":TensorBase.__setitem__"
# What a loop may call that does nothing but fill a tensor.
_PLAIN = frozenset("abs enumerate float int items len max min range reversed zip".split())


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for line in costly_lines(trace, loop):
        if not fills(line.source, line.row["line"]):
            continue
        asked = brief_calls.asked(trace, loop, line.row["operation"])
        rows = statement.run(trace, brief_calls.STATEMENT, **asked).to_dicts()
        for row in rows:
            is_write = row["function"].endswith(_WRITES)
            if is_write and verdicts.is_most(row["duration_ns"], line.time.saving_ns):
                yield Finding(
                    title="a loop writes single numbers into tensors, for "
                    f"{share(line.time.saving_ns, loop.loop_ns)} of the training loop",
                    evidence=f"{count(row['calls'])} calls of {row['function']} in "
                    f"{line.row['operation']}: each takes longer than its number.",
                    evidence_sql=statement.shown(brief_calls.STATEMENT, **asked),
                    fix="Fill an array of NumPy, and convert it once: torch.from_numpy. Or write "
                    "all numbers at once, by a list of their places.",
                    no_effect="Little effect where each write is of a large part.",
                    price=line.time.part(0.5, 0.85, 1.0),
                    operation=line.row["operation"],
                    file=line.row["file"],
                    line=line.row["line"],
                )


def fills(source: Source, line: int) -> bool:
    """Whether a line writes an entry in a loop that does nothing else: for c in coins: g[c] = 1."""
    loop = source.innermost_loop(line)
    if not isinstance(loop, ast.For) or source.loop_at(line) is None:
        return False
    writes = any(
        isinstance(target, ast.Subscript) and node.lineno == line
        for node in ast.walk(loop)
        if isinstance(node, (ast.Assign, ast.AugAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    )
    calls = (node for node in ast.walk(loop) if isinstance(node, ast.Call))
    return writes and all(name_of(call.func) in _PLAIN for call in calls)


RULE = Rule(_find, of_lines=True)

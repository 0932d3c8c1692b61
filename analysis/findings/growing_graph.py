"""A backward goes through the graphs of all former updates, too, because nothing cuts them off."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, duration, share
from rlscope.analysis import learning_verdicts, statement
from rlscope.analysis.costly_lines import costly_lines
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.source_code import Source, name_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_GROWTH = "findings/operation_growth"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for line in costly_lines(trace, loop):
        row, time = line.row, line.time
        if not _keeps_graph(line.source, row["line"]):
            continue
        asked = {"process_id": loop.process_id, "operation": row["operation"]}
        (growth,) = statement.run(trace, _GROWTH, **asked).to_dicts() or ({},)
        if not learning_verdicts.is_graph_growing(growth):
            continue
        quarters = growth["quarter_ns"]
        beyond = 1 - growth["first_ns"] * len(quarters) / sum(quarters)
        yield Finding(
            title="backwards go through ever more of former updates, for "
            f"{share(time.saving_ns, loop.loop_ns)} of the loop",
            evidence=f"The line keeps the graph (retain_graph). {row['operation']} has "
            f"{count(growth['entries'])} entries: those of the first quarter take "
            f"{duration(quarters[0])} each, and those of the last one {duration(quarters[-1])}.",
            evidence_sql=statement.shown(_GROWTH, **asked),
            fix="Detach what the next update begins with, such as a hidden state: h = h.detach(). "
            "Then retain_graph is not needed.",
            no_effect="No effect where later updates need gradients of earlier forwards.",
            price=time.part(0.9 * beyond, beyond, 1.0),
            operation=row["operation"],
            file=row["file"],
            line=row["line"],
        )
        return


def _keeps_graph(source: Source, line: int) -> bool:
    """Whether a line calls a backward that keeps the graph: loss.backward(retain_graph=True)."""
    for node in source.around(line):
        if isinstance(node, ast.Call) and name_of(node.func) in ("backward", "grad"):
            for given in node.keywords:
                off = isinstance(given.value, ast.Constant) and not given.value.value
                if given.arg == "retain_graph" and not off:
                    return True
    return False


RULE = Rule(_find, of_lines=True)

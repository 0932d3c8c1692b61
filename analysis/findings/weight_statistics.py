"""The loop reads numbers of each weight or gradient of a network, one tensor after the other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import statement
from rlscope.analysis.costly_lines import STATEMENT as LINES
from rlscope.analysis.costly_lines import costly_lines, shown
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import estimate_of
from rlscope.analysis.source_code import Source, name_of
from rlscope.analysis.trained_networks import GIVE_TENSORS

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# What makes numbers of tensors.
_NUMBERS = frozenset(("cpu", "float", "item", "numpy", "tolist"))


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    costly = (line for line in costly_lines(trace, loop) if _reads(line.source, line.row["line"]))
    line = next(costly, None)
    if line is None:
        return
    first = line.row
    rows = statement.run(trace, LINES, process_id=loop.process_id, operations=[]).to_dicts()
    time = estimate_of(
        [row for row in rows if row["file"] == first["file"] and _reads(line.source, row["line"])]
    )
    yield Finding(
        title="reading numbers of all weights or gradients takes "
        f"{share(time.saving_ns, loop.loop_ns)} of the loop",
        evidence="The line goes through the tensors of a network, and makes numbers of each.",
        evidence_sql=shown(loop),
        fix="Read them once in many updates. For the norm of all gradients, use "
        "torch.nn.utils.clip_grad_norm_, which returns it, or torch._foreach_norm.",
        no_effect="No effect where each value is looked at, or decides what comes next.",
        price=time.part(0.6, 0.9, 1.0),
        operation=first["operation"],
        file=first["file"],
        line=first["line"],
    )


def _reads(source: Source, line: int) -> bool:
    """Whether a line is in a loop over the tensors of a network that makes numbers of them:
    sum(p.grad.norm().item() ** 2 for p in net.parameters())."""
    loop = source.innermost_loop(line)
    return loop is not None and _is_over_tensors(loop) and _makes_numbers(loop)


def _is_over_tensors(loop: ast.AST) -> bool:
    overs = (part.iter for part in getattr(loop, "generators", [loop]) if hasattr(part, "iter"))
    return any(
        isinstance(node, ast.Call) and name_of(node.func) in GIVE_TENSORS
        for over in overs
        for node in ast.walk(over)
    )


def _makes_numbers(loop: ast.AST) -> bool:
    """But changes no tensor in place, as what follows another network does."""
    called = {name_of(node.func) for node in ast.walk(loop) if isinstance(node, ast.Call)}
    changes = any(name.endswith("_") and not name.endswith("__") for name in called)
    return not changes and not called.isdisjoint(_NUMBERS)


RULE = Rule(_find, of_lines=True)

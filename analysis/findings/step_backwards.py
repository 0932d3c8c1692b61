"""A loop goes back through one loss after the other, where their sum has the same gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, share
from rlscope.analysis import finding_verdicts, statement, training_lines
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.source_code import Source, name_of, source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/repeated_call"
_BACKWARD = "torch._C:_EngineBase.run_backward"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for row in training_lines.direct(training_lines.backward_lines(trace, loop)):
        lines = _loop_of_losses(source_of(trace, row["file"]), row["line"])
        if lines is None:
            continue
        asked = {
            "process_id": loop.process_id,
            "operations": [row["operation"]],
            "apart": [],
        }
        calls = statement.run(trace, _STATEMENT, **asked).to_dicts()
        backwards = next((each for each in calls if each["function"] == _BACKWARD), None)
        if backwards is None or not finding_verdicts.are_backwards_many(backwards):
            continue
        whole_ns = training_lines.whole_ns(trace, loop, row, lines)
        time = training_lines.time_of([row])
        time = time.times(whole_ns / time.saving_ns).within(loop.loop_ns)
        yield Finding(
            title="learning goes back through one loss after the other, for "
            f"{share(time.saving_ns, loop.loop_ns)} of the loop",
            evidence=f"{count(backwards['calls'])} backwards in {count(backwards['entries'])} "
            "updates: no pass of the loop around the line steps an optimizer.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Put what the losses are made of into tensors, by torch.stack, and go back once "
            "through the sum of all losses: it has the same gradients.",
            no_effect="Little effect where each loss is that of a large batch. All graphs are in "
            "memory at one time.",
            # What stays goes back through the same networks.
            price=time.part(0.3, 0.55, 0.9),
            operation=row["operation"],
            file=row["file"],
            line=row["line"],
        )
        return


def _loop_of_losses(source: Source, line: int) -> range | None:
    """The lines of the loop around a backward, if none of its passes changes a network."""
    loop = source.innermost_loop(line)
    if source.loop_at(line) is None or not isinstance(loop, ast.For) or _steps(loop):
        return None
    return range(loop.lineno, (loop.end_lineno or loop.lineno) + 1)


def _steps(loop: ast.AST) -> bool:
    calls = [node for node in ast.walk(loop) if isinstance(node, ast.Call)]
    return any(name_of(call.func) in ("step", "zero_grad") for call in calls)


RULE = Rule(_find, of_lines=True)

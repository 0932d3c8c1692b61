"""A backward goes through a target network, which no optimizer trains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import network_times, statement, training_lines
from rlscope.analysis.backward_networks import Backward, targets_at
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import estimate_of
from rlscope.analysis.own_loops import operations_in
from rlscope.analysis.source_code import source_of
from rlscope.analysis.trained_networks import LINES, Optimizers

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_COPIES = "load_state_dict"
# How far the part may be off that it has of the backward. Its forward records no graph either.
_ENDS = (0.5, 0.9, 1.4)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    rows = training_lines.backward_lines(trace, loop)
    pattern = f"{LINES}|{_COPIES}"
    files = statement.run(trace, "findings/own_file", pattern=pattern)["file"] if rows else ()
    trees = [source_of(trace, file).tree for file in files]
    optimizers = Optimizers([tree for tree in trees if tree is not None])
    for row in rows:
        backward = targets_at(optimizers, source_of(trace, row["file"]), row["line"])
        backward = backward and _with_gradients(trace, loop, row["file"], backward)
        if backward is None:
            continue
        time = estimate_of([{**row, "own_ns": row["total_ns"]}])
        names = " and ".join(backward.names)
        yield Finding(
            title=f"the backward of {backward.loss} goes through {names}, which no optimizer "
            "trains",
            evidence=f"It takes {share(row['total_ns'], loop.loop_ns)} of the loop. {names} gets "
            "the weights of another network, and is given nothing that a trained one made.",
            evidence_sql=training_lines.backwards_shown(trace, loop),
            fix=f"Call {names} in a block of torch.no_grad(), or detach what it returns.",
            no_effect="Other results where its weights are trained after all.",
            price=time.part(*_part(trace, loop, row["file"], backward)),
            operation=row["operation"],
            file=row["file"],
            line=backward.unfrozen[0].lines[0],
        )


def _with_gradients(trace: Trace, loop: Loop, file: str, backward: Backward) -> Backward | None:
    """With the calls of targets that the program makes with gradients, as their operation tells: a
    caller may have turned them off, and a branch may never run. None: there are none."""
    called = {
        call: {
            path.rpartition("/")[2]
            for path in operations_in(trace, loop, file, (call.lines[0], call.lines[-1]))
        }
        for call in backward.unfrozen
    }
    if any(names & training_lines.WITHOUT_BACKWARD for names in called.values()):
        return None
    ran = tuple(call for call, names in called.items() if names)
    return replace(backward, unfrozen=ran) if ran else None


def _part(trace: Trace, loop: Loop, file: str, backward: Backward) -> tuple[float, float, float]:
    """The part of the backward that goes through the targets: that of their forwards, or if these
    are not known that of their number."""
    part = network_times.of_backward(trace, loop, file, backward)
    if part is None:
        targets, trained = len(backward.unfrozen), len(backward.trained)
        part = targets / (targets + trained)
    low, value, high = (min(part * each, 1) for each in _ENDS)
    return low, value, high


RULE = Rule(_find, of_lines=True)

"""A loop sends the tensors of a network to other processes, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import plural, share
from rlscope.analysis import statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import FunctionTime, of_functions
from rlscope.analysis.prices import exact

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# What PyTorch does for each tensor that a process gives another one.
_SENDS = (r".*/torch/multiprocessing/reductions\.py:reduce_\w+",)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    found = of_functions(trace, loop, _SENDS)
    if found is None:
        return
    sent_ns = _sent_ns(trace, loop, found)
    # If the loop waits for processes, they take longer to read than it takes to send.
    part = (0.7, 2.2, 3.5) if loop.waited_ns else (0.5, 0.9, 1.0)
    yield Finding(
        title=f"sending tensors to other processes takes {share(sent_ns, loop.loop_ns)} of the "
        f"loop{', and reading them takes longer' if loop.waited_ns else ''}",
        evidence=f"{found.readings} readings of the loop's stack lie in PyTorch's functions that "
        f"send a tensor, called from {plural(len(found.places), 'line')} of the program. Each "
        "tensor takes a file or a descriptor of its own.",
        evidence_sql=found.evidence_sql,
        fix="Share the memory of the network once (net.share_memory()), and copy new weights into "
        "it. Or send them less often, as one flat array of NumPy.",
        no_effect="Little effect where a process has much other work with what it gets.",
        price=exact(sent_ns).part(*part).within(loop.loop_ns),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


def _sent_ns(trace: Trace, loop: Loop, found: FunctionTime) -> float:
    """Time of the lines that send, with waits."""
    sent_ns = 0.0
    for file in {file for file, _ in found.places}:
        asked = {"process_id": loop.process_id, "file": file}
        rows = statement.run(trace, "findings/line_operation", **asked).to_dicts()
        sent_ns += sum(row["total_ns"] for row in rows if (file, row["line"]) in found.places)
    return sent_ns


RULE = Rule(_find)

"""Tensors are made of long lists, whose numbers PyTorch reads one by one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from rlscope.amounts import duration, plural, share
from rlscope.analysis import finding_verdicts, lines, prices, statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.list_code import converts_list
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/host_conversions"
_FUNCTIONS = {
    "torch:tensor": "tensor",
    "torch:as_tensor": "as_tensor",
    "torch:asarray": "asarray",
    "torch:Tensor.__new__": "Tensor",
    "torch:FloatTensor.__new__": "FloatTensor",
    "torch:LongTensor.__new__": "LongTensor",
}
"""What makes tensors of lists, and how a program calls it."""


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {
        "process_id": loop.process_id,
        "functions": sorted(_FUNCTIONS),
        "simulation": [],
    }
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    for operation, of_operation in groupby(rows, key=lambda row: str(row["operation"])):
        called = [*of_operation]
        calls, took_ns = (sum(row[name] for row in called) for name in ("calls", "self_ns"))
        if not finding_verdicts.are_conversions_long(took_ns, calls):
            continue
        found = _lines(trace, loop, operation)
        time = Price(0, 0, 0)
        for line in found:
            time = time.plus(prices.of_estimate(line))
        time = time.times(min(1, took_ns / time.saving_ns)) if time.saving_ns else time
        if not verdicts.is_line_costly(time.saving_ns, loop.loop_ns):
            continue
        yield Finding(
            title=f"tensors are made of long lists, for {share(time.saving_ns, loop.loop_ns)} of "
            "the loop",
            evidence=f"{plural(calls, 'conversion')} take {duration(took_ns / calls)} each. "
            "PyTorch reads the numbers of a list one by one.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Make an array of the list first, or fill one: torch.from_numpy(np.array(states, "
            "np.float32)).",
            no_effect="Little effect on lists of a few numbers.",
            price=time.part(0.6, 0.85, 0.95),
            operation=None if operation == "(none)" else operation,
            **lines.place_of(found),
        )


def _lines(trace: Trace, loop: Loop, operation: str) -> list[dict[str, object]]:
    """The lines of the operation that make tensors of lists, the hottest first."""
    names = frozenset(_FUNCTIONS.values())
    rows = lines.operation_lines(
        trace, process_id=loop.process_id, operation=operation, layers=("framework",)
    )
    return [row for row in rows if converts_list(source_of(trace, row["file"]), row["line"], names)]


RULE = Rule(_find)

"""Tensors are made of long lists, whose numbers PyTorch reads one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import duration, plural, share
from rlscope.analysis import finding_verdicts, lines, prices, statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.list_code import converts_list
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# np.array wins 87 % of a list of arrays, 65 % of one of Python's numbers, and nothing of one of
# NumPy's float64 that becomes float32.
_PART = (0.2, 0.7, 0.95)
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
    asked = {"process_id": loop.process_id, "functions": sorted(_FUNCTIONS), "simulation": []}
    rows = [
        row
        for row in statement.run(trace, _STATEMENT, **asked).to_dicts()
        if finding_verdicts.are_conversions_long(row["self_ns"], row["calls"])
    ]
    calls, took_ns = (sum(row[name] for row in rows) for name in ("calls", "self_ns"))
    found = _lines(trace, loop, [row["operation"] for row in rows])
    time = Price(0, 0, 0)
    for line in found:
        time = time.plus(prices.of_estimate(line))
    if not verdicts.is_line_costly(time.saving_ns, loop.loop_ns):
        return
    yield Finding(
        title=f"tensors are made of long lists, for {share(time.saving_ns, loop.loop_ns)} of the "
        "loop",
        evidence=f"{plural(calls, 'conversion')} take {duration(took_ns / calls)} each. PyTorch "
        "reads the numbers of a list one by one.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Make an array of the list first, or fill one: torch.from_numpy(np.array(states, "
        "np.float32)).",
        no_effect="Little effect on lists of a few numbers.",
        price=time.times(min(1, took_ns / time.saving_ns)).part(*_PART),
        operation=rows[0]["operation"],
        **lines.place_of(found),
    )


def _lines(trace: Trace, loop: Loop, operations: Sequence[str]) -> list[dict[str, Any]]:
    """The lines of some operations that make tensors of lists, the hottest first."""
    names = frozenset(_FUNCTIONS.values())
    asked: dict[str, Any] = {"process_id": loop.process_id, "layers": ("framework",)}
    rows = [
        row
        for operation in dict.fromkeys(operations)
        for row in lines.operation_lines(trace, **asked, operation=operation)
        if converts_list(source_of(trace, row["file"]), row["line"], names)
    ]
    return sorted(rows, key=lambda row: -row["own_ns"])


RULE = Rule(_find)

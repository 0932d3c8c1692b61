"""Tensors that are made of Python's numbers, or turned into them, one by one in each step."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration, plural
from rlscope.analysis import finding_verdicts, groups, lines, prices, statement
from rlscope.analysis.critical_loop import Loop, spread
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price
from rlscope.relations.groups import SIMULATION

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

Row = dict[str, Any]

_COPIES = {"torch:tensor": r"\btensor\("}
_TO_TENSOR = {"torch:as_tensor": r"\bas_tensor\(", "torch:asarray": r"\basarray\("}
_FROM_TENSOR = {
    "torch._C:TensorBase.item": r"\.item\(",
    "torch._C:TensorBase.tolist": r"\.tolist\(",
    "torch._C:TensorBase.numpy": r"\.numpy\(",
    "torch._C:TensorBase.cpu": r"\.cpu\(",
    "torch._C:TensorBase.__int__": r"\bint\(",
    "torch._C:TensorBase.__float__": r"\bfloat\(",
}
_CONVERSIONS = {**_COPIES, **_TO_TENSOR, **_FROM_TENSOR}
"""Functions that convert, and how a line that calls them looks."""
_BESIDE = frozenset(
    "append array cat detach enumerate from_numpy len list range squeeze stack to tuple unsqueeze"
    " view zip".split()
)
"""What else a line calls that does nothing but convert."""
_CALL = re.compile(r"(\w+)\(")
# A conversion of an array to a tensor that shares its memory, as torch.from_numpy makes it. Below,
# what a value costs that is collected in a list or an array.
_CHEAPEST_NS = 2_000
_COLLECTED_NS = 500


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {
        "process_id": loop.process_id,
        "functions": sorted(_CONVERSIONS),
        "simulation": groups.paths_in(trace, loop.process_id, SIMULATION),
    }
    rows = statement.run(trace, "findings/host_conversions", **asked).to_dicts()
    sql = statement.shown("findings/host_conversions", **asked)
    for operation, of_operation in groupby(rows, key=lambda row: str(row["operation"])):
        avoidable = _avoidable([*of_operation])
        calls = sum(row["calls"] for row in avoidable)
        found = _lines(trace, loop, operation, avoidable)
        if found and finding_verdicts.is_conversion_frequent(calls, loop.iterations):
            yield Finding(
                title=_title(avoidable, calls),
                evidence=_evidence(avoidable, calls, loop.iterations),
                evidence_sql=sql,
                fix="Collect values in a list or an array, and convert them once an iteration; "
                "torch.from_numpy copies nothing.",
                no_effect="No effect where a GPU has a queue of work: the call only waits for it.",
                price=_price(trace, loop, operation, avoidable, found),
                operation=operation,
                **lines.place_of(found),
            )


def _avoidable(rows: Sequence[Row]) -> list[Row]:
    """The rows of an operation without what a step needs: one observation to a tensor that copies
    nothing, and one action from a tensor."""
    left = {False: rows[0]["steps"], True: rows[0]["steps"]}
    avoidable = []
    for row in rows:
        back = row["function"] in _FROM_TENSOR
        needed = 0 if row["function"] in _COPIES else min(left[back], row["calls"])
        left[back] -= needed
        if more := row["calls"] - needed:
            avoidable.append(
                {**row, "calls": more, "self_ns": row["self_ns"] * more / row["calls"]}
            )
    return avoidable


def _lines(trace: Trace, loop: Loop, operation: str, rows: Sequence[Row]) -> list[Row]:
    """The lines of the operation that convert, the hottest first."""
    patterns = [_CONVERSIONS[row["function"]] for row in rows]
    return [
        line
        for line in lines.operation_lines(trace, process_id=loop.process_id, operation=operation)
        if line["text"] and any(re.search(each, line["text"]) for each in patterns)
    ]


def _title(rows: Sequence[Row], calls: int) -> str:
    names = ", ".join(re.split("[.:]", row["function"])[-1] for row in rows)
    return f"{plural(calls, 'small conversion')} ({names}) are made one by one"


def _evidence(rows: Sequence[Row], calls: int, iterations: int) -> str:
    took_ns = sum(row["self_ns"] for row in rows)
    often = f"{count(round(calls / iterations))} in an iteration, {duration(took_ns / calls)} each"
    return f"{often}, {duration(took_ns)} in all. The price has the Python around them, too."


def _price(
    trace: Trace, loop: Loop, operation: str, rows: Sequence[Row], found: Sequence[Row]
) -> Price:
    """Lines that do nothing else, and the calls of other lines, without what is left: for a copy
    in each step a conversion without one, and for each other call a value that is collected."""
    pure = {(each["file"], each["line"]) for each in found if _is_pure(each["text"])}
    inside = _time_of(trace, loop, pure, "framework")
    others_ns = max(sum(row["self_ns"] for row in rows) - inside.saving_ns, 0)
    whole = prices.of_spread(spread(trace, loop, operation=operation))
    part = min(others_ns / whole.saving_ns, 1) if whole.saving_ns else 0
    calls = sum(row["calls"] for row in rows)
    copies = sum(row["calls"] for row in rows if row["function"] in _COPIES)
    steps = min(rows[0]["steps"], copies)
    left_ns = steps * _CHEAPEST_NS + (calls - steps) * _COLLECTED_NS
    return (
        whole.times(part)
        .plus(inside)
        .plus(_time_of(trace, loop, pure, "python"))
        .less(Price(left_ns, left_ns / 2, 2 * left_ns))
    )


def _time_of(trace: Trace, loop: Loop, places: Container[tuple[str, int]], layer: str) -> Price:
    """Time of lines in a layer, in all operations: one that begins with the call has none of what
    the line does before."""
    time = Price(0, 0, 0)
    for line in lines.operation_lines(trace, process_id=loop.process_id, layers=(layer,)):
        if (line["file"], line["line"]) in places:
            time = time.plus(prices.of_estimate(line))
    return time


def _is_pure(text: str) -> bool:
    """Whether a line calls nothing but conversions, and what goes with them."""
    return all(
        name in _BESIDE or any(re.search(each, f".{name}(") for each in _CONVERSIONS.values())
        for name in _CALL.findall(text)
    )


RULE = Rule(_find)

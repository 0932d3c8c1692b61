"""Python loops over elements of tensors, or over small tensors, with an operator for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration, share
from rlscope.analysis import statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import estimate_of
from rlscope.analysis.source_code import Source, source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

Row = Mapping[str, Any]
_STATEMENT = "findings/tensor_loop"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    for lines in _loops(trace, rows):
        first = lines[0]
        if not verdicts.is_looped(first["calls"], first["entries"], first["duration_ns"]):
            continue
        time = estimate_of(lines)
        yield Finding(
            title=f"a Python loop over tensors takes {share(time.saving_ns, loop.loop_ns)} of the "
            "loop",
            evidence=f"{count(first['calls'])} calls of {first['function']} in "
            f"{count(first['entries'])} entries, {duration(first['duration_ns'] / first['calls'])} "
            "each: the call costs more than the arithmetic.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Compute it for all elements at once: one operator on the whole tensor, "
            "torch._foreach_* on the list of tensors, or NumPy for a recursion in time.",
            no_effect="Little effect where each element is large.",
            price=time.part(0.8, 0.92, 1.0),
            operation=first["operation"],
            file=first["file"],
            line=first["line"],
        )


def _loops(trace: Trace, rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Rows of lines that are in one loop, in one operation. Loops in which other operations are
    entered, such as steps of an environment, are the training's own."""
    sources: dict[str, Source] = {}
    found: dict[tuple[str, tuple[int, int], str], list[Row]] = {}
    for row in rows:
        file = row["file"]
        if file not in sources:
            sources[file] = source_of(trace, file)
        place = sources[file].loop_at(row["line"])
        if place is not None:
            found.setdefault((file, place, row["operation"]), []).append(row)
    for (file, place, operation), lines in found.items():
        if any(row["framework_ns"] > 0 for row in lines) and not any(
            other["file"] == file
            and place[0] <= other["line"] <= place[1]
            and other["operation"] not in (operation, "(none)")
            for other in rows
        ):
            yield lines


RULE = Rule(_find)

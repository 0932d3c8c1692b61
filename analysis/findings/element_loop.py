"""Python computes with numbers one after the other, where one operation on an array would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration, share
from rlscope.analysis import finding_verdicts, lines, operations, statement, verdicts
from rlscope.analysis.array_lines import handles_arrays
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import estimate_of, ns_by_file
from rlscope.analysis.own_loops import own_loop
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/element_loop"
# What operations on arrays win of a loop, and of one in another: the passes multiply there.
_PLAIN = (0.25, 0.5, 1.0)
_NESTED = (0.6, 0.9, 1.0)
Row = Mapping[str, Any]


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = lines.asked_of_python_lines(trace, loop.process_id)
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    for of_function in _functions(trace, loop, rows):
        first, time = of_function[0], estimate_of(of_function)
        source = source_of(trace, first["file"])
        computing_ns = sum(
            row["own_ns"]
            for row in of_function
            if source.computes(row["line"]) and not handles_arrays(source, row["line"])
        )
        if not finding_verdicts.are_elements_many(first, time.saving_ns, computing_ns):
            continue
        yield Finding(
            title="a Python loop over numbers takes "
            f"{share(time.saving_ns, loop.loop_ns)} of the loop",
            evidence=f"Python itself takes {duration(time.saving_ns)} in the lines of the loop, "
            f"{_where(first, time.saving_ns)}.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Compute with whole arrays: NumPy does what all passes do in one call. Or compile "
            "the function with Numba.",
            no_effect="Little effect where each pass needs what the one before made.",
            price=time.part(*(_NESTED if _is_nested(trace, of_function) else _PLAIN)),
            operation=first["operation"],
            file=first["file"],
            line=first["line"],
        )


def _where(row: Row, took_ns: float) -> str:
    each = duration(took_ns / row["entries"])
    if row["operation"] == operations.OUTSIDE:
        return f"{operations.where(row['operation'])}, {each} a step"
    return f"in {count(row['entries'])} entries into {row['operation']}, {each} in each"


def _is_nested(trace: Trace, of_function: Sequence[Row]) -> bool:
    """Whether most of the time is in loops of loops."""
    nested_ns = sum(
        row["own_ns"]
        for row in of_function
        if source_of(trace, row["file"]).depth_of(row["line"]) > 1
    )
    return verdicts.is_most(nested_ns, sum(row["own_ns"] for row in of_function))


def _functions(trace: Trace, loop: Loop, rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Rows of lines in loops of one function, in one operation. The loop of the training itself
    is none."""
    found: dict[tuple[str, tuple[int, int] | None, str], list[Row]] = {}
    of_files = ns_by_file(rows)
    for row in rows:
        if not finding_verdicts.is_saving_notable(of_files[row["file"]], loop.loop_ns):
            continue
        source = source_of(trace, row["file"])
        asked = {key: row[key] for key in ("file", "line", "operation")}
        if source.depth_of(row["line"]) and own_loop(trace, loop, **asked) is not None:
            place = row["file"], source.function_at(row["line"]), row["operation"]
            found.setdefault(place, []).append(row)
    yield from found.values()


RULE = Rule(_find, of_lines=True)

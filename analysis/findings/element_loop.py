"""Python computes with numbers one after the other, where one operation on an array would."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration, share
from rlscope.analysis import finding_verdicts, lines, operations, statement, verdicts
from rlscope.analysis.array_lines import handles_arrays
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import estimate_of, ns_by_file
from rlscope.analysis.own_loops import own_loop
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import (
    COMPREHENSIONS,
    SCOPES,
    Source,
    grows_text,
    name_of,
    source_of,
)

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_REDUCTIONS = frozenset(("all", "any", "max", "min", "sum"))
_STATEMENT = "findings/element_loop"
# What operations on arrays win of a loop, and of one in another: the passes multiply there.
_PLAIN = (0.25, 0.5, 1.0)
_NESTED = (0.6, 0.9, 1.0)
# What the calls of NumPy cost that replace a loop in a loop, in an entry of an operation.
_CALLS = Price(5_000, 2_000, 10_000)
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
            if _computes(source, row["line"]) and not handles_arrays(source, row["line"])
        )
        nested = _is_nested(trace, of_function)
        if not finding_verdicts.are_elements_many(
            first, time.saving_ns, computing_ns, nested=nested
        ):
            continue
        price = time.part(*(_NESTED if nested else _PLAIN))
        if nested and first["operation"] != operations.OUTSIDE:
            price = price.less(_CALLS.times(first["entries"])).at_least(0)
        yield Finding(
            title="a Python loop over numbers takes "
            f"{share(time.saving_ns, loop.loop_ns)} of the loop",
            evidence=f"Python itself takes {duration(time.saving_ns)} in the lines of the loop, "
            f"{_where(first, time.saving_ns)}.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Compute with whole arrays: NumPy does what all passes do in one call. Or compile "
            "the function with Numba.",
            no_effect="Little effect where each pass needs what the one before made.",
            price=price,
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
        if _depth_of(source_of(trace, row["file"]), row["line"]) > 1
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
        if _depth_of(source, row["line"]) and own_loop(trace, loop, **asked) is not None:
            place = row["file"], source.function_at(row["line"]), row["operation"]
            found.setdefault(place, []).append(row)
    yield from found.values()


def _depth_of(source: Source, line: int) -> int:
    """In how many `for`s of its function, one in the other, a line is executed again and
    again. Those of a comprehension count, too."""
    depth = 0
    for node in source.around(line):
        if isinstance(node, SCOPES):
            depth = 0
        elif isinstance(node, ast.For):
            depth += line > node.lineno
        elif isinstance(node, COMPREHENSIONS):
            depth += len(node.generators)
    return depth


def _computes(source: Source, line: int) -> bool:
    """Whether a statement in a line does arithmetic, or sums or compares what a comprehension
    gives. One that makes an object of a class does that, and its arguments are nothing
    beside."""
    nodes = [*source.around(line)]
    if any(isinstance(node, ast.Call) and name_of(node.func)[:1].isupper() for node in nodes):
        return False
    if grows_text(source, line):  # rule state_keys speaks of these
        return False
    return any(
        (isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, _OPERATORS))
        or (isinstance(node, ast.Call) and _reduces(node))
        for node in nodes
    )


def _reduces(call: ast.Call) -> bool:
    """Whether a call makes one value of what a comprehension gives: sum(x.cost for x in xs)."""
    return (
        isinstance(call.func, ast.Name)
        and call.func.id in _REDUCTIONS
        and any(isinstance(each, COMPREHENSIONS) for each in call.args)
    )


RULE = Rule(_find, of_lines=True)

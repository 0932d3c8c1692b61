"""A loop computes the same again in each pass, or a function in each call: a list is sorted, say,
that does not change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlscope.amounts import share
from rlscope.analysis import independent_passes, statement, verdicts
from rlscope.analysis.constant_calls import READERS, Constant, Kind, constant_call
from rlscope.analysis.costly_lines import costly_lines, shown
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import estimate_of, ns_by_file
from rlscope.analysis.list_code import passes_of
from rlscope.analysis.prices import exact
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/own_line"
_LINES = "findings/line_operation"


@dataclass(frozen=True)
class _Said:
    """What is done again, how that is known, and when a change wins little."""

    what: str
    why: str = "All that goes into {} is constant, and nothing changes what is made."
    no_effect: str = "Little effect where the line does more than that."


_READING = _Said("text that does not change is read")
_MAKING = _Said("an array that does not change is made")
_CONVERTING = _Said(
    "all of an array that does not change is converted, to take some rows of it,",
    "Nothing in the file changes the array that {} is given.",
    "Other results where another file changes the array.",
)
_TAKING = _Said(
    "an identity matrix is made, to take a row of it,",
    "The size of {} makes all of it, and one number of the row is not 0.",
    "Little effect where the matrix is small.",
)
_SUMMING = _Said(
    "all of an array that does not change is summed up",
    "Nothing in the file changes the array that {} goes through.",
    "Other results where another file changes the array.",
)
_SAID = {
    Kind.MADE: _MAKING,
    Kind.SUMMARY: _SUMMING,
    Kind.CONVERTED: _CONVERTING,
    Kind.IDENTITY: _TAKING,
}


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for line in costly_lines(trace, loop):
        row, time = line.row, line.time
        name = independent_passes.unchanged_call(line.source, row["line"])
        if name is None:
            continue
        yield Finding(
            title=f"a loop calls {name} with the same in each pass, for "
            f"{share(time.saving_ns, loop.loop_ns)} of the training loop",
            evidence="Nothing in that loop changes what the call is given.",
            evidence_sql=shown(loop),
            fix="Call it once, before the loop, and keep the result.",
            no_effect="Little effect where the loop has a few passes.",
            price=time.part(0.4, 0.9, 1.0),
            operation=row["operation"],
            file=row["file"],
            line=row["line"],
        )
        return


def _find_constant(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id, "operations": []}
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    of_files = ns_by_file(rows)
    asked_of = [row for row in rows if verdicts.is_line_costly(of_files[row["file"]], loop.loop_ns)]
    for made in _by_function(trace, asked_of):
        time, (row, first) = estimate_of([each for each, _ in made]), made[0]
        if not verdicts.is_line_costly(time.saving_ns, loop.loop_ns):
            continue
        said = _said(first)
        yield Finding(
            title=f"{said.what} again in each call, for {share(time.saving_ns, loop.loop_ns)} of "
            "the training loop",
            evidence=said.why.format(first.name),
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Make it once, before the loop, and keep it.",
            no_effect=said.no_effect,
            price=time.part(*_won([constant for _, constant in made])),
            operation=row["operation"],
            file=row["file"],
            line=row["line"],
        )


def _said(constant: Constant) -> _Said:
    return _READING if constant.name in READERS else _SAID[constant.kind]


def _won(made: Sequence[Constant]) -> tuple[float, float, float]:
    """Which part of the time of lines a change wins: at least, likely and at most."""
    part = min(constant.part for constant in made)
    if part < 1:
        return 0.0, part, 1.0
    return 0.9 if all(constant.is_all for constant in made) else 0.5, 0.97, 1.0


def _find_function(trace: Trace, loop: Loop) -> Iterator[Finding]:
    """What all passes of a loop but one take, that call a function of the file with the same."""
    for file in statement.run(trace, "findings/own_file", pattern="")["file"]:
        asked = {"process_id": loop.process_id, "file": file}
        for row in statement.run(trace, _LINES, **asked).to_dicts():
            if not verdicts.is_line_costly(row["total_ns"], loop.loop_ns):
                continue
            source = source_of(trace, file)
            name = independent_passes.unchanged_function(source, row["line"])
            if name is None:
                continue
            time, passes = exact(row["total_ns"]), passes_of(source, row["line"])
            price = time.part(0.3, 0.5, 1.0)
            if passes is not None:
                price = time.part(0.8, 0.95, 1.0).times(1 - 1 / passes)
            yield Finding(
                title=f"a loop calls {name} with the same in each pass, for "
                f"{share(row['total_ns'], loop.loop_ns)} of the training loop",
                evidence="The function computes with what it is given alone, and nothing in that "
                "loop changes this.",
                evidence_sql=statement.shown(_LINES, **asked),
                fix="Call it once, before the loop, and keep the result.",
                no_effect="Little effect where the loop has a few passes.",
                price=price,
                operation=row["operation"],
                file=file,
                line=row["line"],
            )
            return


def _by_function(
    trace: Trace, rows: Sequence[Mapping[str, Any]]
) -> Iterator[list[tuple[Mapping[str, Any], Constant]]]:
    """Rows of the lines of one function that make what does not change, and what they make."""
    found: dict[tuple[str, tuple[int, int] | None], list[tuple[Mapping[str, Any], Constant]]] = {}
    for row in rows:
        source = source_of(trace, row["file"])
        constant = constant_call(source, row["line"])
        if constant is not None:
            place = row["file"], source.function_at(row["line"])
            found.setdefault(place, []).append((row, constant))
    yield from found.values()


def _find_any(trace: Trace, loop: Loop) -> Iterator[Finding]:
    yield from _find(trace, loop)
    yield from _find_constant(trace, loop)
    yield from _find_function(trace, loop)


RULE = Rule(_find_any, of_lines=True)

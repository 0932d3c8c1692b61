"""A loop computes the same again in each pass, or a function in each call: a list is sorted, say,
that does not change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import share
from rlscope.analysis import independent_passes, statement, verdicts
from rlscope.analysis.constant_calls import constant_call, is_all_of
from rlscope.analysis.costly_lines import costly_lines, shown
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import estimate_of, ns_by_file
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/own_line"


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
    for lines in _by_function(trace, asked_of):
        time, row = estimate_of(lines), lines[0]
        if not verdicts.is_line_costly(time.saving_ns, loop.loop_ns):
            continue
        source = source_of(trace, row["file"])
        name = constant_call(source, row["line"])
        is_all = all(is_all_of(source, each["line"]) for each in lines)
        yield Finding(
            title="arrays that are the same in each call are made again for "
            f"{share(time.saving_ns, loop.loop_ns)} of the training loop",
            evidence=f"All that {name} is given is constant, and nothing changes the array.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Make them once, before the loop, and keep them.",
            no_effect="Little effect where the line does more than that.",
            price=time.part(0.9 if is_all else 0.5, 0.97, 1.0),
            operation=row["operation"],
            file=row["file"],
            line=row["line"],
        )


def _by_function(
    trace: Trace, rows: Sequence[Mapping[str, Any]]
) -> Iterator[list[Mapping[str, Any]]]:
    """Rows of the lines of one function that make a constant array."""
    found: dict[tuple[str, tuple[int, int] | None], list[Mapping[str, Any]]] = {}
    for row in rows:
        source = source_of(trace, row["file"])
        if constant_call(source, row["line"]) is not None:
            found.setdefault((row["file"], source.function_at(row["line"])), []).append(row)
    yield from found.values()


def _find_any(trace: Trace, loop: Loop) -> Iterator[Finding]:
    yield from _find(trace, loop)
    yield from _find_constant(trace, loop)


RULE = Rule(_find_any, of_lines=True)

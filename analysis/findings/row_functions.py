"""Functions of NumPy are called for one row after the other, where one call takes all rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from rlscope.amounts import plural, share
from rlscope.analysis import independent_passes, statement, verdicts
from rlscope.analysis.costly_lines import CostlyLine, costly_lines
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import NETWORKS, estimate_of, of_functions
from rlscope.analysis.own_loops import own_loop

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/own_line"
# What calls a function of Python for each row: one library is one row.
_CALLERS = (
    r".*/numpy/lib/_?shape_base(_impl)?\.py:apply_(along_axis|over_axes)",
    r".*/numpy/lib/_?function_base(_impl)?\.py:vectorize\..*",
)
_FIX = "Give NumPy all rows at once, and say by `axis` along which it goes."
_FIX_ROWS = (
    "Take whole columns (batch.rew, batch.obs[:, 2]) and compute with all rows at once; give a "
    "buffer all rows by one call, such as extend."
)


class _Said(NamedTuple):
    what: str
    """What the loop does for each row."""
    fix: str


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    called = of_functions(trace, loop, _CALLERS)
    if called is not None:
        yield Finding(
            title="NumPy calls a function of Python for one row after the other, for "
            f"{share(called.time.saving_ns, loop.loop_ns)} of the loop",
            evidence=f"{called.readings} readings of the loop's stack lie in apply_along_axis and "
            f"vectorize, called from {plural(len(called.places), 'line')} of the program: they are "
            "loops of Python.",
            evidence_sql=called.evidence_sql,
            fix=_FIX,
            no_effect="No effect where the function has no form for arrays.",
            price=called.time.part(0.5, 0.9, 1.0),
            operation=called.operation,
            file=called.file,
            line=called.line,
        )
    yield from _of_loops(trace, loop)


def _of_loops(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for line in costly_lines(trace, loop):
        row = line.row
        said = _said(trace, loop, line)
        at = {key: row[key] for key in ("file", "line", "operation")}
        around = own_loop(trace, loop, **at) if said is not None else None
        if around is None or said is None:
            continue
        asked = {"process_id": loop.process_id, "operations": [row["operation"]]}
        time = estimate_of(
            [
                each
                for each in statement.run(trace, _STATEMENT, **asked).to_dicts()
                if each["file"] == row["file"] and around.first <= each["line"] <= around.last
            ]
        )
        yield Finding(
            title=f"a loop {said.what} for one row after the other, for "
            f"{share(time.saving_ns, loop.loop_ns)} of the training loop",
            evidence="No pass of that loop needs what an earlier one made. The time is that of all "
            "lines of the loop.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix=said.fix,
            no_effect="Little effect where there are few rows, or each is large.",
            price=time.part(0.3, 0.85, 1.0),
            operation=row["operation"],
            file=row["file"],
            line=row["line"],
        )
        return


def _said(trace: Trace, loop: Loop, line: CostlyLine) -> _Said | None:
    place = {"file": line.row["file"], "line": line.row["line"]}
    name = independent_passes.function_of_rows(line.source, place["line"])
    if name is not None:
        return _Said(f"calls {name}", _FIX)
    container = independent_passes.row_taken(line.source, place["line"])
    if container is None:
        return None
    asked = {"process_id": loop.process_id, **place}
    (row,) = statement.run(trace, "findings/line_library", **asked).to_dicts()
    networks = of_functions(trace, loop, NETWORKS)
    leads = networks is not None and (place["file"], place["line"]) in networks.places
    if leads or not verdicts.is_most(row["library_ns"], row["own_ns"]):
        return None
    return _Said(f"calls a library with {container}[...]", _FIX_ROWS)


RULE = Rule(_find, of_lines=True)

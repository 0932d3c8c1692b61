"""A line makes a whole container anew, to change a part of it, or goes through all of it for each
new item."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlscope.amounts import duration, share
from rlscope.analysis import finding_verdicts, line_verdicts, statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.environment_steps import step_count
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import (
    LOGGING_LIBRARIES,
    estimate_of,
    ns_by_file,
    time_of_functions,
)
from rlscope.analysis.kept_containers import (
    moved_list,
    reader_of_kept,
    searched_list,
    sorted_queue,
)
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import Source, name_of, source_of, variables

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/own_line"
# Functions of NumPy and PyTorch whose result is a copy of all that they are given.
_COPIES = frozenset("append cat concatenate delete hstack insert roll stack vstack".split())
# What is won of the time of a copy: it also takes the place of other data in the caches, and the
# memory of former copies is freed and got again.
_OF_COPY = (0.85, 1.1, 1.3)

# What goes through all items of a container: arrays that are made of it, and sums.
_READS = frozenset(
    "array asarray as_tensor concatenate cat fromiter hstack list max mean median min quantile"
    " percentile sorted stack std sum tensor tuple var vstack".split()
)
# Those of them that make an array of the items.
_ARRAYS = frozenset(
    "array asarray as_tensor concatenate cat fromiter hstack list stack tensor tuple vstack".split()
)


@dataclass(frozen=True)
class _Said:
    """What a line does with a whole container, by which function, how that shows, and what does
    without."""

    function: str
    what: str
    why: str
    fix: str
    part: tuple[float, float, float] = (0.85, 0.95, 1.0)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    steps = max(step_count(trace, loop), 1)
    asked = {"process_id": loop.process_id, "operations": []}
    places: dict[tuple[str, int], list[dict[str, Any]]] = {}
    lines = statement.run(trace, _STATEMENT, **asked).to_dicts()
    of_files = ns_by_file(lines)
    for row in lines:
        places.setdefault((row["file"], row["line"]), []).append(row)
    told: set[tuple[str, int]] = set()
    for (file, line), rows in places.items():
        if (file, line) in told or not verdicts.is_line_costly(of_files[file], loop.loop_ns):
            continue
        sums = _read_with(source_of(trace, file), line)
        time = estimate_of([*rows, *(row for each in sums for row in places.get((file, each), ()))])
        if not verdicts.is_line_costly(time.saving_ns, loop.loop_ns):
            continue
        said = _said(source_of(trace, file), line, each_ns=time.saving_ns / steps)
        if said is not None:
            told |= {(file, each) for each in sums}
            operation = str(rows[0]["operation"])
            time = _without_others(trace, loop, time, said.function, operation)
            logging = time_of_functions(trace, loop, LOGGING_LIBRARIES, {(file, line)})
            time = time.less(logging).at_least(0)
            if not verdicts.is_line_costly(time.saving_ns, loop.loop_ns):
                continue
            yield Finding(
                title=f"{said.what}, for {share(time.saving_ns, loop.loop_ns)} of the loop",
                evidence=f"It takes {duration(time.saving_ns)}: {said.why}.",
                evidence_sql=statement.shown(_STATEMENT, **asked),
                fix=said.fix,
                no_effect="Little effect where the buffer is small.",
                price=time.part(*said.part),
                operation=operation,
                file=file,
                line=line,
            )


def _read_with(source: Source, line: int) -> set[int]:
    """Other lines of the function, or of the loop, that read what a line does: those that sum what
    it makes, and those that go through the same container."""
    sums = lines_that_sum(source, line, _READS)
    around = source.function_at(line) or source.loop_at(line)
    if around is None or reader_of_kept(source, line, _READS) is None:
        return sums
    lines = range(around[0], around[1] + 1)
    return sums | {each for each in lines if reader_of_kept(source, each, _READS)} - {line}


def _without_others(trace: Trace, loop: Loop, line: Price, function: str, operation: str) -> Price:
    """A line may do more than its copy: no more than all calls of the function take, if it is one
    of a framework. If these are most of the line, the rest frees the former buffer."""
    asked = {"process_id": loop.process_id, "called": function, "operation": operation}
    (row,) = statement.run(trace, "findings/native_time", **asked).to_dicts()
    if row["self_ns"] is None or verdicts.is_most(row["self_ns"], line.saving_ns):
        return line
    return line.times(row["self_ns"] / line.saving_ns)


def _said(source: Source, line: int, each_ns: float) -> _Said | None:
    """What a line does with a whole container, for so long in each step."""
    copier = copies_itself(source, line, _COPIES)
    if copier is not None:
        why = "its result replaces one of its own arguments"
        fix = "Make room once, and write new rows over the oldest ones."
        return _Said(copier, f"{copier} copies a whole buffer", why, fix, _OF_COPY)
    search = searched_list(source, line) if line_verdicts.is_search_long(each_ns) else None
    if search is not None:
        return _Said(
            search,
            f"a search (`{search}`) goes through a kept list from its start again and again",
            "the list gets more and more items",
            "Keep the items in a set or a dictionary, which find one at once.",
        )
    if not finding_verdicts.is_more_than_an_item(each_ns):
        return None
    queue = sorted_queue(source, line)
    if queue is not None:
        return _Said(
            "sort",
            f"{queue} is sorted again for each item that is taken out of it",
            "the loop takes one item of the list, and puts a few others in",
            "Use heapq: heappush puts an item in, and heappop takes the least one out.",
        )
    moved = moved_list(source, line)
    if moved is not None:
        return _Said(
            moved,
            f"a call of {moved} moves all items of a kept list again and again",
            "the list gets more and more items",
            "Write the newest item over the oldest one, whose number goes round. Or keep the items "
            "in a collections.deque, and use popleft or appendleft.",
        )
    reader = reader_of_kept(source, line, _READS)
    if reader is not None:
        return _Said(
            reader,
            f"a call of {reader} goes through all of a kept container again and again",
            "the container is kept, and a few of its items change in each step",
            "Keep the items in an array or a list that is made once, and write what is new into it."
            if reader in _ARRAYS
            else "Keep the result up to date with each new item, or compute it less often.",
        )
    return None


def copies_itself(source: Source, line: int, functions: Container[str]) -> str | None:
    """Which of some functions makes a value of itself: x = cat([x, y]). None: none does."""
    for node in source.around(line):
        if isinstance(node, ast.Assign):
            targets = {ast.unparse(target) for target in node.targets}
            call = _made_by(node.value)
            if call is not None and name_of(call.func) in functions:
                parts = (part for given in call.args for part in ast.walk(given))
                read = (part for part in parts if isinstance(part, ast.expr))
                if any(ast.unparse(part) in targets for part in read):
                    return name_of(call.func)
    return None


def lines_that_sum(source: Source, line: int, functions: Container[str]) -> set[int]:
    """Other lines of the function that call one of some functions with what a line assigns:
    seen.mean(), np.std(seen)."""
    function = source.function_node(line)
    made = [node for node in source.around(line) if isinstance(node, ast.Assign)]
    names = variables(target for each in made for target in each.targets)
    calls = (node for node in ast.walk(function or ast.Pass()) if isinstance(node, ast.Call))
    return {
        call.lineno
        for call in calls
        if name_of(call.func) in functions
        and variables([getattr(call.func, "value", call.func), *call.args]) & names
    } - {line}


def _made_by(value: ast.expr) -> ast.Call | None:
    """The call that makes a value, if the rest only takes a part of that, or converts it:
    cat([x, y])[-100:].float()."""
    while True:
        if isinstance(value, ast.Subscript):
            value = value.value
        elif not isinstance(value, ast.Call):
            return None
        elif isinstance(value.func, ast.Attribute) and isinstance(
            value.func.value, (ast.Call, ast.Subscript)
        ):
            value = value.func.value
        else:
            return value


RULE = Rule(_find, of_lines=True)

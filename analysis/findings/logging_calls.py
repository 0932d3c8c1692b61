"""The loop logs values for people more often than they are looked at."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import duration, plural, share
from rlscope.analysis import statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import (
    LOGGING_LIBRARIES,
    FunctionTime,
    estimate_of,
    of_functions,
)
from rlscope.analysis.prices import Price, exact
from rlscope.analysis.source_code import Source, name_of, source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/logging_time"
# Those whose writer is a thread.
_WRITERS = (r".*/torch/utils/tensorboard/.*", r".*/tensorboardX/.*")
_SHOWN = "scalar histogram image figure text video"
_LOGGED = (
    "scalar metric stat gradient row step episode epoch event info data dict line train histogram"
    " summary"
)
_WRITTEN = "log scalar metric stat summary row event"
_CLASSES = "Logger SummaryWriter MetricsWriter Telemetry"
# What programs call theirs: a function, or any method of such a class but the one that makes it.
_FUNCTION = re.compile(
    rf"add_({_SHOWN})s?|_?log(_?({_LOGGED})\w*)?|write_?({_WRITTEN})\w*".replace(" ", "|")
)
_BATCHES = re.compile(r"batch|draw|sample")
_METHOD = re.compile(rf"\w*({_CLASSES})\.(?!__init__)\w+".replace(" ", "|"))


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    functions = [*LOGGING_LIBRARIES, *_own(trace, loop)]
    found = of_functions(trace, loop, functions)
    if found is None:
        return
    asked = {"process_id": loop.process_id, "functions": functions}
    lines = sorted(_lines(trace, asked))
    asked |= {"files": [file for file, _ in lines], "lines": [line for _, line in lines]}
    asked |= {"operations": [], "waits": False}
    time = estimate_of(statement.run(trace, _STATEMENT, **asked).to_dicts())
    place, written = _nearest(trace, loop, found), _written_beside(trace, loop)
    yield Finding(
        title=f"logging takes {share(time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{found.readings} readings of the loop's stack lie in functions that log, called "
        f"from {plural(len(found.places), 'line')} of the program. What these lines compute for "
        f"them is counted, too.{_beside(written)}",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Log once in many steps: add values up, and log their means.",
        no_effect="No effect where each value is looked at.",
        price=time.part(0.8, 0.9, 1.0).plus(written).within(loop.loop_ns),
        operation=place.operation,
        file=place.file,
        line=place.line,
    )


def _written_beside(trace: Trace, loop: Loop) -> Price:
    """CPU time of the thread in which TensorBoard's writer makes what it writes, in Python: it has
    the interpreter, or a CPU, meanwhile."""
    asked = {"process_id": loop.process_id}
    (row,) = statement.run(trace, "findings/thread_beside", **asked).to_dicts()
    if row["running_ns"] is None or of_functions(trace, loop, _WRITERS) is None:
        return Price(0, 0, 0)
    return exact(row["running_ns"]).part(0.0, 0.9, 1.0)


def _beside(written: Price) -> str:
    if not written.saving_ns:
        return ""
    return f" The writer's thread works for {duration(written.high_ns)} beside, in Python."


def _nearest(trace: Trace, loop: Loop, found: FunctionTime) -> FunctionTime:
    """Where the program calls a library, if most of its logging is that: a function of its own that
    logs may be given what another one learns."""
    library = of_functions(trace, loop, LOGGING_LIBRARIES)
    if library and verdicts.is_most(library.time.saving_ns, found.time.saving_ns):
        return library
    return found


def _own(trace: Trace, loop: Loop) -> Iterator[str]:
    """Functions of the program's own that log, by their names."""
    asked = {"process_id": loop.process_id}
    for row in statement.run(trace, "findings/own_function", **asked).to_dicts():
        name = row["function"]
        if _METHOD.fullmatch(name) or _FUNCTION.fullmatch(name.rpartition(".")[2]):
            if not _gives_batches(source_of(trace, row["file"]), name):
                yield re.escape(f"{row['file']}:{name}")


def _gives_batches(source: Source, name: str) -> bool:
    """Whether a method is of a class from which learning takes what was logged."""
    owner = name.rpartition(".")[0].rpartition(".")[2]
    return any(
        isinstance(each, ast.FunctionDef) and _BATCHES.search(each.name)
        for node in ast.walk(source.tree or ast.Module([], []))
        if isinstance(node, ast.ClassDef) and node.name == owner
        for each in node.body
    )


def _lines(trace: Trace, asked: dict[str, object]) -> set[tuple[str, int]]:
    """Lines that only log, with what they compute for it."""
    rows = statement.run(trace, "findings/logging_call", **asked).to_dicts()
    names = {row["function"].rpartition(".")[2] for row in rows}
    return {
        (row["file"], line)
        for row in rows
        for line in _lines_of_calls(source_of(trace, row["file"]), row["line"], names)
    }


def _lines_of_calls(source: Source, line: int, names: Container[str]) -> set[int]:
    """Lines of the largest statement around a line that does nothing but call functions of some
    names: a call with what it is given, a loop over such calls, or an `if` around them."""
    for node in source.around(line):
        if isinstance(node, ast.stmt) and _only_calls(node, names):
            return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return set()


def _only_calls(node: ast.stmt, names: Container[str]) -> bool:
    if isinstance(node, ast.Expr):
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        return isinstance(value, ast.Call) and name_of(value.func) in names
    if isinstance(node, (*(ast.For, ast.While), ast.If, ast.With)):
        return all(_only_calls(each, names) for each in (*node.body, *getattr(node, "orelse", ())))
    return False


RULE = Rule(_find)

"""A key or a text is made of a state, item by item."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from rlscope.amounts import share
from rlscope.analysis import lines, statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import of_functions, time_of_line
from rlscope.analysis.source_code import (
    TELLS,
    Source,
    grows_text,
    looped_names,
    name_of,
    source_of,
)

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# What makes a key of items, and what it makes of each.
_MADE_OF_ITEMS = frozenset(("frozenset", "tuple"))
_PLAIN_ITEMS = frozenset(
    "abs bin bool chr float format hash hex int len ord repr round str".split()
)
_TEXTS = frozenset(("dumps", "repr", "str"))
_STATEMENT = "findings/element_loop"
# What writes an array or a tensor for people: str(board), f"{value}".
_WRITERS = (
    r".*/numpy/_?core/arrayprint\.py:.*",
    r".*/torch/_tensor_str\.py:.*",
    r".*/torch/_tensor\.py:Tensor\.(__repr__|__format__)",
)


class _Made(NamedTuple):
    """What is said of how a key is made, and the part of the line that another key wins."""

    said: str
    part: tuple[float, float, float]


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    written = of_functions(trace, loop, _WRITERS)
    if written is not None:
        yield Finding(
            title="arrays and tensors are written as text for "
            f"{share(written.time.saving_ns, loop.loop_ns)} of the loop",
            evidence=f"{written.readings} readings of the loop's stack lie in what NumPy or "
            "PyTorch writes for people.",
            evidence_sql=written.evidence_sql,
            fix="If the text is a key, use array.tobytes(). If it is for a log, let that make it: "
            "log.debug('%s', x) makes none below its level. Else write it less often.",
            no_effect="Other keys for arrays of other types or shapes that look alike.",
            price=written.time.part(0.85, 0.97, 1.0),
            operation=written.operation,
            file=written.file,
            line=written.line,
        )
    asked = lines.asked_of_python_lines(trace, loop.process_id)
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    for first in rows:
        if not verdicts.is_line_costly(first["own_ns"], loop.loop_ns):
            return
        made = _how_made(source_of(trace, first["file"]), first["line"])
        if made is not None:
            time = time_of_line(rows, first)
            yield Finding(
                title="a key or a text is made item by item, for "
                f"{share(time.saving_ns, loop.loop_ns)} of the loop",
                evidence=f"The line {made.said}.",
                evidence_sql=statement.shown(_STATEMENT, **asked),
                fix="If the items are an array's, use array.tobytes() as the key. Else keep the "
                "key beside the state, and change it with it.",
                no_effect="Little effect where the state has a few items.",
                price=time.part(*made.part),
                operation=first["operation"],
                file=first["file"],
                line=first["line"],
            )
            return


def _how_made(source: Source, line: int) -> _Made | None:
    """How a line makes a key or a text; None: it makes none."""
    if writes_list(source, line):
        return _Made("writes a list of all items as text", (0.85, 0.97, 1.0))
    if joins_items(source, line):
        return _Made("joins what a comprehension, or map, makes of each item", (0.6, 0.92, 1.0))
    if source.loop_at(line) is not None and grows_text(source, line):
        return _Made("appends each item to a text", (0.5, 0.8, 1.0))
    return None


def writes_list(source: Source, line: int) -> bool:
    """Whether a line makes a text of an array's list: str(frame.tolist()). One that is printed or
    written is none."""
    texts = (
        node
        for node in source.around(line)
        if isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Call) and name_of(node.func) in _TEXTS)
    )
    return not _is_told(source, line) and any(
        isinstance(part, ast.Call) and name_of(part.func) == "tolist"
        for text in texts
        for part in ast.walk(text)
    )


def joins_items(source: Source, line: int) -> bool:
    """Whether a line makes one value of what a comprehension or map makes of each item, as a
    key is made: "".join(str(cell) for cell in row), tuple(map(int, state)). A text that is
    printed or written is none."""
    calls = (node for node in source.around(line) if isinstance(node, ast.Call))
    return not _is_told(source, line) and any(map(_joins, calls))


def _is_told(source: Source, line: int) -> bool:
    return any(
        isinstance(node, (ast.Raise, ast.Assert))
        or (isinstance(node, ast.Call) and name_of(node.func) in TELLS)
        for node in source.around(line)
    )


def _joins(call: ast.Call) -> bool:
    owner = getattr(call.func, "value", None)
    joins = isinstance(owner, ast.Constant) and name_of(call.func) == "join"
    if not joins and getattr(call.func, "id", "") not in _MADE_OF_ITEMS:
        return False
    return any(map(_makes_plain_items, call.args))


def _makes_plain_items(value: ast.expr) -> bool:
    """Whether a comprehension, or map, makes numbers, texts or parts of its items: no tensors."""
    if isinstance(value, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
        names = {part.id for part in ast.walk(value.elt) if isinstance(part, ast.Name)}
        if not names & looped_names(value):  # as many of one thing
            return False
        calls = [part.func for part in ast.walk(value.elt) if isinstance(part, ast.Call)]
    elif isinstance(value, ast.Call) and name_of(value.func) == "map":
        calls = list(value.args[:1])
    else:
        return False
    return all(getattr(each, "id", "") in _PLAIN_ITEMS for each in calls)


RULE = Rule(_find, of_lines=True)

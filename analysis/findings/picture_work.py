"""Pictures are made smaller or gray in each step, before the policy sees them."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import finding_verdicts, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import estimate_of, of_functions
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import Source, source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# Functions of libraries in Python: one library is one row.
_FUNCTIONS = (
    r".*/skimage/.*:(downscale_local_mean|rescale|resize|rgb2gray)",
    r".*/torchvision/transforms/.*:(.*\.)?(Grayscale|Resize|resize|rgb_to_grayscale)(\..*)?",
    r".*/PIL/Image\.py:Image\.(convert|reduce|resize|thumbnail)",
    r".*/scipy/ndimage/.*:zoom",
    r".*/gym(nasium)?/wrappers/.*:.*(Gray[Ss]cale|Resize)Observation.*",
)
# Functions of OpenCV, which are C, by their names in lines of the program.
_NAMES = frozenset("cvtColor pyrDown resize warpAffine warpPerspective".split())
_OPENCV = "cv2"
_PLAIN_STATEMENTS = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
_STATEMENT = "findings/own_line"
# Parts of red and green in what eyes see as gray, as people write them.
_RED, _GREEN = (
    frozenset((0.21, 0.2125, 0.2126, 0.2989, 0.299)),
    frozenset((0.587, 0.7152, 0.7154, 0.72)),
)
# What smaller pictures win, and what bytes win of sums in double precision.
_PLAIN = (0.2, 0.5, 0.9)
_FLOATS = (0.4, 0.8, 0.95)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    found = of_functions(trace, loop, _FUNCTIONS)
    asked = {"process_id": loop.process_id, "operations": []}
    inside = found.time if found is not None else Price(0, 0, 0)
    places = found.places if found is not None else frozenset()
    resized, weighed = [], []
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        source, line = source_of(trace, row["file"]), row["line"]
        if (row["file"], line) in places:
            continue
        if _calls_of(source, line, _OPENCV, _NAMES):
            resized.append(row)
        elif _weighs_colours(source, line):
            weighed.append(row)
    rows = [*resized, *weighed]
    if found is None and not finding_verdicts.are_readings_enough(
        sum(row["readings"] for row in rows)
    ):
        return
    plain, floats = inside.plus(estimate_of(resized)), estimate_of(weighed)
    time, price = plain.plus(floats), plain.part(*_PLAIN).plus(floats.part(*_FLOATS))
    lines = {(row["file"], row["line"]): row["own_ns"] for row in rows}
    if found is not None:
        lines[found.file, found.line] = inside.saving_ns
    file, line = max(lines, key=lambda place: lines[place])
    yield Finding(
        title=f"pictures are made smaller or gray for {share(time.saving_ns, loop.loop_ns)} of the "
        "loop",
        evidence="Lines that resize pictures or make them gray, and functions of libraries that "
        "do, are counted.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Drop rows and columns before computing, keep bytes as long as possible, and ask the "
        "environment for small or gray pictures.",
        no_effect="Little effect where the picture is small already.",
        price=price,
        file=file,
        line=line,
    )


def _weighs_colours(source: Source, line: int) -> bool:
    """Whether a statement of a line adds colours up to gray: rgb @ [0.299, 0.587, 0.114]."""
    statements = [node for node in source.around(line) if isinstance(node, _PLAIN_STATEMENTS)]
    written = {
        node.value
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and isinstance(node.value, float)
    }
    return not (_RED.isdisjoint(written) or _GREEN.isdisjoint(written))


def _calls_of(source: Source, line: int, module: str, names: Container[str]) -> bool:
    """Whether a call of one of some names of a module begins in a line: cv2.resize(x)."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func.value) == module
        and node.func.attr in names
        and node.lineno == line
        for node in source.around(line)
    )


RULE = Rule(_find, of_lines=True)

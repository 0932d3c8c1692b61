"""The environment draws a picture in its steps, or the loop asks it to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_rule import of_calls
from rlscope.analysis.function_time import of_functions, time_with_callees
from rlscope.analysis.source_code import Source, name_of, source_of
from rlscope.relations.groups import RENDERING, SIMULATION

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_DRAWS = (
    r"(.*\.)?_?(draw|paint|plot|rasteri[sz]e|render)"
    r"(_(canvas|frame|human|image|picture|rgb|scene|screen|world))?"
)
# Wrappers that give the policy what the environment draws.
_OBSERVING = (r".*/gym(nasium)?/wrappers/.*:.*(Pixel|Render)Observation.*",)
# Functions whose result the policy observes.
_GIVES = re.compile(r"reset|step|_?(get_)?(obs|observation|observe|state)")


def _is_unseen(source: Source, line: int) -> bool:
    """Whether what a line draws is returned by no function around it, nor kept for one that
    returns an observation."""
    function = source.function_node(line)
    statements = [node for node in source.around(line) if isinstance(node, ast.stmt)]
    if function is None or re.fullmatch(_DRAWS, function.name):
        return True
    if isinstance(statements[-1], ast.Return):
        # Information beside the observation has names: {"thumbnail": self.paint()}.
        return isinstance(statements[-1].value, ast.Dict) and not _GIVES.fullmatch(function.name)
    if not isinstance(statements[-1], ast.Assign):
        return True
    kept = {ast.unparse(target) for target in statements[-1].targets}
    return not any(
        ast.unparse(part) in kept
        for node in ast.walk(source.tree or function)
        if isinstance(node, ast.FunctionDef) and (node is function or _GIVES.fullmatch(node.name))
        for given in ast.walk(node)
        if isinstance(given, ast.Return) and given.value
        for part in ast.walk(given.value)
        if isinstance(part, (ast.Name, ast.Attribute))
    )


_CALLS = of_calls(
    # Gymnasium's name of what draws, other usual ones, and libraries that only draw.
    (rf".*:{_DRAWS}", r".*/(pygame|pyglet|matplotlib)/.*", r".*/PIL/ImageDraw\.py:.*"),
    in_groups=(SIMULATION, RENDERING),
    title="the environment draws for",
    what="functions that draw",
    fix="Draw only what is looked at: no render mode in training, or each n-th episode.",
    no_effect="No effect where the picture is what the policy observes.",
    where=_is_unseen,
    part=(0.9, 1.0, 1.0),
)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    if of_functions(trace, loop, _OBSERVING) is not None:
        return
    for found in _CALLS.find(trace, loop):
        yield _with_what_takes_it(trace, loop, found)


def _with_what_takes_it(trace: Trace, loop: Loop, found: Finding) -> Finding:
    """With what the line does with the picture, if it gives that to another function:
    shrink(self.paint())."""
    if found.price is None or found.file is None or found.line is None:
        return found
    source, line = source_of(trace, found.file), found.line
    calls = [node for node in source.around(line) if isinstance(node, ast.Call)]
    is_given = any(
        isinstance(part, ast.Call) and re.fullmatch(_DRAWS, name_of(part.func))
        for call in calls
        for given in call.args
        for part in ast.walk(given)
    )
    line_ns = time_with_callees(trace, loop, found.file, (line,))
    if not is_given or line_ns <= found.price.saving_ns:
        return found
    return replace(
        found,
        title="the environment draws, and changes the picture, for "
        f"{share(line_ns, loop.loop_ns)} of the loop",
        price=found.price.times(line_ns / found.price.saving_ns),
    )


RULE = Rule(_find, of_lines=True)

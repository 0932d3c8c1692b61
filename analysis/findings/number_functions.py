"""Functions of NumPy are called for one number, where Python's own would do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis.costly_lines import costly_lines, shown
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.source_code import Source, name_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_MODULES = frozenset(("np", "numpy"))
_MAKE_NUMBERS = frozenset(("bool", "float", "int"))
# What Python has for it. For a number, it takes a tenth of NumPy's time or less, and a sixth of
# maximum's; NumPy is as quick itself for a root or a sine.
_PYTHONS = {
    **dict.fromkeys(("clip", "maximum", "minimum"), "min and max"),
    **dict.fromkeys(("digitize", "searchsorted"), "bisect, of a list"),
    "round": "round",
}


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for line in costly_lines(trace, loop):
        row, time = line.row, line.time
        name = _number_function(line.source, row["line"])
        if name is None:
            continue
        yield Finding(
            title=f"a function for arrays, np.{name}, computes one number at a time, for "
            f"{share(time.saving_ns, loop.loop_ns)} of the loop",
            evidence="The line makes a number of what it returns. NumPy makes an array of the "
            "number that it is given, which takes longer than the arithmetic.",
            evidence_sql=shown(loop),
            fix=f"Use what Python has for numbers: {_PYTHONS[name]}.",
            no_effect="Little effect where the line does more than that.",
            price=time.part(0.4, 0.8, 0.95),
            operation=row["operation"],
            file=row["file"],
            line=row["line"],
        )
        return


def _number_function(source: Source, line: int) -> str | None:
    """A function of NumPy for arrays that a line asks for one number: int(np.digitize(x, bins))."""
    for node in source.around(line):
        if isinstance(node, ast.Call) and name_of(node.func) in _MAKE_NUMBERS and node.args:
            inner = node.args[0]
            if isinstance(inner, ast.Call) and name_of(inner.func) in _PYTHONS:
                owner = getattr(inner.func, "value", None)
                if isinstance(owner, ast.Name) and owner.id in _MODULES:
                    return name_of(inner.func)
    return None


RULE = Rule(_find, of_lines=True)

"""Numbers are drawn at random one after the other, where one call of NumPy draws all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import duration, share
from rlscope.analysis import finding_verdicts
from rlscope.analysis.costly_lines import costly_lines, shown
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.environment_steps import step_count
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.source_code import Source, name_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# What draws a number if it is not told how many, and how many arguments it takes at most.
_DRAWS = {
    **dict.fromkeys(("random", "random_sample", "standard_normal", "standard_exponential"), 0),
    **dict.fromkeys(("expovariate", "exponential", "poisson"), 1),
    **dict.fromkeys(("betavariate", "beta", "gammavariate", "gauss", "lognormvariate"), 2),
    **dict.fromkeys(("normal", "normalvariate", "randint", "uniform", "integers"), 2),
    "triangular": 3,
}
# Its arguments that say how many.
_SIZES = frozenset(("device", "dtype", "generator", "out", "size"))


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    steps = max(step_count(trace, loop), 1)
    for line in costly_lines(trace, loop):
        row, time = line.row, line.time
        name = number_draw(line.source, row["line"])
        each_ns = time.saving_ns / steps
        if name is None or not finding_verdicts.is_more_than_an_item(each_ns):
            continue
        yield Finding(
            title="drawing numbers at random, one after the other, takes "
            f"{share(time.saving_ns, loop.loop_ns)} of the loop",
            evidence=f"The line takes {duration(each_ns)} for each step of an environment. A "
            f"comprehension calls {name} for each number.",
            evidence_sql=shown(loop),
            fix="Draw all numbers by one call: rng.standard_normal(shape), rng.random(n), "
            "rng.integers(high, size=n).",
            no_effect="Little effect where there are few numbers, or the line does more than that. "
            "The numbers are others, of the same kind.",
            price=time.part(0.6, 0.92, 1.0),
            operation=row["operation"],
            file=row["file"],
            line=row["line"],
        )
        return


def number_draw(source: Source, line: int) -> str | None:
    """What draws a number in each pass of a comprehension of a line: random.gauss(0, 1). None:
    nothing does, or another function decides what is drawn."""
    if not source.is_in_comprehension(line):
        return None
    loop = source.innermost_loop(line)
    calls = [node for node in ast.walk(loop or ast.Module([], [])) if isinstance(node, ast.Call)]
    draws = [call for call in calls if _draws_number(call)]
    others = {name_of(call.func) for call in calls} - {"range", "len"} - set(_DRAWS)
    return ast.unparse(draws[0].func) if draws and not others else None


def _draws_number(call: ast.Call) -> bool:
    most = _DRAWS.get(name_of(call.func), -1)
    is_told = any(each.arg in _SIZES for each in call.keywords)
    return len(call.args) <= most and not is_told and not ast.unparse(call).startswith("torch.")


RULE = Rule(_find, of_lines=True)

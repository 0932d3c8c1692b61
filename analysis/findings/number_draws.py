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
from rlscope.analysis.random_draws import draws_number
from rlscope.analysis.source_code import Source, name_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    steps = step_count(trace, loop)
    for line in costly_lines(trace, loop):
        row, time = line.row, line.time
        name = number_draw(line.source, row["line"])
        each_ns = time.saving_ns / max(steps, 1)
        if name is None or not finding_verdicts.is_more_than_an_item(each_ns):
            continue
        yield Finding(
            title="drawing numbers at random, one after the other, takes "
            f"{share(time.saving_ns, loop.loop_ns)} of the loop",
            evidence=f"A comprehension calls {name} for each number."
            + (f" It takes {duration(each_ns)} for each step of an environment." if steps else ""),
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
    draws = [call for call in calls if draws_number(call)]
    others = {name_of(call.func) for call in calls if call not in draws} - {"range", "len"}
    return ast.unparse(draws[0].func) if draws and not others else None


RULE = Rule(_find, of_lines=True)

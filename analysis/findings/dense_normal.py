"""A normal distribution of independent values is given as one with a matrix of covariances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import of_functions
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_CALLS = (r".*/torch/distributions/multivariate_normal\.py:.*",)
_NAME = "MultivariateNormal"
_DIAGONAL = frozenset(("diag", "diag_embed", "eye"))


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    found = of_functions(trace, loop, _CALLS)
    if found is None:
        return
    place = _place(trace, {file for file, _ in found.places})
    if place is None:
        return
    yield Finding(
        title=f"MultivariateNormal takes {share(found.time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{found.readings} readings of the loop's stack lie in it. It factors and solves "
        "matrices, and here they are diagonal.",
        evidence_sql=found.evidence_sql,
        fix="Use Independent(Normal(mean, deviation), 1), which computes the same.",
        no_effect="No effect where values depend on each other: then a matrix is needed.",
        price=found.time.part(0.45, 0.75, 1.0),
        file=place[0],
        line=place[1],
    )


def _place(trace: Trace, files: set[str]) -> tuple[str, int] | None:
    """The line that makes the distribution, in a function that makes a diagonal matrix."""
    for file in sorted(files):
        source = source_of(trace, file)
        line = source.call_of(_NAME)
        around = source.function_at(line) if line is not None else None
        if line is None:
            continue
        first, last = around or (line, line)
        if any(source.calls_any(each, _DIAGONAL) for each in range(first, last + 1)):
            return file, line
    return None


RULE = Rule(_find)

"""Distributions check their arguments each time one is made, and each sample that is scored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import of_functions

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# A distribution that does not check leaves its constructor at once, and calls the others never.
_CHECKS = (
    r".*/torch/distributions/distribution\.py:Distribution\.(__init__|_validate_sample)",
    r".*/torch/distributions/constraints\.py:.*\.check",
)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    found = of_functions(trace, loop, _CHECKS)
    if found is None:
        return
    yield Finding(
        title="distributions check their arguments for "
        f"{share(found.time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{found.readings} readings of the loop's stack lie in torch.distributions' "
        f"checks, called from {found.lines} line{'s' if found.lines > 1 else ''} of the program.",
        evidence_sql=found.evidence_sql,
        fix="Pass validate_args=False, or once: "
        "torch.distributions.Distribution.set_default_validate_args(False).",
        no_effect="No effect where the checks find mistakes that the program then handles.",
        price=found.time.part(0.85, 0.95, 1.0),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


RULE = Rule(_find)

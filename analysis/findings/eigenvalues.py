"""Singular values or eigenvalues are computed again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis.costly_lines import costly_lines, shown
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_FUNCTIONS = frozenset("cond eig eigh eigvals eigvalsh matrix_rank pinv svd svdvals".split())


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for line in costly_lines(trace, loop):
        if not line.source.calls_any(line.row["line"], _FUNCTIONS):
            continue
        yield Finding(
            title="singular values or eigenvalues take "
            f"{share(line.time.saving_ns, loop.loop_ns)} of the loop",
            evidence="The line computes all of them. It takes many times as long as a product of "
            "the matrices, and runs on few cores.",
            evidence_sql=shown(loop),
            fix="For the largest one, do a step of power iteration with a vector that is kept, as "
            "torch.nn.utils.parametrizations.spectral_norm does. Else compute them less often.",
            no_effect="Power iteration gives the largest one only, and a little less of it.",
            # Their gradients are in the backward.
            price=line.time.part(0.5, 1.0, 1.4),
            operation=line.row["operation"],
            file=line.row["file"],
            line=line.row["line"],
        )
        return


RULE = Rule(_find, of_lines=True)

"""All numbers are shuffled, to draw a few of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import groups
from rlscope.analysis.costly_lines import costly_lines, shown
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.random_draws import is_cut_permutation

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    replay = groups.paths_in(trace, loop.process_id, "replay")
    for line in costly_lines(trace, loop):
        row = line.row
        around = line.source.around(row["line"])
        if row["operation"] in replay or not any(map(is_cut_permutation, around)):
            continue  # rule python_replay speaks of a memory that rlscope knows
        yield Finding(
            title="shuffling all numbers, to draw a few, takes "
            f"{share(line.time.saving_ns, loop.loop_ns)} of the loop",
            evidence="The line takes the beginning of a permutation: the more numbers there are, "
            "the longer it takes.",
            evidence_sql=shown(loop),
            fix="Draw as many numbers as are needed: torch.randint(n, (k,)), or integers(n, "
            "size=k) of NumPy.",
            no_effect="Other draws: the same number may come twice.",
            price=line.time.part(0.6, 0.95, 1.0),
            operation=row["operation"],
            file=row["file"],
            line=row["line"],
        )


RULE = Rule(_find, of_lines=True)

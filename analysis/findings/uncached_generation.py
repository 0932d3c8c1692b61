"""Generation computes all earlier tokens again for each token: the later, the longer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, duration
from rlscope.analysis import groups, learning_verdicts, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import NETWORKS, of_functions
from rlscope.analysis.prices import of_spread

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/uncached_generation"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    operations = groups.paths_in(trace, loop.process_id, "generation")
    place = of_functions(trace, loop, NETWORKS, operations)
    if place is None:
        return
    asked = {
        "process_id": loop.process_id,
        "operations": operations,
        "calls": learning_verdicts.FEWEST_GENERATED,
    }
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        if not learning_verdicts.is_growth_notable(row["mean_ns"], row["half_ns"]):
            continue
        # If the cost of a token grows by the same for each, all that grows is twice the difference
        # of the halves.
        grown = of_spread({**row, "iterations": row["generations"]}).times(2)
        yield Finding(
            title="each token of a generation takes longer than the one before",
            evidence=f"The second half of {count(row['generations'])} generations takes "
            f"{duration(row['mean_ns'])} longer than the first, on average.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Keep keys and values of earlier tokens (a KV cache), and give the model only the "
            "newest token.",
            no_effect="No effect where few tokens are written after a long prompt.",
            price=grown,
            operation=place.operation,
            file=place.file,
            line=place.line,
        )


RULE = Rule(_find)

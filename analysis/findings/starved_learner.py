"""The learner waits for what actors collect, and CPUs are left for more actors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.amounts import plural, share
from rlscope.analysis import lines, statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price
from rlscope.relations.groups import LEARNING, SIMULATION, group_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/starved_learner"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    paths = statement.run(trace, "findings/operation_path")["path"]
    asked = {
        "learning": [path for path in paths if group_of(path) == LEARNING],
        "simulation": [path for path in paths if group_of(path) == SIMULATION],
    }
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts()[:1]:
        wanted, possible = _actors(row)
        if not verdicts.is_most(row["wait_ns"], row["loop_ns"]) or possible <= row["actors"]:
            continue
        won_ns = row["wait_ns"] * (1 - row["actors"] / possible)
        found = lines.operation_lines(trace, process_id=row["process_id"], layers=("wait",))
        yield Finding(
            title=f"the learner waits for actors for {share(row['wait_ns'], row['loop_ns'])} of "
            "its loop",
            evidence=f"{plural(row['actors'], 'actor')} take {row['actor_share']:.2f} of a CPU "
            f"each, of {row['cores']} CPUs. {plural(wanted, 'actor')} would keep it busy.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix=f"Start {possible} actors, or let each step several environments.",
            no_effect="No effect where actors share something else, such as one simulator.",
            price=Price(won_ns, 0.7 * won_ns, row["wait_ns"]),
            **lines.place_of(found),
        )


def _actors(row: Mapping[str, Any]) -> tuple[int, int]:
    """How many actors would balance the learner, and how many of them the CPUs can run."""
    busy_ns = max(row["loop_ns"] - row["wait_ns"], 1)
    wanted = round(row["actors"] * row["loop_ns"] / busy_ns)
    left = (row["cores"] or 0) - busy_ns / row["loop_ns"]
    return wanted, min(wanted, int(left / max(row["actor_share"], 0.01)))


RULE = Rule(_find)

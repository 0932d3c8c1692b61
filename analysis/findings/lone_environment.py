"""The loop steps one environment, and asks its network for each single action."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, duration, share
from rlscope.analysis import brief_calls, finding_verdicts, groups, lines, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import NETWORKS, of_functions
from rlscope.analysis.prices import exact
from rlscope.relations.groups import INFERENCE

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/lone_environment"
# Eight environments save 7 of 8 calls, and a batch of eight takes a little longer than one input.
# Nothing may be saved, because the algorithm learns something else.
_SAVED = (0.0, 0.8, 0.87)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {
        "process_id": loop.process_id,
        "operations": groups.paths_in(trace, loop.process_id, INFERENCE),
    }
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        if not finding_verdicts.is_asking_notable(row["inference_ns"], loop.loop_ns):
            continue
        if _is_asked_often(trace, loop, row["operation"]):
            continue  # as by a planner, which rule single_inference looks at
        found = of_functions(trace, loop, NETWORKS, [row["operation"]])
        if found and not finding_verdicts.is_network_much(found.time.high_ns, row["inference_ns"]):
            continue  # what the loop does beside has other reasons
        yield Finding(
            title="the loop steps one environment, and asking the network for each action takes "
            f"{share(row['inference_ns'], loop.loop_ns)} of it",
            evidence=f"{row['operation']} takes {duration(row['inference_ns'])}. The first "
            f"{count(row['steps'])} steps returned one reward each.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Step several environments at once (SyncVectorEnv), and ask the network once for "
            "all of them.",
            no_effect="No effect where each step has to be learned from before the next one, or "
            "where the network is large.",
            price=exact(row["inference_ns"]).part(*_SAVED),
            operation=row["operation"],
            **lines.place_of(
                lines.operation_lines(trace, process_id=loop.process_id, operation=row["operation"])
            ),
        )


def _is_asked_often(trace: Trace, loop: Loop, operation: str) -> bool:
    asked = brief_calls.asked(trace, loop, operation)
    rows = statement.run(trace, brief_calls.STATEMENT, **asked).to_dicts()
    passes = [row for row in rows if row["passes"] is not None]
    return finding_verdicts.is_planning(brief_calls.in_a_row(passes))


RULE = Rule(_find)

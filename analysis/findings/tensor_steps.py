"""The one environment of a program computes with small tensors, where numbers would do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, duration, share
from rlscope.analysis import environment_verdicts, groups, lines, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import NETWORKS, of_functions
from rlscope.analysis.prices import exact
from rlscope.relations.groups import SIMULATION

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/tensor_steps"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    operations = groups.paths_in(trace, loop.process_id, SIMULATION)
    asked = {"process_id": loop.process_id, "operations": operations}
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        if not environment_verdicts.are_tensors_small(row):
            continue
        if of_functions(trace, loop, NETWORKS, [row["operation"]]) is not None:
            continue  # a model of the world is a network
        framework, python = exact(row["framework_ns"]), exact(row["python_ns"])
        yield Finding(
            title="the environment computes with small tensors, for "
            f"{share(row['framework_ns'], loop.loop_ns)} of the loop",
            evidence=f"{count(row['entries'])} entries into {row['operation']} make "
            f"{count(row['calls'])} calls of the framework, "
            f"{duration(row['calls_ns'] / row['calls'])} each: a call costs more than the "
            "arithmetic. The first steps returned one reward each.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Compute with numbers of Python and the module math, and make one tensor or array "
            "of the observation.",
            no_effect="No effect where tensors are large. A program that steps many environments "
            "at once needs tensors.",
            price=framework.part(0.8, 0.95, 1.0).plus(python.part(0.0, 0.5, 0.9)),
            operation=row["operation"],
            **lines.place_of(
                lines.operation_lines(
                    trace,
                    process_id=loop.process_id,
                    operation=row["operation"],
                    layers=("framework",),
                )
            ),
        )


RULE = Rule(_find)

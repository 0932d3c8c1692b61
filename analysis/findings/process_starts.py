"""The loop starts processes again and again, for work that the same ones could do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, share
from rlscope.analysis import finding_verdicts, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import of_functions

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# What starts processes, or ends a pool of them. Who joins one waits for its work.
_STARTS = (
    r".*/multiprocessing/process\.py:BaseProcess\.(start|terminate|kill)",
    r".*/multiprocessing/context\.py:BaseContext\.Pool",
    r".*/multiprocessing/pool\.py:Pool\.(__init__|__exit__|terminate)",
    r".*/concurrent/futures/process\.py:ProcessPoolExecutor\.(__init__|_start_.*|_launch_.*)",
    r".*/subprocess\.py:Popen\.__init__",
)
_STATEMENT = "findings/process_start"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    found = of_functions(trace, loop, _STARTS, waits=True)
    if found is None:
        return
    asked = {"process_id": loop.process_id}
    ((started,),) = statement.run(trace, _STATEMENT, **asked)
    if not finding_verdicts.are_started_again(started, loop.iterations):
        return
    yield Finding(
        title=f"starting processes takes {share(found.time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"The loop started {count(started)} processes. Each of them also begins and ends, "
        "which the loop often waits for.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Start the processes, or the pool, once before the loop, and give them work by "
        "messages.",
        no_effect="No effect where each process must begin with the state that the loop has then.",
        price=found.time.part(0.85, 1.4, 2.0),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


RULE = Rule(_find, of_lines=True)

"""The loop starts processes again and again, for work that the same ones could do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration, share
from rlscope.analysis import finding_verdicts, prices, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import FunctionTime, of_functions
from rlscope.analysis.prices import Price

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
# What waits for the work of processes, of a pool too.
_WAITS = (
    r".*/multiprocessing/pool\.py:Pool\.(map|starmap|apply)",
    r".*/multiprocessing/pool\.py:(Apply|Map)Result\.(get|wait)",
    r".*/multiprocessing/pool\.py:IMap\w*\.next",
    r".*/multiprocessing/process\.py:BaseProcess\.join",
    r".*/concurrent/futures/_base\.py:(Future\.result|Executor\.map.*|wait|as_completed)",
)
# What runs a program to its end, and waits for it.
_RUNS = (r".*/subprocess\.py:(run|call|check_call|check_output|getoutput|getstatusoutput)",)
_STATEMENT = "findings/process_start"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    found = of_functions(trace, loop, _STARTS, waits=True)
    if found is None:
        return
    asked = {"process_id": loop.process_id}
    (children,) = statement.run(trace, _STATEMENT, **asked).to_dicts()
    started = children["started"]
    if not finding_verdicts.are_started_again(started, loop.iterations):
        return
    runs = of_functions(trace, loop, _RUNS, waits=True)
    if runs is not None and runs.time.saving_ns >= found.time.saving_ns:
        yield _of_programs(loop, runs, started, statement.shown(_STATEMENT, **asked))
        return
    both = of_functions(trace, loop, (*_STARTS, *_WAITS), waits=True)
    waits = both.time.less(found.time) if both else prices.exact(0)
    price = found.time.part(0.85, 1.4, 2.0)
    work = _work(children).times(1 / _together(children, loop))
    beginning = waits.less(work).within(min(waits.saving_ns, children["began_ns"]))
    if finding_verdicts.is_start_awaited(
        beginning.low_ns, found.time.saving_ns, started, children["read"]
    ):
        price = found.time.part(0.85, 1.0, 1.2).plus(beginning.part(0.6, 0.9, 1.0))
    yield Finding(
        title=f"starting processes takes {share(price.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"The loop started {count(started)} processes, and took "
        f"{duration(found.time.saving_ns)} to start and end them. It waited "
        f"{duration(waits.saving_ns)} for them. They took {duration(children['began_ns'])} to "
        f"begin, and worked for {duration(children['worked_ns'])}.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Start the processes, or the pool, once before the loop, and give them work by "
        "messages.",
        no_effect="No effect where each process must begin with the state that the loop has then.",
        price=price,
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


def _together(children: Mapping[str, Any], loop: Loop) -> int:
    """How many of them work at a time: as many as the loop starts for a round."""
    a_round = round(children["started"] / max(loop.iterations, 1))
    return int(max(min(a_round, children["cores"]), 1))


def _work(children: Mapping[str, Any]) -> Price:
    """What they work. Some may have worked unread, so that they may have worked more."""
    worked_ns = children["worked_ns"]
    unread = children["started"] / max(children["read"], 1)
    return Price(worked_ns, 0.7 * worked_ns, 1.3 * unread * worked_ns)


def _of_programs(loop: Loop, runs: FunctionTime, started: int, sql: str) -> Finding:
    """Programs that the loop runs to their end, and waits for."""
    return Finding(
        title=f"running other programs takes {share(runs.time.saving_ns, loop.loop_ns)} of the "
        "loop",
        evidence=f"The loop started {count(started)} processes, and waited for the end of each.",
        evidence_sql=sql,
        fix="Run them once, before the loop, and keep what they say. Or call a library that does "
        "the same in this process.",
        no_effect="No effect where each of them does what the loop needs next.",
        price=runs.time.part(0.85, 1.0, 1.2),
        operation=runs.operation,
        file=runs.file,
        line=runs.line,
    )


RULE = Rule(_find, of_lines=True)

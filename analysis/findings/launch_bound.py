"""The GPU is idle while Python and the framework prepare the next small kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration, plural, share
from rlscope.analysis import finding_verdicts, lines, prices, statement
from rlscope.analysis.critical_loop import Loop, spread
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.gpu_waits import seen_part
from rlscope.analysis.prices import Price
from rlscope.relations.groups import group_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

Row = dict[str, Any]
_STATEMENT = "findings/launch_bound"
# What the launch of a graph costs, and each kernel in it beside its own time, and by how much they
# differ between machines (docs/reference/semantics.md, "Prices").
_GRAPH_NS = 30_000
_NODE_NS = 2_000
_PREPARING = ("python", "framework", "cuda_api")


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    seen, uncertainty = seen_part(trace, loop)
    bound = [row for row in rows if finding_verdicts.is_launch_bound(row, loop.iterations)]
    bound.sort(key=lambda row: group_of(row["operation"]))
    for _, of_group in groupby(bound, key=lambda row: group_of(row["operation"])):
        found = sorted(of_group, key=lambda row: -row["idle_ns"])
        launches = sum(row["launches"] for row in found)
        idle_ns = sum(row["idle_ns"] for row in found)
        operation = found[0]["operation"]
        yield Finding(
            title=f"the GPU is idle for {share(idle_ns, loop.loop_ns)} of the loop while the CPU "
            f"prepares {plural(launches, 'launch')} of small kernels",
            evidence=_evidence(found, launches, idle_ns) + seen,
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Replay the step as a CUDA graph, by torch.cuda.graph or "
            'torch.compile(mode="reduce-overhead"). Larger batches use the same launches.',
            no_effect="No effect where shapes change in each step, or where the step must read "
            "values back.",
            price=_price(trace, loop, found, uncertainty),
            operation=operation,
            **lines.place_of(
                lines.operation_lines(
                    trace, process_id=loop.process_id, operation=operation, layers=_PREPARING
                )
            ),
        )


def _evidence(rows: Sequence[Row], launches: int, idle_ns: int) -> str:
    cpu_ns = sum(row["cpu_ns"] for row in rows)
    gpu_ns = sum(row["launched_ns"] for row in rows)
    kernel_ns = sum(row["kernel_ns"] for row in rows) / launches
    names = ", ".join(row["operation"] for row in rows[:3])
    return (
        f"In {names}, {count(launches)} launches take {duration(cpu_ns)} of Python, framework and "
        f"CUDA. Their kernels take {duration(gpu_ns)}, {duration(kernel_ns)} each. The GPU is idle "
        f"for {duration(idle_ns)} meanwhile."
    )


def _price(trace: Trace, loop: Loop, rows: Sequence[Row], uncertainty: float) -> Price:
    """What prepares the launches, without what a graph takes: its kernels, and its own launch."""
    whole = reduce(Price.plus, (_preparing(trace, loop, row) for row in rows))
    entries = max(max(row["entries"] or loop.iterations for row in rows), 1)
    gpu_ns = sum(row["launched_ns"] for row in rows)
    own_ns = entries * _GRAPH_NS + sum(row["launches"] for row in rows) * _NODE_NS
    low_ns, high_ns = (1 - uncertainty) * gpu_ns, (1 + uncertainty) * gpu_ns
    graph = Price(gpu_ns + own_ns, low_ns + own_ns / 3, high_ns + 3 * own_ns)
    # Part of the Python stays: it makes what the step needs, and is in no graph.
    return whole.part(0.5, 0.9, 1.0).less(graph)


def _preparing(trace: Trace, loop: Loop, row: Row) -> Price:
    """Time of an operation in what prepares launches, with its spread over iterations."""
    whole = prices.of_spread(spread(trace, loop, operation=row["operation"], layers=_PREPARING))
    return whole.times(row["cpu_ns"] / max(whole.saving_ns, row["cpu_ns"], 1))


RULE = Rule(_find)

"""A run in the output of a notebook's cell: its headline, and the breakdown as a still figure.

A fragment of HTML without a script: notebooks are often shown where none runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import coverage, operations
from rlscope.relations.traces import Traces
from rlscope.report import catalogue, headline, layers, limits, shares, units, views
from rlscope.report.figures import svg
from rlscope.report.figures.amounts import Part
from rlscope.report.markup import prose

if TYPE_CHECKING:
    from rlscope.opening import Trace

_BARS = 12  # the largest operations: an output is about a screen high


def render(trace: Trace | Traces) -> str:
    """The fragment: of several runs a row each; raises RlscopeError when a table cannot be read."""
    if isinstance(trace, Traces):
        return _runs(trace)
    summary = headline.read(trace)
    warnings = [*summary.first, *(each.text for each in summary.details if each.warning)]
    details = [prose(each.text) for each in summary.details if not each.warning]
    lines = [
        f"<p><b>{prose(summary.title)}</b> <small>{prose(summary.run)}</small></p>",
        *(f"<p><b>! {prose(text)}</b></p>" for text in warnings),
        f"<p>{prose(summary.sentence)}</p>",
        f"<p>{'<br>'.join(details)}</p>",
        _figure(trace),
    ]
    return f'<div class="rlscope">{"".join(lines)}</div>'


def _runs(traces: Traces) -> str:
    """What `rlscope runs` lists."""
    columns = ("directory", "name", "length", "headline")
    head = "".join(f"<th>{each}</th>" for each in columns)
    rows = [
        (run.directory, run.name, units.duration(run.duration_ns), run.headline or run.note)
        for run in catalogue.describe(map(str, traces.paths))
    ]
    body = "".join(f"<tr>{''.join(f'<td>{prose(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="rlscope"><table><tr>{head}</tr>{body}</table></div>'


def _figure(trace: Trace) -> str:
    """Time of the operations of all processes by layer, as the page of the run has it."""
    times = operations.operation_time(trace, operations=_BARS, processes=limits.PROCESSES)
    rows = views.by_process(times).get(None, [])
    if not rows:
        return ""
    totals = {row["operation"]: (row["operation_ns"], row["group_ns"]) for row in rows}
    divisor, unit = units.axis_unit(max(total for total, _ in totals.values()))
    parts = [
        Part(each.name, each.colour, [ns / divisor for ns in each.values_ns], each.hatched)
        for each in layers.series(rows, "operation", list(totals))
    ]
    (facts,) = coverage.coverage(trace).to_dicts()
    return svg.bars(
        f"Wall time per operation, by layer; shares of {shares.whole_name(facts)}",
        f"time ({unit})",
        list(totals),
        parts,
        [f"{units.duration(ns)} · {units.share(ns, whole)}" for ns, whole in totals.values()],
    )

"""A run on one screen of text: what `rlscope summary` and the end of `rls-prof` print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.analysis import (
    coverage,
    cuda,
    gpu_windows,
    interception,
    iterations,
    lines,
    machine,
    operations,
    processes,
    run_facts,
    threads,
)
from rlscope.report import (
    answer,
    cluster_sentences,
    cuda_sentences,
    gpu_sentences,
    headline,
    layers,
    limits,
    line_sentences,
    losses,
    palette,
    process_sentences,
    screen,
    sentences,
    units,
    utilisation,
)
from rlscope.report.answer import Answer
from rlscope.report.screen import aligned, cells, padded, wrapped

if TYPE_CHECKING:
    from rlscope.opening import Trace

# The screen: rows of the two tables and sentences of each kind, at most 50 lines (CUDA: 12 more).
_OPERATIONS = 6  # and what has 1 % of the loop, and up to four rows of time outside operations
_MOST_OPERATIONS = 10
_PROCESSES = 4
_SENTENCES = 2
_LOSSES = 3
_FOUND = 12
_GPU_OPERATIONS = 1
_GPUS = 2
_THREADS = 1
_LINES = 3
_LEAST_TEXT = 20  # cells of a line of source

_WIDE = 90
_BAR = 12  # characters of a bar of 100 %


def render_summary(
    trace: Trace, *, width: int | None = None, unicode: bool | None = None, hottest: int = _LINES
) -> str:
    """Run, operations as a tree, totals, processes, iterations, losses.

    Args:
        width: most cells of a line; None: those of the terminal.
        unicode: whether other characters than ASCII are shown; None: as stdout encodes.
        hottest: how many lines of source are shown, at most limits.LINES.

    Raises RlscopeError when a table cannot be read.
    """
    width = screen.width_of(width)
    lines = [line for block in _blocks(trace, width, hottest) for line in block]
    return screen.shown(lines, width, unicode)


render = render_summary


def _blocks(trace: Trace, width: int, hottest: int) -> Iterator[list[str]]:
    summary = headline.read(trace)
    first = [f"! {each}" for each in summary.first]
    yield [*wrapped(first, width), summary.run]
    yield _finding_block(answer.read(trace, most=limits.FINDINGS), width)
    yield [*wrapped([summary.sentence], width), ""]
    (facts,) = coverage.coverage(trace).to_dicts()
    yield from _operation_block(trace, facts, width)
    yield wrapped(
        [
            f"! {each.text}" if each.warning else each.text
            for each in summary.details
            if not each.minor
        ],
        width,
    )
    found = operations.automatic_operations(trace, operations=_FOUND).to_dicts()
    yield wrapped(sentences.automatic_names(found, facts), width)
    yield _line_block(trace, width, hottest)
    engines = interception.interception(trace).to_dicts()
    unusual = [row for row in engines if row["engine"] != "patch"]
    yield wrapped(sentences.interception(unusual), width)
    yield wrapped([*_cuda(trace), *_polled(trace)], width)
    beside = threads.beside_owner(trace, rows=_THREADS).to_dicts()
    yield wrapped([sentences.beside_owner(row) for row in beside], width)
    yield _process_block(trace, width)
    yield wrapped(_clusters(trace), width)
    yield wrapped([*_iterations(trace), *_losses(trace, facts)], width)


def _finding_block(found: Answer, width: int) -> list[str]:
    """What to mend first and how, a line for each finding that is not all of it, and where more
    about them is."""
    left = found.findings[1:] if found.is_first else found.findings
    answered = f"1 {found.leading}" if found.is_first else found.leading
    fix = [f"  {line}" for line in wrapped([found.fix], width - 2)] if found.fix else []
    others = [*filter(None, [found.beside]), *answer.texts(left), *_details(found)]
    others += [f"! {each}" for each in found.failures]
    first = wrapped([answered], width) if answered else []
    return [*first, *fix, *wrapped(others, width), *([""] if fix or others else [])]


def _details(found: Answer) -> list[str]:
    if not found.findings:
        return []
    more = f", and {units.plural(found.hidden, 'more finding')}" if found.hidden else ""
    return [f"`rlscope advise DIR` has the code and the evidence{more}."]


def _operation_block(trace: Trace, facts: dict[str, Any], width: int) -> Iterator[list[str]]:
    tree = operations.operation_tree(trace, operations=_OPERATIONS, most=_MOST_OPERATIONS)
    rows = tree.to_dicts()
    if not rows:
        return
    processes = facts["looping_processes"]
    # A narrow terminal has the columns instead: the first sentence names the processes, too.
    together = f" ({processes:,} processes)" if processes > 1 and width >= _WIDE else ""
    nested = any(row["depth"] for row in rows)
    busy = any(row["gpu_ns"] for row in rows)
    present = [name for name in palette.LAYERS if any(row[f"{name}_ns"] for row in rows)]
    left_out: list[str] = []
    while True:
        heads = [f"operation{together}", "", ">total", ">share", *([">own"] if nested else [])]
        heads += [f">{layers.label(name, False)}" for name in present]
        heads += [">GPU busy"] if busy else []
        cells = [_operation_row(row, nested, present, busy) for row in rows]
        if len(present) < 2 or screen.needed(heads, cells) <= width:
            break
        smallest = min(present, key=lambda name: _layer_ns(rows, name))
        present.remove(smallest)
        left_out.append(layers.label(smallest, False))
    yield [*aligned(heads, cells, width), *wrapped(_unshown(left_out), width), ""]


def _layer_ns(rows: Sequence[dict[str, Any]], layer: str) -> int:
    return sum(row[f"{layer}_ns"] or 0 for row in rows)


def _unshown(layers_left_out: Sequence[str]) -> list[str]:
    """Columns for which the terminal is too narrow: the smallest layers."""
    if not layers_left_out:
        return []
    columns = "column" if len(layers_left_out) == 1 else "columns"
    return [f"No room for the {columns} {', '.join(sorted(layers_left_out))}."]


def _operation_row(
    row: dict[str, Any], nested: bool, present: Sequence[str], busy: bool
) -> list[str]:
    share = row["total_ns"] / row["whole_ns"] if row["whole_ns"] else 0
    return [
        "  " * row["depth"] + units.label(row["name"]),
        "█" * round(_BAR * share),
        units.duration(row["total_ns"]),
        units.share(row["total_ns"], row["whole_ns"]) if row["whole_ns"] else "",
        *([units.duration(row["self_ns"])] if nested else []),
        *(units.duration_or_blank(row[f"{name}_ns"]) for name in present),
        *([units.duration_or_blank(row["gpu_ns"])] if busy else []),
    ]


def _line_block(trace: Trace, width: int, hottest: int) -> list[str]:
    """The hottest lines of the program's own code, a line each."""
    hot = lines.hot_lines(trace, lines=limits.LINES).to_dicts()
    rows = line_sentences.listed([row for row in hot if row["own_ns"]])[:hottest]
    if not rows:
        return []
    shares_width, places_width = (max(cells(row[i]) for row in rows) for i in (0, 1))
    room = max(width - shares_width - places_width - 6, _LEAST_TEXT)
    title = "Hottest lines of the program's own code, shares as above:"
    return [
        *wrapped([title], width),
        *(
            f"  {padded(share, shares_width, True)}  {padded(place, places_width, False)}  "
            f"{units.label(text, room)}"
            for share, place, text in rows
        ),
        *wrapped(line_sentences.of_library(lines.library_line(trace).to_dicts()), width),
    ]


def _process_block(trace: Trace, width: int) -> list[str]:
    rows = processes.process_tree(trace, processes=_PROCESSES).to_dicts()
    hidden = processes.helper_total(trace).to_dicts()
    there = len(processes.process_names(trace))
    if there < 2:
        return []
    heads = ["process", ">pid", ">wall", ">in operations", ">CPU", ">events"]
    cells = [
        [
            "  " * row["depth"] + units.label(row["name"] or "?"),
            str(row["os_pid"] or "-"),
            units.duration(row["wall_ns"]),
            units.duration(row["busy_ns"]),
            units.duration(row["cpu_ns"]),
            units.count(row["events"]),
        ]
        for row in rows
    ]
    left_out = process_sentences.left_out(len(rows), there, hidden)
    return ["", *aligned(heads, cells, width), *wrapped(left_out, width), ""]


def _clusters(trace: Trace) -> list[str]:
    rows = run_facts.unrecorded_cluster(trace).to_dicts()
    return [f"! {sentence}" for sentence in cluster_sentences.unrecorded(rows)]


def _cuda(trace: Trace) -> list[str]:
    """GPU time, launches and kernels; or in one line why there is none."""
    absent = [f"No CUDA: {reason}." for (reason,) in cuda.absence(trace)]
    if not cuda.operations(trace, operations=1).to_dicts():
        return absent
    return [
        *absent,
        *cuda_sentences.problems(cuda.problems(trace, rows=1).to_dicts()),
        *gpu_sentences.busy(gpu_windows.estimates(trace).to_dicts()[:_SENTENCES]),
        *cuda_sentences.totals(cuda.total(trace).to_dicts(), unlinked=False),
        *cuda_sentences.kernels(
            cuda.kernels(trace, kernels=1, operations=_GPU_OPERATIONS).to_dicts()
        ),
    ]


def _polled(trace: Trace) -> list[str]:
    """GPUs only: where time goes on CPUs is in the lines above."""
    return utilisation.gpus(machine.utilisation(trace, processes=0).to_dicts())[:_GPUS]


def _iterations(trace: Trace) -> list[str]:
    summaries = iterations.iteration_summary(trace, processes=_SENTENCES).to_dicts()
    extrapolated = iterations.extrapolation(trace, processes=_SENTENCES).to_dicts()
    return [
        *(sentences.iteration(row) for row in summaries),
        *(sentences.progress(row) for row in extrapolated),
    ]


def _losses(trace: Trace, facts: dict[str, Any]) -> list[str]:
    rows = coverage.loss_summary(trace, rows=_LOSSES).to_dicts()
    costs = gpu_windows.window_costs(trace).to_dicts()[:_SENTENCES]
    of_cuda = gpu_sentences.cost(costs, cuda.total(trace).to_dicts(), facts, brief=True)
    chosen = gpu_sentences.choices(gpu_windows.choices(trace).to_dicts())[:_SENTENCES]
    lines = [*sentences.overhead_share(facts), *chosen, *of_cuda]
    if not rows:
        return [*lines, "Nothing was lost."]
    return lines + [
        f"Loss {row['kind']} x {units.count(row['count'])}: "
        f"{losses.MEANING.get(row['kind'], row['detail'] or '')}"
        for row in rows
    ]

"""Source: the program's own files as text, the hottest first, with the time of each line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.analysis import coverage, lines
from rlscope.report import limits, line_sentences, shares, source_names, units
from rlscope.report.operation_choices import OperationChoices
from rlscope.report.panel import Code, CodeFile, CodeLine, Drawing, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace

Rows = list[dict[str, Any]]


def read(trace: Trace) -> dict[str, Table]:
    return {
        "hot_line": lines.hot_lines(trace, lines=limits.LINES),
        "hot_line_part": lines.hot_line_parts(trace, lines=limits.LINES),
        "hot_line_text": lines.hot_line_texts(
            trace, lines=limits.LINES, context=limits.CONTEXT_LINES
        ),
        "backward_line": lines.backward_lines(trace, rows=limits.ROWS),
        "library_line": lines.library_line(trace),
        "coverage": coverage.coverage(trace),
        "absence": coverage.why_absent(trace, "source_line"),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    hot = tables["hot_line"].to_dicts()
    if not hot:
        return Nothing(line_sentences.absence(tables["absence"]["reason"]))
    (facts,) = tables["coverage"].to_dicts()
    texts = tables["hot_line_text"].to_dicts()
    return Drawing(
        notes=[
            *line_sentences.of_library(tables["library_line"].to_dicts()),
            line_sentences.estimates(shares.whole_name(facts)),
            *_untold(hot),
        ],
        codes=[_code(hot, tables["hot_line_part"].to_dicts(), texts)],
        grids=[_grid(hot), *_backward_grid(tables["backward_line"].to_dicts())],
    )


def _untold(hot: Rows) -> Iterator[str]:
    without = dict.fromkeys(row["file"] for row in hot if row["text"] is None)
    if without:
        names = ", ".join(map(units.visible, list(without)[: limits.FILES_WITHOUT_TEXT]))
        yield f"The trace does not have the text of all lines that are in stacks: {names}."


def _code(hot: Rows, parts: Rows, texts: Rows) -> Code:
    places = {(row["file"], row["line"]): place for place, row in enumerate(hot)}
    names = source_names.short(row["file"] for row in hot)
    states = OperationChoices(parts, "total_ns", of=("file", "line"))
    return Code(
        key="source-code",
        files=list(_files(hot, texts, places, names)),
        lines=[f"{names[row['file']]}:{row['line']}" for row in hot],
        choices=states.choices(),
        layers=states.layers(),
        waiting=states.waiting(),
        parts=_added(
            (
                (places[row["file"], row["line"]], *states.place(row)),
                (row["own_ns"], row["total_ns"], row["gpu_ns"]),
            )
            for row in parts
        ),
        has_gpu=any(row["gpu_ns"] for row in hot),
        backward_ns=_backwards(hot),
        whole_ns=hot[0]["loop_ns"],
    )


def _backwards(hot: Rows) -> list[int]:
    times = [row["backward_ns"] for row in hot]
    return times if any(times) else []


def _added(
    parts: Iterator[tuple[tuple[int, int, int], tuple[int, int, int]]],
) -> list[tuple[int, ...]]:
    """Those of the same places together: small operations have one."""
    sums: dict[tuple[int, int, int], tuple[int, int, int]] = {}
    for place, (own, total, gpu) in parts:
        before = sums.get(place, (0, 0, 0))
        sums[place] = (before[0] + own, before[1] + total, before[2] + gpu)
    return [(*place, *(times if times[-1] else times[:-1])) for place, times in sums.items()]


def _files(
    hot: Rows, texts: Rows, places: dict[tuple[str, int], int], names: source_names.Names
) -> Iterator[CodeFile]:
    """The hottest first."""
    shown: dict[str, Rows] = {}
    for row in texts:
        shown.setdefault(row["file"], []).append(row)
    own_ns: dict[str, int] = {}
    for row in hot:
        own_ns[row["file"]] = own_ns.get(row["file"], 0) + row["own_ns"]
    for file in sorted(own_ns, key=lambda each: (-own_ns[each], each)):
        if file in shown:
            share = units.share(own_ns[file], hot[0]["loop_ns"])
            yield CodeFile(
                title=f"{names[file]}: {share}",
                path=file,
                lines=list(_lines(shown[file], places)),
                length=shown[file][0]["lines"],
            )


def _lines(rows: Rows, places: dict[tuple[str, int], int]) -> Iterator[CodeLine]:
    for row in rows:
        text = row["text"][: limits.LINE_CHARACTERS].expandtabs()
        yield CodeLine(row["line"], text, places.get((row["file"], row["line"])))


def _grid(hot: Sequence[dict[str, Any]]) -> Grid:
    names = source_names.short(row["file"] for row in hot)
    has_gpu = any(row["gpu_ns"] for row in hot)
    is_corrected = all(row["own_corrected_ns"] is not None for row in hot)
    return Grid(
        title="Table: the hottest lines of the program's own code",
        columns=["line", "function", ">own time", ">share", ">at least", ">at most",
                 *([">without recording"] if is_corrected else []), ">total", ">waiting",
                 *([">GPU"] if has_gpu else []), "source"],
        rows=[
            [
                units.visible(f"{names[row['file']]}:{row['line']}"),
                units.visible(row["function"] or ""),
                units.duration(row["own_ns"]),
                units.share(row["own_ns"], row["loop_ns"]),
                units.share(row["own_low_ns"], row["loop_ns"]),
                units.share(row["own_high_ns"], row["loop_ns"]),
                *([units.duration(row["own_corrected_ns"])] if is_corrected else []),
                units.duration(row["total_ns"]),
                units.duration_or_blank(row["wait_ns"]),
                *([units.duration_or_blank(row["gpu_ns"])] if has_gpu else []),
                line_sentences.text(row),
            ]
            for row in hot[: limits.ROWS]
        ],
    )  # fmt: skip


def _backward_grid(rows: Rows) -> Iterator[Grid]:
    if not rows:
        return
    names = source_names.short(file for row in rows for file in (row["file"], row["backward_file"]))
    yield Grid(
        title="Table: lines of the forward by the time of their backward",
        columns=["line", "function", ">backward time", ">share", "run by", ">watched", "source"],
        rows=[
            [
                units.visible(f"{names[row['file']]}:{row['line']}"),
                units.visible(row["function"] or ""),
                units.duration(row["backward_ns"]),
                units.share(row["backward_ns"], row["loop_ns"]),
                units.visible(f"{names[row['backward_file']]}:{row['backward_line']}"),
                f"{row['watched']:,} of {row['backwards']:,}",
                line_sentences.text(row),
            ]
            for row in rows
        ],
    )


PANEL = Panel(
    title="Source",
    question="Which lines of the program take the time?",
    read=read,
    draw=draw,
)

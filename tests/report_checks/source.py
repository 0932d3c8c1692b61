"""Source: the hottest lines, as text and as a table, with sums of their own."""

from __future__ import annotations

from typing import Any

from support.files.facts import assert_says
from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import layers, units

_JUMP = "return [...document.querySelectorAll('#source .jump li')].map((each) => each.textContent)"


def check(page: ReportPage, trace: Trace) -> None:
    (note,) = page.notes("source")
    assert_says(note, "training loops of 2 processes", "estimates", "100 times", "95 %")
    whole = trace.sql("SELECT CAST(SUM(duration_ns) AS BIGINT) AS ns FROM training_loop")["ns"][0]
    found = _lines(trace)
    texts = dict(trace.sql("SELECT line, text FROM source_text"))
    assert page.table("source", "a.py: ") == _listing(trace, found, texts, whole)
    table = page.table("source", "Table: the hottest lines")
    assert [[*row[:4], *row[6:8], *row[9:]] for row in table] == [
        [
            f"a.py:{line}",
            function,
            units.duration(own),
            units.share(own, whole),
            units.duration(corrected),
            units.duration(total),
            units.duration_or_blank(gpu),
            units.label(texts[line].strip(), 60),
        ]
        for line, function, own, total, _, gpu, corrected in found
    ]
    assert any(row[9] for row in table)
    assert page.texts(_JUMP) == [
        f"{units.share(own, whole)} a.py:{line} {texts[line].strip()}"
        for line, _, own, *_ in found
        if own
    ]


def _lines(trace: Trace) -> list[Any]:
    return list(
        trace.sql(
            "SELECT line, ANY_VALUE(function), CAST(SUM(own_ns) AS BIGINT) AS own,"
            " CAST(SUM(total_ns) AS BIGINT) AS total,"
            " CAST(COALESCE(SUM(own_ns) FILTER (layer = 'wait'), 0) AS BIGINT),"
            " CAST(SUM(gpu_ns) AS BIGINT), CAST(SUM(own_corrected_ns) AS BIGINT)"
            " FROM source_line WHERE stage = 'loop' AND file IS NOT NULL"
            " GROUP BY line ORDER BY own DESC, total DESC"
        )
    )


def _listing(trace: Trace, found: list[Any], texts: dict[int, str], whole: int) -> list[list[str]]:
    """The rows of the text: all lines of the file, as the hot ones lie close together."""
    times = {line: times for line, _, *times in found}
    most = _layers(trace)
    rows = []
    for line, text in texts.items():
        if line not in times:
            rows.append(["", "", "", str(line), text])
            continue
        own, total, waiting, gpu, _ = times[line]
        rows.append(
            [
                units.duration_or_blank(own),
                units.share(own, whole) if own else "",
                most[line] if own else "",
                units.duration_or_blank(total),
                units.duration_or_blank(waiting),
                units.duration_or_blank(gpu),
                str(line),
                text,
            ]
        )
    return rows


def _layers(trace: Trace) -> dict[int, str]:
    """The layer in which most own time of each line is."""
    rows = trace.sql(
        "SELECT line, ARG_MAX(layer, ns) FROM (SELECT line, layer, SUM(own_ns) AS ns"
        " FROM source_line WHERE stage = 'loop' GROUP BY ALL) GROUP BY line"
    )
    return {line: layers.label(layer, False) for line, layer in rows}

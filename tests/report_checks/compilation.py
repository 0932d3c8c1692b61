"""Compilation: the functions, by the relation itself."""

from __future__ import annotations

import os

from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import units


def check(page: ReportPage, trace: Trace) -> None:
    found = trace.sql(
        "SELECT function, compiler, file, line, SUM(count), SUM(total_ns) FROM compilation"
        " JOIN process USING (process_id) WHERE role = 'main' GROUP BY ALL ORDER BY 6 DESC"
    )
    assert page.table("compilation", "Table: ") == [
        [
            function,
            compiler,
            f"{os.path.basename(file)} line {line}" if file else "",
            f"{int(count):,}",
            units.duration(int(ns)),
        ]
        for function, compiler, file, line, count, ns in found
    ]
    (note,) = page.notes("compilation")
    assert "compiled again" in note

"""Run: the command, the machine, versions, and what the program said of itself."""

from __future__ import annotations

import json

from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import units


def check(page: ReportPage, trace: Trace) -> None:
    ((command, name, run_id, version, length_ns),) = trace.sql(
        "SELECT command, name, run_id, version, end_ns - start_ns FROM run"
    )
    ((machine, cpu, cores, clock),) = trace.sql("SELECT name, cpu, cores, clock FROM host")
    ((python, processes),) = trace.sql("SELECT python, COUNT(*) FROM process GROUP BY python")
    assert page.table("run", "Run and machines") == [
        ["command", command],
        ["name", name],
        ["lasted", units.duration(length_ns)],
        ["recorded by", f"rlscope {version}"],
        ["run id", run_id],
        ["Python", f"{python} ({processes} processes)"],
        ["machine", f"{machine}, {cpu}, {cores} cores, clock {clock}"],
    ]
    said = trace.sql(
        "SELECT name, key, value FROM metadata JOIN process USING (process_id)"
        " WHERE key NOT LIKE 'rlscope.%' ORDER BY process_id, key"
    )
    assert page.table("run", "Metadata of the program") == [
        [name, key, str(json.loads(value))] for name, key, value in said
    ]

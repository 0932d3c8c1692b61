"""Traces of torch.profiler: Kineto's Chrome trace, as JSON or JSON.gz."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rlscope import _trace
from rlscope.errors import RlscopeError
from rlscope.importing.importer import Importer, ProcessScan, Scan, Source, with_rows
from rlscope.relations import step_numbers
from rlscope.relations.rows.roles import RANK_NOTE

# What only Kineto writes: keys of the file, or categories of its rows.
_MARKS = re.compile(
    rb'"(?:schemaVersion|deviceProperties|distributedInfo|baseTimeNanoseconds)"\s*:'
    rb'|"cat"\s*:\s*"(?:cpu_op|user_annotation|cuda_runtime|python_function|Operator)"'
)
# <machine>_<pid>.<time>.pt.trace.json: whoever names the worker gives another first part.
_OF_HANDLER = re.compile(r"(.{1,255})_(\d{1,10})\.\d+\.pt\.trace\.json(?:\.gz)?")


def _recognises(head: bytes) -> bool:
    return head.lstrip()[:1] == b"{" and _MARKS.search(head) is not None


def _scan(source: Source, spill: _trace.SpillFile, _operations: Collection[str]) -> Sequence[Scan]:
    scan = _trace.KinetoScan(spill)
    try:
        scan.read(source.read)
    except _trace.TraceError as error:
        raise RlscopeError(f"{source.path} cannot be imported: {error}") from error
    facts = scan.facts
    every = [scan.rows(place) for place in range(len(scan))]
    return with_rows(source, [_process(source, facts, rows, len(every) == 1) for rows in every])


def _process(
    source: Source, facts: Mapping[str, Any], rows: _trace.ImportedRows, is_alone: bool
) -> ProcessScan:
    host = facts["host_name"] or _host_of(source.path.name, rows.facts["os_pid"])
    noted = _notes(facts, rows.facts["steps"], is_alone)
    return ProcessScan(rows, base_ns=facts["base_ns"], host=host, noted=noted)


def _host_of(file: str, pid: int) -> str:
    """The machine that the file's name says, if tensorboard_trace_handler() gave the name."""
    found = _OF_HANDLER.fullmatch(file)
    return found[1] if found is not None and int(found[2]) == pid else ""


def _notes(facts: Mapping[str, Any], steps: Sequence[int], is_alone: bool) -> dict[str, object]:
    told = ("world_size", "backend", "devices")
    notes: dict[str, object] = {name: facts[name] for name in told if facts[name]}
    if facts["rank"] is not None and is_alone:  # of several processes it is not said whose
        notes[RANK_NOTE] = {"rank": facts["rank"]}
    return {**notes, **step_numbers.note("ProfilerStep#", steps)}


IMPORTER = Importer(
    "torch.profiler (Kineto)",
    _recognises,
    _scan,
    {
        "operation": "`with torch.profiler.record_function(name):`",
        "iteration": "ProfilerStep#k of torch.profiler.profile(schedule=...) and its step()",
        "native_call": "torch.profiler.ProfilerActivity.CPU",
    },
)

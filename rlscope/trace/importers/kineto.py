"""Traces of torch.profiler: Kineto's Chrome trace, as JSON or JSON.gz."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rlscope import _trace
from rlscope.errors import RlscopeError
from rlscope.trace.imported import Importer, ProcessScan, Scan, Source, with_rows
from rlscope.trace.roles import RANK_NOTE

# What only Kineto writes: keys of the file, or categories of its rows.
_MARKS = re.compile(
    rb'"(?:schemaVersion|deviceProperties|distributedInfo|baseTimeNanoseconds)"\s*:'
    rb'|"cat"\s*:\s*"(?:cpu_op|user_annotation|cuda_runtime|python_function|Operator)"'
)


def _recognises(head: bytes) -> bool:
    return head.lstrip()[:1] == b"{" and _MARKS.search(head) is not None


def _scan(source: Source, spill: _trace.SpillFile, _operations: Collection[str]) -> Sequence[Scan]:
    scan = _trace.KinetoScan(spill)
    try:
        scan.read(source.read)
    except _trace.TraceError as error:
        raise RlscopeError(f"{source.path} cannot be imported: {error}") from error
    facts = scan.facts
    process = ProcessScan(
        scan.rows, base_ns=facts["base_ns"], host=facts["host_name"], noted=_notes(facts)
    )
    return with_rows(source, [process])


def _notes(facts: Mapping[str, Any]) -> dict[str, object]:
    told = ("world_size", "backend", "devices", "first_step")
    notes: dict[str, object] = {name: facts[name] for name in told if facts[name]}
    if facts["rank"] is not None:
        notes[RANK_NOTE] = {"rank": facts["rank"]}
    return notes


IMPORTER = Importer("torch.profiler (Kineto)", _recognises, _scan)

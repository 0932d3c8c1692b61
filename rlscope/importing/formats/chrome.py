"""Traces in Chrome's format (JSON) of tools that no other importer knows: slices are operations."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from rlscope import _trace
from rlscope.errors import RlscopeError
from rlscope.importing.importer import Importer, ProcessScan, Scan, Source, with_rows

_OBJECT = re.compile(rb'\s*\{.*"traceEvents"\s*:\s*\[', re.DOTALL)
_ARRAY = re.compile(rb'\s*\[\s*\{.{,4096}"ph"\s*:', re.DOTALL)


def _recognises(head: bytes) -> bool:
    return _OBJECT.match(head) is not None or _ARRAY.match(head) is not None


def _scan(source: Source, spill: _trace.SpillFile, _operations: Collection[str]) -> Sequence[Scan]:
    scan = _trace.ChromeScan(spill)
    try:
        scan.read(source.read)
    except _trace.TraceError as error:
        raise RlscopeError(f"{source.path} cannot be imported: {error}") from error
    return with_rows(source, [ProcessScan(scan.rows(place)) for place in range(len(scan))])


IMPORTER = Importer(
    "another tool (Chrome trace)",
    _recognises,
    _scan,
    {"operation": "a slice"},
    is_general=True,
)

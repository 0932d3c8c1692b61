"""Traces of XProf, the profiler of JAX and TensorFlow: `<host>.trace.json.gz`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from rlscope import _trace
from rlscope.errors import RlscopeError
from rlscope.importing.importer import (
    OPERATIONS,
    Importer,
    ProcessScan,
    Scan,
    Source,
    with_rows,
)
from rlscope.relations import step_numbers

# The names of planes, which XProf calls processes.
_PLANE = re.compile(rb'"name"\s*:\s*"/(?:host:CPU|device:(?:GPU|TPU):)')
_SUFFIX = re.compile(r"\.trace\.json(\.gz)?$")


def _recognises(head: bytes) -> bool:
    return head.lstrip()[:1] == b"{" and _PLANE.search(head) is not None


def _scan(source: Source, spill: _trace.SpillFile, operations: Collection[str]) -> Sequence[Scan]:
    scan = _trace.XprofScan(spill, [*operations])
    try:
        scan.read(source.read)
    except _trace.TraceError as error:
        raise RlscopeError(f"{source.path} cannot be imported: {error}") from error
    noted: dict[str, object] = {OPERATIONS: scan.operations} if operations else {}
    noted.update(step_numbers.note("step_num ", scan.rows.facts["steps"]))
    host, found = _SUFFIX.subn("", source.path.name)
    return with_rows(source, [ProcessScan(scan.rows, host=host if found else "", noted=noted)])


IMPORTER = Importer(
    "XProf (JAX, TensorFlow)",
    _recognises,
    _scan,
    {
        "operation": "`with jax.profiler.TraceAnnotation(name):` (rlscope import --operation NAME)",
        "iteration": "jax.profiler.StepTraceAnnotation",
        "native_call": "a row of the host that lasts some time",
    },
)

"""Traces of torch.profiler: Kineto's Chrome trace, as JSON or JSON.gz."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rlscope import _trace
from rlscope.errors import RlscopeError
from rlscope.trace import cuda_rows
from rlscope.trace.imported import Importer, Scan, Source
from rlscope.trace.roles import RANK_NOTE

# What only Kineto writes: keys of the file, or categories of its rows.
_MARKS = re.compile(
    rb'"(?:schemaVersion|deviceProperties|distributedInfo|baseTimeNanoseconds)"\s*:'
    rb'|"cat"\s*:\s*"(?:cpu_op|user_annotation|cuda_runtime|python_function|Operator)"'
)
# A span of more is not that of one recording, but of a damaged time.
_LONGEST_NS = 366 * 24 * 3600 * 10**9
_NO_GPU = "the imported file has no row of GPU work"


class _KinetoScan:
    """A file that was read (rlscope.trace.imported.Scan)."""

    def __init__(self, source: Source, scan: _trace.KinetoScan) -> None:
        self._scan = scan
        self._facts: dict[str, Any] = scan.facts
        facts = self._facts
        if facts["empty"]:
            raise RlscopeError(f"{source.path} holds no row that can be taken{_instead(facts)}")
        if facts["last_ns"] - facts["first_ns"] > _LONGEST_NS:
            days = (facts["last_ns"] - facts["first_ns"]) // (24 * 3600 * 10**9)
            raise RlscopeError(f"{source.path} is damaged: its times lie {days:,} days apart")

    @property
    def span_ns(self) -> tuple[int, int]:
        base_ns = self._facts["base_ns"]
        return self._facts["first_ns"] + base_ns, self._facts["last_ns"] + base_ns

    @property
    def os_pid(self) -> int:
        return int(self._facts["os_pid"])

    @property
    def name(self) -> str:
        return str(self._facts["process_name"])

    @property
    def taken(self) -> Mapping[str, int]:
        return dict(self._facts["taken"])

    @property
    def not_taken(self) -> Mapping[str, int]:
        return dict(self._facts["not_taken"])

    def notes(self) -> dict[str, object]:
        facts = self._facts
        told = ("world_size", "backend", "devices", "first_step")
        notes: dict[str, object] = {name: facts[name] for name in told if facts[name]}
        if facts["rank"] is not None:
            notes[RANK_NOTE] = {"rank": facts["rank"]}
        if not facts["has_gpu_work"]:
            notes[cuda_rows.NOTE] = {"missing": "all", "problem": _NO_GPU}
        return notes

    def write(
        self, path: str, *, start_time: int, shift_ns: int, metadata: Mapping[str, str]
    ) -> None:
        self._scan.write(
            path,
            start_time=start_time,
            shift_ns=self._facts["base_ns"] + shift_ns,
            host=self._facts["host_name"],
            metadata=dict(metadata),
        )


def _instead(facts: Mapping[str, Any]) -> str:
    found = sorted(facts["not_taken"].items(), key=lambda each: -each[1])[:3]
    return f"; it has {', '.join(f'{count:,} {what}' for what, count in found)}" if found else ""


def _recognises(head: bytes) -> bool:
    return head.lstrip()[:1] == b"{" and _MARKS.search(head) is not None


def _scan(source: Source, spill: _trace.SpillFile) -> Scan:
    scan = _trace.KinetoScan(spill)
    try:
        scan.read(source.read)
    except _trace.TraceError as error:
        raise RlscopeError(f"{source.path} cannot be imported: {error}") from error
    return _KinetoScan(source, scan)


IMPORTER = Importer("torch.profiler (Kineto)", _recognises, _scan)

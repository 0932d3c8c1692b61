"""Programs under rls-prof on the simulated CUDA: what the trace says beside what happened."""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.cuda.boundaries import NS_TOLERATED, check_boundaries
from support.cuda.simcuda_runs import Outcome, run_simulated
from support.cuda.trace import GRAPH, KERNEL, MEMCPY, MEMSET, SYNC, CudaTrace, Row

PROF = Path(sys.executable).parent / "rls-prof"

# The functions that are recorded unless all are: those that launch, copy, set, allocate, wait or
# ask (docs/guide/cuda.md). Spelled out here once more, for the recorder has callback numbers only.
CHOSEN = re.compile(
    r"(__)?cu(da)?(Launch(Cooperative)?Kernel|LaunchHostFunc|LaunchKernelEx|Memcpy|Memset|Malloc"
    r"|Mem(Alloc|Free|HostAlloc|HostRegister|HostUnregister|Prefetch|DiscardAndPrefetch|Create"
    r"|Release|Map|Unmap|SetAccess|AddressReserve|AddressFree)|Free|Host(Alloc|Register|Unregister)"
    r"|Graph(Instantiate|Launch|Upload|ExecUpdate)|Stream(Create|Synchronize|Query|WaitEvent"
    r"|BeginCapture|EndCapture)|Event(Record|Synchronize|Query)|(Device|Ctx|Thread)Synchronize"
    r"|(GreenCtx|Ctx)(RecordEvent|WaitEvent)|GreenCtxStreamCreate|DeviceReset|ModuleLoad"
    r"|LibraryLoad|FuncLoad).*"
)
# The driver's functions that capture are left out: they take no time, and the runtime's are there.
_DRIVER_ONLY = re.compile(
    r"cu(Stream(Begin|End)Capture|StreamCreateFor|MemHostGet|MemGet|MemMapArray|EventRecord_v).*"
)

_DIRECTIONS = {"HtoD": 1, "DtoH": 2, "DtoD": 8, "HtoH": 9, "PtoP": 10}
_MEMORIES = {"pageable": 1, "pinned": 2, "device": 3, "managed": 5}
_SYNCS = {"event": 1, "stream_wait_event": 2, "stream": 3, "context": 4}
_KINDS = {
    "memcpy": MEMCPY, "peer_memcpy": MEMCPY, "kernel": KERNEL, "memset": MEMSET, "graph": GRAPH,
    "sync": SYNC,
}  # fmt: skip
_NONE = (1 << 32) - 1  # CUPTI's stream of a synchronisation that has none

Facts = tuple[Any, ...]


def is_chosen(name: str) -> bool:
    """Whether a function of this exported name is recorded without --cuda-api=all."""
    return CHOSEN.fullmatch(name) is not None and _DRIVER_ONLY.fullmatch(name) is None


@dataclass
class CudaRun(CudaTrace):
    """A finished run: its trace, and its truth."""

    outcome: Outcome

    def pids(self) -> list[int]:
        """Processes of which the truth knows CUDA calls."""
        return sorted({row["pid"] for row in self.outcome.calls()})


def record_cuda(
    folder: Path,
    command: list[str],
    *options: str,
    prof: tuple[str, ...] = (),
    code: int = 0,
    **environment: str,
) -> CudaRun:
    """Runs a command under rls-prof on the simulated CUDA; `options` are those of its runner."""
    directory = folder / "trace"
    wrapped = [str(PROF), "--no-report", "--force", "-o", str(directory), *prof, "--", *command]
    outcome = run_simulated(folder, wrapped, *options, **environment)
    assert outcome.code == code, outcome.err
    return CudaRun(directory, outcome)


def expected_calls(run: CudaRun, pid: int, *, everything: bool = False) -> dict[int, Row]:
    """Calls of the truth that a recorder must have: outermost ones that CUPTI has callbacks for.

    A driver call inside a runtime call that is not recorded is outermost to the recorder, which
    begins inside cuInit(): calls that were open then have had no enter callback.
    """
    recorded: dict[int, Row] = {}
    calls = run.outcome.calls(pid=pid)
    begin_ns = min((row["end_ns"] for row in calls if row["name"] == "cuInit"), default=0)
    for row in sorted(calls, key=lambda row: row["depth"]):
        wanted = row["has_cbid"] and (everything or is_chosen(row["name"]))
        wanted = wanted and row["start_ns"] >= begin_ns
        if wanted and row["correlation"] not in recorded:
            recorded[row["correlation"]] = row
    return recorded


def device_work(run: CudaRun, pid: int, *, graphs_as_nodes: bool = False) -> list[Row]:
    """Device operations of the truth that a recorder must have."""
    rows = [row for row in run.outcome.operations(pid=pid) if row["kind"] in _KINDS]
    if graphs_as_nodes:
        return [row for row in rows if row["kind"] != "graph"]
    return [row for row in rows if row["kind"] == "graph" or row["graph"] == 0]


def expected_work(run: CudaRun, pid: int, *, graphs_as_nodes: bool = False) -> list[Facts]:
    """Device operations of the truth, as comparable_work() gives those of the trace."""
    rows = device_work(run, pid, graphs_as_nodes=graphs_as_nodes)
    return sorted(_facts_of_truth(row) for row in rows)


def comparable_work(work: list[Row]) -> list[Facts]:
    """Recorded work without its times, and without what CUPTI says of itself."""
    return sorted(_facts_of_work(row) for row in work if row["kind"] in _KINDS.values())


def check_calls(run: CudaRun, pid: int, *, everything: bool = False) -> None:
    """The calls of a process in the trace are those of the truth, in name, status and time."""
    expected = expected_calls(run, pid, everything=everything)
    recorded = run.calls(pid)
    missing = {expected[c]["name"] for c in expected.keys() - recorded.keys()}
    extra = {recorded[c]["name"] for c in recorded.keys() - expected.keys()}
    assert (missing, extra) == (set(), set())
    for correlation, truth in expected.items():
        call = recorded[correlation]
        assert (call["name"], call["status"]) == (truth["name"], truth["status"])
    check_boundaries(recorded, expected)


def check_work(run: CudaRun, pid: int, *, nodes: bool = False) -> None:
    """GPU work of a process in the trace is that of the truth, all of it at its time."""
    assert comparable_work(run.work(pid)) == expected_work(run, pid, graphs_as_nodes=nodes)
    for record, truth in paired_work(run, pid, nodes=nodes):
        assert abs(record["start_ns"] - truth["start_ns"]) < NS_TOLERATED, truth
        assert abs(record["end_ns"] - truth["end_ns"]) < NS_TOLERATED, truth


def paired_work(run: CudaRun, pid: int, *, nodes: bool = False) -> Iterator[tuple[Row, Row]]:
    """Each record with its operation; of those that differ in their times alone (kernels of one
    graph's launch), the nearest."""
    records = defaultdict(list)
    for record in run.work(pid):
        if record["kind"] in _KINDS.values():
            records[_facts_of_work(record)].append(record)
    for truth in device_work(run, pid, graphs_as_nodes=nodes):
        alike = records[_facts_of_truth(truth)]
        nearest = min(alike, key=lambda record: _apart_ns(record, truth))
        alike.remove(nearest)
        yield nearest, truth


def _apart_ns(record: Row, truth: Row) -> int:
    return sum(abs(int(record[side] - truth[side])) for side in ("start_ns", "end_ns"))


def check_processes(run: CudaRun, count: int) -> None:
    """So many processes made CUDA calls, and each has its calls and its work."""
    pids = run.pids()
    assert len(pids) == count
    for pid in pids:
        check_calls(run, pid)
        check_work(run, pid)


def _facts_of_truth(row: Row) -> Facts:
    kind = _KINDS[row["kind"]]
    device = None if kind == SYNC else row["device"]  # CUPTI's record has none
    stream = _NONE if row["stream"] is None else row["stream"]
    place = _place(kind, row["correlation"], device, row["context"], stream, row["graph"])
    if kind == KERNEL:
        grid, block = row["grid"], row["block"]
        packed = grid[0] | grid[1] << 32 | grid[2] << 48
        shared = row["static_shared_bytes"] | row["dynamic_shared_bytes"] << 32
        threads = block[0] | block[1] << 12 | block[2] << 24
        return (*place, row["name"], packed, threads, shared, row["registers"])
    if kind == MEMCPY:
        host = row["destination"] if row["direction"] == "DtoH" else row["source"]
        return (*place, row["bytes"], _DIRECTIONS[row["direction"]] | _MEMORIES[host] << 4)
    if kind == MEMSET:
        return (*place, row["bytes"], _MEMORIES[row["destination"]])
    return (*place, _SYNCS[row["sync"]]) if kind == SYNC else place


def _facts_of_work(row: Row) -> Facts:
    kind = row["kind"]
    device = None if kind == SYNC else row["device"]
    stream = row["stream"] & _NONE
    place = _place(kind, row["correlation"], device, row["context"], stream, row["graph"])
    if kind == KERNEL:
        grid = row["grid"] & (1 << 64) - 1
        return (*place, row["name"], grid, row["block"], row["shared_memory"], row["registers"])
    if kind in (MEMCPY, MEMSET):
        return (*place, row["bytes"], row["how"])
    return (*place, row["how"]) if kind == SYNC else place


def _place(
    kind: int, correlation: int, device: int | None, context: int, stream: int, graph: int
) -> Facts:
    return (kind, correlation, -1 if device is None else device, context, stream, graph)


def losses(run: CudaRun) -> dict[str, int]:
    """Counts of what was lost, by kind."""
    return {row["kind"]: row["count"] for row in run.query("SELECT kind, count FROM loss")}


def note(run: CudaRun, pid: int, key: str = "cuda") -> dict[str, Any]:
    """What capture said of itself, in the metadata of this key."""
    said: dict[str, Any] = json.loads(run.metadata(pid)[key])
    return said


def since(rows: dict[int, Row], begun_ns: int) -> dict[int, Row]:
    """Those that started at this time or later."""
    return {key: row for key, row in rows.items() if row["start_ns"] >= begun_ns}

"""Programs under rls-prof on the simulated CUDA: what the trace says beside what happened."""

from __future__ import annotations

import re
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuda_trace import CudaTrace, Row
from simcuda_runs import Outcome, run_simulated

PROF = Path(sys.executable).parent / "rls-prof"

# The functions that are recorded unless all are: those that launch, copy, set, allocate, wait or
# ask (docs/guide/cuda.md). Spelled out here once more, for the recorder has callback numbers only.
CHOSEN = re.compile(
    r"(__)?cu(da)?(Launch(Cooperative)?Kernel|LaunchHostFunc|LaunchKernelEx|Memcpy|Memset|Malloc"
    r"|Mem(Alloc|Free|HostAlloc|HostRegister|HostUnregister|Prefetch)|Free|Host(Alloc|Register"
    r"|Unregister)|Graph(Instantiate|Launch|Upload|ExecUpdate)|Stream(Create|Synchronize|Query"
    r"|WaitEvent|BeginCapture|EndCapture)|Event(Record|Synchronize|Query)|(Device|Ctx)Synchronize"
    r"|DeviceReset|ModuleLoad|LibraryLoad).*"
)
# Of the driver, capturing is not among them: it takes no time and the runtime's is.
_DRIVER_ONLY = re.compile(r"cu(Stream(Begin|End)Capture|MemHostGet|MemGet|EventRecord_v).*")

NS_TOLERATED = 1_000

_DIRECTIONS = {"HtoD": 1, "DtoH": 2, "DtoD": 8, "HtoH": 9, "PtoP": 10}
_MEMORIES = {"pageable": 1, "pinned": 2, "device": 3, "managed": 5}
_KINDS = {"memcpy": 2, "peer_memcpy": 2, "kernel": 1, "memset": 3, "graph": 4, "sync": 5}


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


def expected_work(
    run: CudaRun, pid: int, *, graphs_as_nodes: bool = False
) -> list[tuple[Any, ...]]:
    """Device operations of the truth, as comparable_work() gives those of the trace."""
    rows = []
    for row in run.outcome.operations(pid=pid):
        in_graph = row["graph"] != 0 and row["kind"] != "graph"
        if row["kind"] in _KINDS and (in_graph <= graphs_as_nodes):
            if not (row["kind"] == "graph" and graphs_as_nodes):
                rows.append(_facts_of_truth(row))
    return sorted(rows)


def comparable_work(work: list[Row]) -> list[tuple[Any, ...]]:
    """Recorded work without its times, and without what CUPTI says of itself."""
    return sorted(_facts_of_work(row) for row in work if row["kind"] <= max(_KINDS.values()))


def check_calls(run: CudaRun, pid: int, *, everything: bool = False) -> None:
    """The calls of a process in the trace are those of the truth, in name, status and time."""
    expected = expected_calls(run, pid, everything=everything)
    recorded = run.calls(pid)
    missing = {expected[c]["name"] for c in expected.keys() - recorded.keys()}
    extra = {recorded[c]["name"] for c in recorded.keys() - expected.keys()}
    assert (missing, extra) == (set(), set())
    errors = []
    for correlation, truth in expected.items():
        call = recorded[correlation]
        assert truth["name"].startswith(call["name"].removesuffix("_ptsz"))
        assert call["status"] == truth["status"]
        # The truth is stamped inside of the callbacks; ticks become nanoseconds within some.
        before, after = truth["start_ns"] - call["start_ns"], call["end_ns"] - truth["end_ns"]
        assert before > -NS_TOLERATED
        assert after > -NS_TOLERATED
        errors += [before, after]
    assert statistics.median(errors) < NS_TOLERATED


def check_work(run: CudaRun, pid: int, *, nodes: bool = False) -> None:
    """GPU work of a process in the trace is that of the truth; kernels at their time."""
    work = run.work(pid)
    assert comparable_work(work) == expected_work(run, pid, graphs_as_nodes=nodes)
    kernels = {row["correlation"]: row for row in work if row["kind"] == 1 and row["graph"] == 0}
    for truth in run.outcome.operations(pid=pid, kind="kernel"):
        if truth["graph"]:
            continue
        kernel = kernels[truth["correlation"]]
        assert abs(kernel["start_ns"] - truth["start_ns"]) < NS_TOLERATED
        assert abs(kernel["end_ns"] - truth["end_ns"]) < NS_TOLERATED


def check_processes(run: CudaRun, count: int) -> None:
    """So many processes made CUDA calls, and each has its calls and its work."""
    pids = run.pids()
    assert len(pids) == count
    for pid in pids:
        check_calls(run, pid)
        check_work(run, pid)


def _facts_of_truth(row: Row) -> tuple[Any, ...]:
    kind = _KINDS[row["kind"]]
    common = (kind, row["correlation"], row["stream"] if row["stream"] is not None else -1)
    if kind == 1:
        grid, block = row["grid"], row["block"]
        packed = grid[0] | grid[1] << 32 | grid[2] << 48
        shared = row["static_shared_bytes"] | row["dynamic_shared_bytes"] << 32
        threads = block[0] | block[1] << 12 | block[2] << 24
        return (*common, row["name"], packed, threads, shared, row["registers"])
    if kind == 2:
        host = row["destination"] if row["direction"] == "DtoH" else row["source"]
        how = _DIRECTIONS[row["direction"]] | _MEMORIES[host] << 4
        return (*common, "", row["bytes"], how)
    return (*common, "", row.get("bytes") or 0)


def _facts_of_work(row: Row) -> tuple[Any, ...]:
    no_stream = (1 << 32) - 1
    stream = row["stream"] & no_stream
    common = (row["kind"], row["correlation"], -1 if stream in (no_stream, 0) else stream)
    if row["kind"] == 1:
        return (
            *common, row["name"], row["grid"] & (1 << 64) - 1, row["block"], row["shared_memory"],
            row["registers"],
        )  # fmt: skip
    if row["kind"] == 2:
        return (*common, "", row["bytes"], row["how"])
    return (*common, "", row["bytes"])

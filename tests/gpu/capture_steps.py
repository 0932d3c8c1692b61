"""Steps about what is recorded: attaching, counts, names and numbers of calls, graphs."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from collections import Counter

from cuda_trace import GRAPH, KERNEL, MEMCPY, MEMSET
from gpu_runs import PROGRAMS, Bench, Figures, Run, Skip, check, need

DIRECTIONS = {1: "HtoD", 2: "DtoH"}
LIBRARIES = ("torch", "jax", "cupy", "numba", "triton")


def attaching(bench: Bench, library: str) -> Figures:
    """A library's loop is recorded whole: capture attached, and each round's kernel is there."""
    need(library)
    if library == "jax":
        need("jax_cuda13_plugin")
    run = bench.record("library_loop.py", library)
    note, names = run.note(), Counter(row["name"] for row in run.work(KERNEL))
    check("problem" not in note, note.get("problem", ""))
    check(note.get("clock") == "monotonic", "CUPTI refused our clock")
    # A name that the library makes up: its kernel is the one that ran most.
    part = run.said["name"] or max(names, key=lambda name: names[name], default="")
    found = sum(count for name, count in names.items() if part in name)
    check(found == run.said["rounds"], f"{found} of {run.said['rounds']} kernels {part}: {names}")
    check_no_losses(run)
    return {"kernels": names.total(), "calls": len(run.calls()), **correlate(run), **note}


def injection(bench: Bench) -> Figures:
    """The driver injects the library that is preloaded already, and begins it once."""
    run = bench.record("driver_injection.py")
    check(run.said["same_handle"], "the driver loaded another copy of the recorder")
    libraries = run.said["libraries"]
    check(len(libraries) == 1, f"mapped: {libraries}")
    # A second beginning would find CUPTI's subscription taken, by the first.
    problem = run.note().get("problem", "")
    check(not problem, f"begun more than once, or refused: {problem}")
    return {"injected": libraries[0], **run.note()}


def nesting(bench: Bench) -> Figures:
    """Whether driver calls inside runtime calls have callbacks, with which number. No bound."""
    said = bench.plain("nesting.py")
    if not said["runtime"]:
        raise Skip("no libcudart can be loaded")
    return {name: said[name] for name in ("runtime", "driver_inside", "same_correlation")}


def static_runtime(bench: Bench) -> Figures:
    """A program of nvcc's with the runtime library linked into it (nvcc's default)."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise Skip("nvcc is not installed")
    bench.folder.mkdir(parents=True, exist_ok=True)
    program = bench.folder / "static_runtime"
    command = [nvcc, "-cudart", "static", "-o", str(program), str(PROGRAMS / "static_runtime.cu")]
    done = subprocess.run(command, capture_output=True, text=True)
    check(done.returncode == 0, f"nvcc: {done.stderr.strip()[-300:]}")
    run = bench.record(str(program))
    kernels = len(run.work(KERNEL))
    check(kernels == run.said["kernels"], f"{kernels} of {run.said['kernels']} kernels")
    copied = sum(row["bytes"] for row in run.work(MEMCPY))
    check(copied == run.said["copied_bytes"], f"{copied} of {run.said['copied_bytes']} bytes")
    check_no_losses(run)
    return {"kernels": kernels, **correlate(run), **run.note()}


def counts(bench: Bench) -> Figures:
    """Every kernel, copy and memset of four threads, and their bytes."""
    run = bench.record("driver_counts.py")
    copies = run.work(MEMCPY)
    found = {
        "kernels": len(run.work(KERNEL)),
        "copies": dict(Counter(DIRECTIONS.get(row["how"] & 15, "other") for row in copies)),
        "copied_bytes": sum(row["bytes"] for row in copies),
        "sets": len(run.work(MEMSET)),
        "set_bytes": sum(row["bytes"] for row in run.work(MEMSET)),
    }
    check_no_losses(run)
    expected = {name: run.said[name] for name in found}
    check(found == expected, f"{found} where the program made {expected}")
    launches = sum(1 for call in run.calls().values() if call["name"] == "cuLaunchKernel")
    check(launches == found["kernels"], f"{launches} launch calls")
    return {**found, **correlate(run)}


def correlate(run: Run) -> Figures:
    """Each piece of GPU work has exactly one call, which began before it."""
    calls = run.calls()
    work = run.work(KERNEL, MEMCPY, MEMSET, GRAPH)
    unlinked = [row for row in work if row["correlation"] not in calls]
    check(not unlinked, f"{len(unlinked)} of {len(work)} pieces of work have no call")
    early = sum(row["start_ns"] < calls[row["correlation"]]["start_ns"] for row in work)
    check(early == 0, f"{early} of {len(work)} pieces of work began before their call")
    return {"linked": len(work)}


def check_no_losses(run: Run) -> None:
    rows = run.trace.query(
        "SELECT kind, count FROM loss WHERE kind IN ('cuda_dropped', 'gpu_unfinished')"
    )
    check(not rows, f"losses: {rows}")


def same_as_torch_profiler(bench: Bench) -> Figures:
    """Kernels of a training loop as torch.profiler sees them in a run of its own."""
    need("torch")
    updates = 100
    run = bench.record("torch_training.py", str(updates))
    begin_ns, end_ns = run.said["begin_ns"], run.said["end_ns"]
    kernels = [row for row in run.work(KERNEL) if begin_ns <= row["start_ns"] < end_ns]
    ours = Counter(demangled(row["name"]) for row in kernels)
    file = bench.folder / "torch-profiler.json"
    bench.plain("torch_training.py", str(updates), str(file))
    events = json.loads(file.read_text())["traceEvents"]
    theirs = [event for event in events if event.get("cat") == "kernel"]
    check(bool(theirs), "torch.profiler saw no kernels in its own run")
    different = ours - Counter(event["name"] for event in theirs)
    check(not different, f"not seen by torch.profiler: {dict(different)}")
    check(len(theirs) == len(kernels), f"{len(kernels)} kernels, torch.profiler has {len(theirs)}")
    our_us = sum(row["duration_ns"] for row in kernels) / 1e3
    their_us = sum(event["dur"] for event in theirs)
    ratio = our_us / their_us if their_us else 1.0
    check(abs(ratio - 1) <= 0.03, f"GPU time is {ratio:.3f} of torch.profiler's")
    return {"kernels": len(kernels), "names": len(ours), "gpu_time_ratio": round(ratio, 4)}


def demangled(name: str) -> str:
    """A kernel's name as C++ writes it; itself where it is not mangled."""
    library = ctypes.CDLL("libstdc++.so.6")
    library.__cxa_demangle.restype = ctypes.c_void_p
    text = library.__cxa_demangle(name.encode(), None, None, None)
    if not text:
        return name
    result = ctypes.string_at(text).decode()
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]
    libc.free(text)
    return result


def graphs(bench: Bench, program: str) -> Figures:
    """A CUDA graph's launches, and with --cuda-graph-trace=node its kernels."""
    if program.startswith("torch"):
        need("torch")
    whole = bench.record(program)
    launches = len(whole.work(GRAPH))
    check(launches == whole.said["replays"], f"{launches} of {whole.said['replays']} replays")
    nodes = bench.record(program, prof=("--cuda-graph-trace", "node"))
    kernels = sum(1 for row in nodes.work(KERNEL) if row["graph"] != 0)
    check(kernels == nodes.said["kernels"], f"{kernels} of {nodes.said['kernels']} kernels")
    correlate(whole)
    return {"launches": launches, "kernels_by_node": kernels, **correlate(nodes)}


def raw_records(bench: Bench) -> Figures:
    """CUPTI's own records of a short program, kept beside the traces: for tests/golden/cupti."""
    figures: Figures = {}
    for level in ("graph", "node"):
        bench.folder.mkdir(parents=True, exist_ok=True)
        file = bench.folder / f"{level}.txt"
        said = bench.plain("raw_records.py", str(file), level)
        lines = file.read_text().splitlines()[1:]
        kinds = Counter(map(kind_of, lines))
        expected = {10: said["kernels"], 1: sum(said["copies"].values()), 2: said["sets"]}
        found = {kind: kinds[kind] for kind in expected}
        check(found == expected, f"{found} records of a kind where {expected} were made")
        check(kinds[51] == said["graphs"], f"{kinds[51]} of {said['graphs']} graphs")
        sizes = {kind_of(line): len(line.split()[0]) // 2 for line in lines}
        figures[level] = {"cupti": said["cupti"], "kinds": kinds, "bytes": sizes}
    return figures


def kind_of(line: str) -> int:
    """The kind that a record in hexadecimal begins with."""
    return int.from_bytes(bytes.fromhex(line[:8]), "little")

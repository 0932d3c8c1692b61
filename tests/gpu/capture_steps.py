"""Steps about what is recorded: attaching, counts, names and numbers of calls, graphs."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

from gpu_runs import Bench, Figures, Run, Skip, check, need, need_tool
from support.cuda.trace import GRAPH, KERNEL, MEMCPY, MEMSET

DIRECTIONS = {1: "HtoD", 2: "DtoH", 8: "DtoD"}
LIBRARIES = ("torch", "jax", "cupy", "numba", "triton")
MILLION = 1_000_000
CUDA_SOURCE = Path(__file__).parent / "programs" / "loops.cu"
# PTX for any GPU since 2018, and what clusters of blocks need on Hopper and later.
ARCHITECTURES = (
    "-gencode=arch=compute_75,code=compute_75",
    "-gencode=arch=compute_90,code=[sm_90,compute_90]",
)


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
    """Driver calls inside runtime calls have the runtime call's correlation id, as we need it."""
    place = bench.folder / "calls"
    said = bench.witness(place, "runtime_calls.py")
    if not said["calls"]:
        raise Skip("no libcudart can be loaded")
    runtime = inside = other = 0
    opened: dict[str, list[tuple[str, str]]] = {}
    for line in (place / "calls.txt").read_text().splitlines():
        domain, _id, site, correlation, _context, thread, _ns, _name = line.split(" ", 7)
        stack = opened.setdefault(thread, [])
        if site == "1":
            if stack:  # the call that is open when the witness begins has no beginning
                stack.pop()
            continue
        runtime += domain == "2"
        if domain == "1" and stack and stack[-1][0] == "2":
            inside += 1
            other += correlation != stack[-1][1]
        stack.append((domain, correlation))
    check(runtime == said["calls"], f"{runtime} of {said['calls']} runtime calls have callbacks")
    check(other == 0, f"{other} of {inside} driver calls inside have an id of their own")
    return {"runtime": runtime, "driver_inside": inside}


def counts(bench: Bench) -> Figures:
    """Every kernel, copy and memset of four threads, and their bytes, by the driver."""
    run = bench.record("driver_counts.py")
    found = check_work(run)
    launches = sum(1 for call in run.calls().values() if call["name"] == "cuLaunchKernel")
    check(launches == found["kernels"], f"{launches} launch calls")
    return {**found, **correlate(run)}


def check_work(run: Run) -> Figures:
    """Kernels, copies and memsets are as many as the program says, and their bytes."""
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
    return found


def runtime_loops(bench: Bench, linked: str) -> Figures:
    """Loops of nvcc's: streams, threads, copies, pools, graphs, cooperative launches, clusters."""
    run = bench.record(str(built_loops(bench, linked)))
    names = Counter(plain_name(row["name"]) for row in run.work(KERNEL))
    check(dict(names) == run.said["kernels"], f"{dict(names)}, not {run.said['kernels']}")
    run.said["kernels"] = names.total()
    found = check_work(run)
    graphs = len(run.work(GRAPH))
    check(graphs == run.said["graphs"], f"{graphs} of {run.said['graphs']} launches of a graph")
    kept = {name: run.said[name] for name in ("graphs", "unsupported")}
    return {**found, "by_name": dict(names), **kept, **correlate(run), **run.note()}


def plain_name(mangled: str) -> str:
    """The name that a kernel has in loops.cu."""
    names = "Launched Streamed Threaded Pooled Captured Clustered Cooperating".split()
    return next((name for name in names if name in mangled), mangled)


def built_loops(bench: Bench, linked: str) -> Path:
    """loops.cu, with the runtime library linked `static` (nvcc's default) or `shared`."""
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if nvcc is None:
        raise Skip("nvcc is not installed")
    program = bench.folder / "built" / f"loops_{linked}"
    program.parent.mkdir(parents=True, exist_ok=True)
    command = [nvcc, "-std=c++17", "-cudart", linked, *ARCHITECTURES]
    done = subprocess.run(
        [*command, "-o", str(program), str(CUDA_SOURCE)], capture_output=True, text=True
    )
    check(done.returncode == 0, f"nvcc: {done.stderr.strip()[-300:]}")
    return program


def million(bench: Bench) -> Figures:
    """A million launches as fast as the program can: none dropped, none lost."""
    linked = "static" if shutil.which("nvidia-smi") else "shared"  # simulated CUDA runs no other
    run = bench.record(str(built_loops(bench, linked)), str(MILLION))
    (kernels,) = run.trace.query("SELECT SUM(count) AS kernels FROM kernel")
    (calls,) = run.trace.query(
        "SELECT SUM(calls) AS calls FROM api_call WHERE name LIKE '%LaunchKernel%'"
    )
    found = {"kernels": int(kernels["kernels"]), "launch_calls": int(calls["calls"])}
    lost = run.trace.query("SELECT kind, count FROM loss")
    check(not lost, f"losses: {lost}", found)
    check(set(found.values()) == {MILLION}, f"{found} of {MILLION}", found)
    return found


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


def late_graphs(bench: Bench) -> Figures:
    """Graphs that were made before recording began, or in a pause of it, do not end the program."""
    figures: Figures = {}
    for order in ("late", "paused", "resumed"):
        run = bench.record("driver_late_graph.py", order)
        kernels = sum(row["graph"] != 0 for row in run.work(KERNEL))
        check(kernels == run.said["kernels"], f"{order}: {kernels} of {run.said['kernels']}")
        figures[order] = kernels
    return figures


def subscribed(bench: Bench) -> Figures:
    """Beside another subscriber of CUPTI the program runs as ever, and the trace says so."""
    run = bench.record("subscribed.py")
    check(run.said["subscribed"] == 0, f"the program could not subscribe: {run.said['subscribed']}")
    problem = run.note().get("problem", "")
    check("another profiler" in problem, f"the trace says: {problem or 'nothing'}")
    return {"problem": problem}


def other_injection(bench: Bench) -> Figures:
    """Beside another tool's injection library CUDA is recorded late, and from then on whole."""
    need_tool("cc")
    other = bench.compile("injected.c", "-shared", "-fPIC")
    run = bench.record("driver_lasting.py", "4", env={"CUDA_INJECTION64_PATH": str(other)})
    note = run.note()
    attached_ns = note.get("attached_ns")
    check(attached_ns is not None, f"it was not recorded: {note}")
    expected = sum(launched > attached_ns for launched in run.said["launched_ns"])
    kernels = len(run.work(KERNEL))
    check(kernels >= expected, f"{kernels} of {expected} kernels after attaching")
    return {"kernels": kernels, "before": len(run.said["launched_ns"]) - kernels, **note}


def hardware_trace(bench: Bench) -> Figures:
    """CUPTI's hardware event system, where this GPU has it: the same counts."""
    run = bench.record("driver_counts.py", env={"CUPTI_ENABLE_HW_TRACE": "1"})
    return {**check_work(run), **correlate(run)}


def interposed(bench: Bench) -> Figures:
    """Without CUPTI, in front of the runtime library: launches of a program linked to it shared."""
    run = bench.record(str(built_loops(bench, "shared")), "1000", prof=("--cuda", "interpose"))
    (found,) = run.trace.query(
        "SELECT SUM(calls)::BIGINT AS calls FROM api_call WHERE name LIKE '%LaunchKernel%'"
    )
    check(found["calls"] == 1000, f"{found['calls']} of 1000 launches")
    check(not run.work(KERNEL), "kernels, without CUPTI")
    return {"launches": found["calls"]}

"""Steps that bring data home: golden traces, pairs for what-if, a table of kernels, samples."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

from gpu_runs import Bench, Failure, Figures, Run, Skip, check, need
from support.cuda.trace import KERNEL
from support.cuda.witness import CALLS, RECORDS, kinds_of, put_facts

WORK = ("driver_work.py",)
LOOPS = {
    **{f"{name}-loop": ("library_loop.py", name) for name in ("torch", "jax", "cupy", "triton")},
    "torch-training": ("torch_training.py", "10"),
}
CHANGES: dict[str, tuple[str, ...]] = {
    "base": (),
    "batch-64": ("--batch", "64"),
    "batch-1024": ("--batch", "1024"),
    "amp": ("--amp",),
    "fused": ("--fused",),
    "graph": ("--graph",),
    "compile": ("--compile",),
    "pinned": ("--pinned",),
    "no-item": ("--no-item",),
    "graph-no-item": ("--graph", "--no-item"),
}
ITERATIONS = "40"
TRACE_PARTS = ("run.json", "processes.log", "machine.jsonl", "trace")


def keep_trace(run: Run, place: Path) -> None:
    """The files of a trace that cannot be made again."""
    place.mkdir(parents=True, exist_ok=True)
    for part in TRACE_PARTS:
        source = run.trace.directory / part
        if source.is_dir():
            shutil.copytree(source, place / part, dirs_exist_ok=True)
        elif source.exists():
            shutil.copyfile(source, place / part)


def golden_records(bench: Bench) -> Figures:
    """CUPTI's own records of a little of everything, as launches of graphs and as their kernels."""
    figures: Figures = {}
    for level in ("graph", "node"):
        place = bench.folder / "data" / f"work-{level}"
        facts = put_facts(place, bench.witness(place, *WORK, level=level), level)
        kinds = kinds_of(place)
        found = {"kernels": kinds[10], "sets": kinds[2], "graphs": kinds[51]}
        wanted = {name: facts[name] for name in found}
        check(found == wanted, f"{found} records where {wanted} were made")
        figures[level] = dict(kinds)
    keep_trace(bench.record(*WORK), bench.folder / "data" / "work-trace")
    return figures


def golden_loops(bench: Bench) -> Figures:
    """CUPTI's own records, and our trace, of each library's loop."""
    figures = {name: kept_or_why(bench, name) for name in LOOPS}
    several = {name: of for name, of in figures.items() if isinstance(of, dict)}
    if not several:
        raise Skip("; ".join(f"{name}: {reason}" for name, reason in figures.items()))
    different = {name for name, of in several.items() if of["kernels"] != of["recorded"]}
    check(not different, f"kernels of the witness and of the trace differ: {different}", figures)
    return figures


def kept_or_why(bench: Bench, name: str) -> Figures | str:
    """Kernels that the witness has and those that our trace has; or why there is none of both."""
    program, *arguments = LOOPS[name]
    place = bench.folder / "data" / name
    try:
        need("torch" if arguments[0].isdigit() else arguments[0])
        put_facts(place, bench.witness(place, program, *arguments), "graph")
        run = bench.record(program, *arguments)
    except (Skip, Failure) as error:
        return str(error)
    keep_trace(run, place / "trace")
    kinds = kinds_of(place)
    for file in (RECORDS, CALLS):
        pack(place / file)
    return {"kernels": kinds[10], "recorded": len(run.work(KERNEL))}


def pack(file: Path) -> None:
    with open(file, "rb") as source, gzip.open(f"{file}.gz", "wb") as target:
        shutil.copyfileobj(source, target)
    file.unlink()


def what_if(bench: Bench) -> Figures:
    """The learner before and after one change each: its time without us, and a trace."""
    need("torch")
    figures = {name: changed(bench, name) for name in CHANGES}
    check(isinstance(figures["base"], dict), f"the learner cannot be run: {figures['base']}")
    return figures


def changed(bench: Bench, name: str) -> Figures | str:
    """Microseconds of an iteration, without us before and after the recorded ones, and with us."""
    options = CHANGES[name]
    try:
        if "--compile" in options:
            need("triton")
        run = bench.record("learner.py", *options, "--iterations", ITERATIONS)
    except (Skip, Failure) as error:
        return str(error)
    place = bench.folder / "data" / name
    keep_trace(run, place)
    (place / "said.json").write_text(json.dumps(run.said) + "\n")
    parts = [run.said["plain"][0], run.said["recorded"], run.said["plain"][1]]
    before, recorded, after = (part["wall_ns"] / part["iterations"] / 1e3 for part in parts)
    return {"before_us": round(before, 1), "recorded_us": round(recorded, 1),
            "after_us": round(after, 1)}  # fmt: skip

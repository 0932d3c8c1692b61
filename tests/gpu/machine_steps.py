"""Steps about the machine: its facts, and the readings of NVIDIA's management library."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

from data_steps import keep_trace
from gpu_runs import RLSCOPE, Bench, Figures, Run, Skip, check, need
from support.cuda.trace import KERNEL
from table_steps import write_csv


def machine(bench: Bench) -> Figures:
    """What rlscope doctor says of this machine; what the machine says of itself is kept."""
    text = subprocess.run([*RLSCOPE, "doctor"], capture_output=True, text=True)
    (bench.folder / "data").mkdir(exist_ok=True)
    (bench.folder / "data" / "doctor.txt").write_text(text.stdout + text.stderr)
    done = subprocess.run([*RLSCOPE, "doctor", "--format", "json"], capture_output=True, text=True)
    check(bool(done.stdout), done.stderr.strip() or "rlscope doctor said nothing")
    for name, question in QUESTIONS.items():
        answer = subprocess.run(question, shell=True, capture_output=True, text=True, timeout=60)
        (bench.folder / "data" / f"{name}.txt").write_text(answer.stdout + answer.stderr)
    lines = json.loads(done.stdout)
    return {line["subject"]: f"{line['status']}: {line['text']}" for line in lines}


QUESTIONS = {
    "nvidia-smi": "nvidia-smi -q",
    "kernel": "uname -a; cat /proc/driver/nvidia/params /proc/driver/nvidia/version",
    "clocksource": "cat /sys/devices/system/clocksource/clocksource0/current_clocksource",
    "cpu": "lscpu; free -g; df -T / /tmp /dev/shm",
    "libraries": "ldd --version | head -1; find /usr /opt -xdev -name 'libcupti.so*' 2>/dev/null",
    "packages": f"{sys.executable} -m pip list 2>/dev/null",
}


def busy_share(bench: Bench) -> Figures:
    """NVML's readings of a GPU that is busy for a known share of the time; its power and energy."""
    need("pynvml")
    if shutil.which("nvidia-smi") is None:
        raise Skip("no driver of NVIDIA's brings its management library")
    lines = bench.folder / "samples.jsonl"
    run = bench.record("busy_share.py", str(lines), "5", prof=("--sample-seconds", "0.25"))
    samples = [json.loads(line) for line in lines.read_text().splitlines()]
    write_csv(bench.folder / "data" / "samples.csv", samples)
    work = sorted((row["start_ns"], row["end_ns"]) for row in run.work(KERNEL))
    phases = [
        {**phase, **seen_in(phase, samples), "true_percent": busy_percent(phase, work)}
        for phase in run.said["phases"]
    ]
    write_csv(bench.folder / "data" / "shares.csv", phases)
    keep_trace(run, bench.folder / "data" / "trace")
    for phase in phases:
        wanted = phase["asked"]
        if wanted is not None:
            error = abs(phase["true_percent"] - 100 * wanted)
            check(error < 3, f"{phase['phase']}: busy for {phase['true_percent']} %")
    return {phase["phase"]: phase for phase in phases} | {"whole run": polled_and_true(run, work)}


def polled_and_true(run: Run, work: list[tuple[int, int]]) -> Figures:
    """What the relation utilisation sets side by side, with our own union beside it."""
    question = "SELECT * FROM utilisation WHERE kind = 'gpu' AND busy_ns > 0"
    rows = run.trace.query(question)
    check(len(rows) == 1, f"{len(rows)} GPUs were busy where one was used")
    (row,) = rows
    whole = {"begin_ns": row["start_ns"], "end_ns": row["end_ns"]}
    found = round(100 * row["busy_ns"] / row["duration_ns"], 2)
    true = busy_percent(whole, work)
    check(abs(found - true) < 0.1, f"utilisation says {found} % busy, the kernels {true} %")
    return {"polled_percent": round(row["polled_percent"], 1), "true_percent": found}


def seen_in(phase: dict[str, Any], samples: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over the samples of a phase but its first second, which NVML still averages."""
    begin = phase["begin_ns"] + 1_000_000_000
    inside = [row for row in samples if begin <= row["time_ns"] <= phase["end_ns"]]
    if not inside:
        return {}
    found = {name: mean_of(inside, name) for name in ("utilization", "power_mw", "sm_mhz")}
    first, last = inside[0], inside[-1]
    if first["energy_mj"] is not None and last["time_ns"] > first["time_ns"]:
        energy_mj = last["energy_mj"] - first["energy_mj"]
        found["energy_mw"] = round(energy_mj / (last["time_ns"] - first["time_ns"]) * 1e9)
    return found


def mean_of(rows: list[dict[str, Any]], name: str) -> float | None:
    values = [row[name] for row in rows if row[name] is not None]
    return round(statistics.mean(values), 1) if values else None


def busy_percent(phase: dict[str, Any], work: Iterable[tuple[int, int]]) -> float:
    """The union of kernels in a phase, of its length."""
    busy, last = 0, phase["begin_ns"]
    for start, end in work:
        start, end = max(start, last), min(end, phase["end_ns"])
        if end > start:
            busy, last = busy + end - start, end
    return round(100 * busy / (phase["end_ns"] - phase["begin_ns"]), 2)

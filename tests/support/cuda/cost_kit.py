"""The kit's steps about costs, with blocks short enough for a test, on simulated CUDA with known
costs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from gpu.kit import copy_steps

from support.cuda.simcuda_runs import run_simulated

CALLBACK_NS, ACTIVITY_NS, ATTACHED_NS = 2000, 4000, 1500
COSTS = {
    "SIMCUPTI_CALLBACK_NS": str(CALLBACK_NS),
    "SIMCUPTI_ACTIVITY_NS": str(ACTIVITY_NS),
    "SIMCUDA_KERNEL_DURATION": "1us",
}
ATTACHED = {"SIMCUPTI_ATTACHED_NS": str(ATTACHED_NS)}
"""All calls cost that: PyTorch makes many more than it launches kernels."""
LEAST, SPIN_NS = 0.85, 2000
"""A spin takes what it should, and up to so much more: it reads a clock of the kernel's."""

Changes = dict[str, list[tuple[str, str]]]
"""Texts to put in the place of others, by the names of files in tests/gpu."""

SHORTER: Changes = {
    "programs/blocks.py": [("BLOCK_SECONDS = 0.15", "BLOCK_SECONDS = 0.02")],
    "programs/cupti_settings.py": [("FLUSH_SECONDS = 1.2", "FLUSH_SECONDS = 0.3")],
    "turn_steps.py": [
        ("\nSECONDS = {False: 22.0", "\nSECONDS = {False: 8.0"),
        ("SHARE_SECONDS = {False: 8.0", "SHARE_SECONDS = {False: 2.5"),
        ("PROFILER_SECONDS = {False: 10.0", "PROFILER_SECONDS = {False: 4.0"),
    ],
    "cupti_steps.py": [
        ("\nSECONDS = {False: 16.0", "\nSECONDS = {False: 8.0"),
        ("TWIN_SECONDS = {False: 32.0", "TWIN_SECONDS = {False: 6.0"),
        ("FLUSH_SECONDS = {False: 30.0", "FLUSH_SECONDS = {False: 8.0"),
        ("PROCESS_SECONDS = {False: 5.0", "PROCESS_SECONDS = {False: 2.0"),
    ],
}


def quick_kit(folder: Path, changes: Changes = SHORTER) -> Path:
    """The acceptance script of a copy in `folder`, with changes of its files' text."""
    copy_steps(folder)
    gpu = folder / "tests" / "gpu"
    for name, pairs in changes.items():
        text = (gpu / name).read_text()
        for old, new in pairs:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (gpu / name).write_text(text)
    return gpu / "acceptance.py"


def answer_of(
    folder: Path,
    script: Path,
    step: str,
    limit: int,
    *,
    python: str = sys.executable,
    **environment: str,
) -> dict[str, Any]:
    """What a step answers within so many seconds."""
    results = folder / "results"
    command = [python, str(script), "--results", str(results), "--limit", str(limit), step]
    run_simulated(folder, command, truth=False, **environment)
    rows = map(json.loads, (results / "results.jsonl").read_text().splitlines())
    answer: dict[str, Any] = [row for row in rows if row["step"] == step][-1]
    return answer


def may_be_cost(found: dict[str, float], planted_ns: float, spins: float) -> bool:
    """Whether the interval of a figure allows what was planted."""
    return found["high"] >= LEAST * planted_ns and found["low"] <= planted_ns + spins * SPIN_NS


def is_cost(found: dict[str, float], planted_ns: float, spins: float) -> bool:
    """Whether a figure is what was planted in so many parts."""
    return LEAST * planted_ns <= found["median"] <= planted_ns + spins * SPIN_NS

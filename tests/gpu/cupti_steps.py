"""Steps about CUPTI's own cost: what turning it off leaves, and what makes it dear.

The kit's own client uses it (programs/cupti_client.c), in a process without rlscope: in ways that
rlscope has not, and one after the other. Where rlscope's way is among them it is named.
"""

from __future__ import annotations

import os
from typing import Any

import block_figures
from gpu_runs import Bench, Figures, ProgramFailed, check, need_tool
from turn_steps import data_file, keeping, need_loop, times

SECONDS = {False: 16.0, True: 90.0}
FLUSH_SECONDS = {False: 30.0, True: 75.0}
TWIN_SECONDS = {False: 32.0, True: 90.0}
WINDOWS = 20
PROCESS_SECONDS = {False: 5.0, True: 12.0}
LAST_PROCESS_SECONDS = 15.0
"""What a process with PyTorch needs at least."""
LAUNCHES_ALONE = "driver-launch"
"""The setting of cupti_settings.py in which each call is a launch."""

# Attributes of CUPTI by number, which it takes only before CUDA begins.
CHANGES = {
    "as-it-is": (),
    "shared-buffers": ("9=0:1",),  # of all threads, instead of one for each
    "latency-timestamps": ("latency",),
    "zeroed-buffers": ("5=1:1",),  # promised, so that CUPTI does not zero them
    "large-device-buffers": (f"0={32 << 20}:8",),
}


def stages(bench: Bench, loop: str) -> Figures:
    """What each step of turning CUPTI off takes, what it leaves, and whether records stay exact."""
    need_loop(loop)
    file = data_file(bench)
    arguments = (*times(bench, loop, SECONDS[bench.patient], file), client(bench))
    said = keeping(file, lambda: bench.plain("cupti_stages.py", *arguments), of_stages)
    figures = {
        "loop": loop,
        "refused": said["refused"],
        **of_stages(block_figures.read(file), {}),
    }
    check(figures["exact"]["same"], f"records differ: {figures['exact']}", figures)
    return figures


def of_stages(blocks: block_figures.Rows, per: block_figures.Per) -> Figures:
    per = {**per, **_launches(block_figures.counted_by(blocks, "on", ("kernels", "callbacks")))}
    return {**block_figures.of_cycles(blocks, per), "exact": exact(blocks)}


def _launches(counted: block_figures.Per) -> dict[str, float]:
    """Each kernel is a launch: no graphs are among the loops."""
    return {("launch" if name == "kernel" else name): each for name, each in counted.items()}


def exact(blocks: block_figures.Rows) -> Figures:
    """Whether all blocks that are on have the kernels of the first one, and dropped none."""
    on = block_figures.of_mode(blocks, "on")
    found: dict[str, Any] = {
        after: block_figures.counts([block for block in on if block["after"] == after])
        for after in dict.fromkeys(block["after"] for block in on)
    }
    kernels = {block["counts"]["kernels"] for block in on}
    dropped = sum(block["counts"]["dropped"] for block in on)
    return {"same": len(kernels) == 1 and dropped == 0, "after": found}


def twins(bench: Bench, loop: str) -> Figures:
    """What each way to turn CUPTI off leaves, beside a process without it; and a window's cost."""
    need_loop(loop)
    file = data_file(bench)
    arguments = (*times(bench, loop, TWIN_SECONDS[bench.patient], file), client(bench))
    said = keeping(file, lambda: bench.plain("cupti_twins.py", *arguments))
    blocks = block_figures.read(file)
    against = block_figures.against_twin(blocks, "never")
    return {
        "loop": loop,
        "refused": said["refused"],
        **_of_settings(blocks),
        "against_never": against,
    }


def windows(bench: Bench, kind: str) -> Figures:
    """Does a program live through windows of CUPTI that end with cuptiFinalize()?"""
    arguments = (kind, str(WINDOWS), f"{bench.left() - 2:.1f}", client(bench))
    said = bench.plain("cupti_windows.py", *arguments)
    figures = {"refused": said["refused"], "windows": said["windows"]}
    check(not said["refused"], f"CUPTI refused: {said['refused']}", figures)
    for window in said["windows"]:
        least = window["launched"] if kind == "graphs" else 1
        check(window["kernels"] >= least, f"a window lacks kernels: {window}", figures)
    return figures


def settings(bench: Bench, loop: str, group: str) -> Figures:
    """What callbacks, records and flushes cost, each used in several ways by turns."""
    need_loop(loop)
    file = data_file(bench)
    seconds = (FLUSH_SECONDS if group == "flush" else SECONDS)[bench.patient]
    arguments = (*times(bench, loop, seconds, file), client(bench), group)
    said = keeping(file, lambda: bench.plain("cupti_settings.py", *arguments))
    return {"loop": loop, "refused": said["refused"], **_of_settings(block_figures.read(file))}


def _of_settings(blocks: block_figures.Rows) -> Figures:
    """Launches are counted by their records, or where there are none by their callbacks."""
    modes = {block["mode"] for block in blocks}
    found = [block_figures.counted_by(blocks, mode, ("kernels",)).get("kernel") for mode in modes]
    by_calls = block_figures.counted_by(blocks, LAUNCHES_ALONE, ("calls",)).get("call", 0.0)
    per = {"launch": max(filter(None, found), default=by_calls)}
    return block_figures.of_blocks(blocks, per, ("callbacks",))


def processes(bench: Bench, loop: str) -> Figures:
    """What CUPTI costs with attributes that are set before CUDA begins: a process for each."""
    need_loop(loop)
    library = client(bench)
    figures: Figures = {"loop": loop, "no_time_for": []}
    for name, changes in CHANGES.items():
        if bench.left() < LAST_PROCESS_SECONDS:
            figures["no_time_for"].append(name)
            continue
        figures[name] = _process(bench, loop, name, (library, "process", *changes))
    check("added" in figures["as-it-is"], f"nothing was measured: {figures}", figures)
    return figures


def _process(bench: Bench, loop: str, name: str, rest: tuple[str, ...]) -> Figures:
    """A process that fails is an answer, and the next one runs."""
    file = data_file(bench, name)
    arguments = (*times(bench, loop, PROCESS_SECONDS[bench.patient], file), *rest)
    try:
        refused = bench.plain("cupti_settings.py", *arguments)["refused"]
    except ProgramFailed as error:
        return {"failed": str(error)}
    return {"refused": refused, **_of_settings(block_figures.read(file))}


def interposed(bench: Bench, loop: str) -> Figures:
    """What it costs to stand in front of the driver's functions and time them, without CUPTI."""
    need_loop(loop)
    file = data_file(bench)
    library = bench.compile("interposed_driver.c", "-shared", "-fPIC", "-ldl")
    preloaded = ":".join(filter(None, [str(library), os.environ.get("LD_PRELOAD")]))
    arguments = times(bench, loop, SECONDS[bench.patient], file)
    environment = {"LD_PRELOAD": preloaded}
    keeping(file, lambda: bench.plain("interposed_turns.py", *arguments, env=environment))
    figures = {"loop": loop, **block_figures.of_blocks(block_figures.read(file), {}, ("calls",))}
    counted = figures["counts_per_iteration"]["calls"]["calls"]
    check(counted[0] > 0, "no call went through the functions that stand in front", figures)
    return figures


def client(bench: Bench) -> str:
    need_tool("cc")
    options = ("-shared", "-fPIC", "-ldl", "-lpthread")
    return str(bench.compile("cupti_client.c", *options))

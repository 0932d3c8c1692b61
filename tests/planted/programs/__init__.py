"""The planted programs: what is wrong with each, and how to run the twin in which it is mended.

The lines that cause it end with the comment `# planted`. A program without a rule has a condition
that some rule looks for, without an effect: nothing may be advised.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
MARK = "# planted"


@dataclass(frozen=True)
class Plant:
    """A program and its twin."""

    cause: str
    rules: tuple[str, ...]
    """The rule that must be named first, or one of several that are right. Empty: none may be."""
    mended: tuple[str, ...]
    """Arguments of the twin."""
    kernel: str | None = None
    """On simulated CUDA, how long each kernel lasts. None: the program uses no GPU."""


PLANTED = {
    "td3_targets": Plant("Polyak as a loop over tensors", ("tensor_loop",), ("--fused-targets",)),
    "ppo_advantages": Plant(
        "GAE as a loop over tensors", ("tensor_loop",), ("--numpy-advantages",)
    ),
    "many_heads": Plant("optimizer without fused", ("optimizer_loop",), ("--fused",)),
    "checked_policy": Plant("argument validation", ("argument_validation",), ("--unchecked",)),
    "step_journal": Plant("fsync each step", ("disk_wait",), ("--buffered",)),
    "step_metrics": Plant("metrics file each step", ("disk_wait",), ("--metrics-every", "100")),
    "saved_agents": Plant("checkpoints too often", ("checkpoints",), ("--save-every", "200")),
    "sampled_replay": Plant("replay sampling in Python", ("python_replay",), ("--memory", "array")),
    "shifted_frames": Plant("whole-buffer copies", ("whole_copy",), ("--ring",)),
    "one_by_one_policy": Plant("inference one by one", ("single_inference",), ("--batched",)),
    "crowded_threads": Plant("too many threads", ("many_threads",), ("--threads", "1")),
    "tracked_rollout": Plant("no no_grad", ("needless_gradients",), ("--no-grad-rollout",)),
    "object_memory": Plant(
        "collections of many objects",
        ("garbage_collection",),
        ("--freeze", "--collect-every", "1000"),
    ),
    "ragged_batches": Plant("recompilation each shape", ("recompilation",), ("--pad",)),
    "painted_world": Plant("pictures nobody sees", ("rendering",), ("--unpainted",)),
    "listed_observations": Plant("conversion of lists", ("host_conversions",), ("--arrays",)),
    "scalar_reads": Plant(
        "item() of each value", ("host_conversions", "tensor_loop"), ("--at-once",)
    ),
    "cheap_workers": Plant("workers for a cheap step", ("cheap_workers",), ("--vector", "sync")),
    "slow_physics": Plant("slow environment", ("environment_bound",), ("--at-once",)),
    "piped_images": Plant(
        "pickling between processes", ("serialization", "cheap_workers"), ("--shared",)
    ),
    "slow_worker": Plant("straggler", ("late_worker",), ("--slowest", "0.002")),
    "hungry_learner": Plant("learner waits for actors", ("starving",), ("--actors", "4")),
    "token_sampler": Plant("generation without cache", ("uncached_generation",), ("--cache",)),
    "outside_game": Plant("environment is a program", ("outside_environment",), ("--inside",)),
    "launched_updates": Plant(
        "launches of small kernels", ("launch_bound",), ("--graph",), kernel="3us"
    ),
    "logged_losses": Plant(
        "item() in each minibatch", ("device_sync",), ("--read-once",), kernel="120us"
    ),
    "pageable_frames": Plant(
        "copies of pageable memory", ("pageable_copies",), ("--pinned",), kernel="200us"
    ),
    "queued_losses": Plant("item() behind a queue", (), ("--read-once",), kernel="1500us"),
    "idle_straggler": Plant("a straggler nobody waits for", (), ("--delay", "0.01")),
    "background_journal": Plant("fsync off the path", (), ("--buffered",)),
}


def script(program: str) -> Path:
    return HERE / f"{program}.py"


def planted_lines(program: str) -> set[int]:
    """The lines that cause what is wrong."""
    lines = script(program).read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith(MARK)}

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
    held_out: bool = False
    """Whether it was written after the rules, by somebody who did not look at them."""


def _held_out(cause: str, rules: tuple[str, ...], *mended: str) -> Plant:
    return Plant(cause, rules, mended, held_out=True)


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
    "shuffled_memory": Plant("memory shuffled for each batch", ("python_replay",), ("--repeats",)),
    "open_target": Plant("target is not detached", ("target_gradients",), ("--detached",)),
    "open_critic": Plant("critic is not frozen", ("unfrozen_networks",), ("--freeze",)),
    "double_networks": Plant("double precision", ("double_precision",), ("--single",)),
    "listed_critics": Plant("small networks of a list", ("network_lists",), ("--at-once",)),
    "copying_workers": Plant("copies in environment workers", ("object_copies",), ("--cell",)),
    "kept_graphs": Plant("graphs of former updates", ("growing_graph",), ("--detach",)),
    "drawn_rows": Plant("actions drawn row by row", ("weighted_draws",), ("--at-once",)),
    "made_bins": Plant("arrays made in each step", ("unchanged_calls",), ("--kept",)),
    "normalised_batches": Plant("the same statistics again", ("unchanged_calls",), ("--kept",)),
    "visited_states": Plant("a list is searched", ("whole_copy",), ("--set",)),
    "whole_episodes": Plant("episodes are read again", ("whole_history",), ("--keep-state",)),
    "padded_pictures": Plant("pictures one by one", ("row_functions",), ("--at-once",)),
    "polled_scores": Plant("a queue is polled", ("polling",), ("--wait",)),
    "shifted_frames": Plant("whole-buffer copies", ("whole_copy",), ("--ring",)),
    "one_by_one_policy": Plant("inference one by one", ("single_inference",), ("--batched",)),
    "crowded_threads": Plant("too many threads", ("many_threads",), ("--threads", "1")),
    "crowded_actors": Plant("threads of many actors", ("many_threads",), ("--threads", "1")),
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
    "slow_physics": Plant(
        "slow environment", ("element_loop", "environment_bound"), ("--at-once",)
    ),
    "piped_images": Plant(
        "pickling between processes", ("serialization", "cheap_workers"), ("--shared",)
    ),
    "slow_worker": Plant("straggler", ("late_worker",), ("--slowest", "0.002")),
    "hungry_learner": Plant("learner waits for actors", ("starving",), ("--actors", "12")),
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
    "soft_dictionary": _held_out("Polyak by dictionaries", ("tensor_loop",), "--together"),
    "watched_gradients": Plant("search for NaN left on", ("anomaly_detection",), ("--calm",)),
    "full_normal": Plant("a matrix where none is needed", ("dense_normal",), ("--independent",)),
    "told_scalars": Plant("logging each step", ("logging_calls",), ("--tell-every", "100")),
    "stepped_heads": Plant("heads asked step by step", ("stepped_forward",), ("--at-once",)),
    "asked_agents": Plant("a critic asked for each agent", ("stepped_forward",), ("--at-once",)),
    "recorded_episodes": Plant("graphs of single steps", ("step_graphs",), ("--at-once",)),
    "copied_critics": Plant("targets by dictionaries", ("state_copies",), ("--in-place",)),
    "priced_table": Plant("rows of a pandas table", ("table_rows",), ("--arrays",)),
    "pools_of_one_round": Plant("a pool each round", ("process_starts",), ("--one-pool",)),
    "searched_walls": Plant("a search of walls that stay", ("kept_results",), ("--once",)),
    "asked_swarm": Plant("the same distances again", ("repeated_results",), ("--once",)),
    "checked_spaces": Plant("spaces made in each step", ("space_makes",), ("--made-once",)),
    "managed_memory": Plant("a memory in a manager", ("manager_items",), ("--local",)),
    "bounded_critic": Plant("singular values each update", ("eigenvalues",), ("--power",)),
    "stepwise_losses": Plant("backward for each step", ("step_backwards",), ("--summed",)),
    "threaded_poles": Plant("threads for a cheap step", ("cheap_threads",), ("--plain",)),
    "switched_modes": Plant("eval() for each action", ("module_walks",), ("--leave",)),
    "told_weights": Plant(
        "numbers of each weight", ("weight_statistics", "tensor_loop"), ("--every", "100")
    ),
    "chunked_games": Plant("chunks made in advance", ("uneven_pool",), ("--one-by-one",)),
    "one_by_one_choices": Plant("a distribution each row", ("row_distributions",), ("--at-once",)),
    "lambda_returns": _held_out("returns as a loop over tensors", ("tensor_loop",), "--array"),
    "flushed_log": _held_out("fsync in a log handler", ("disk_wait",), "--lazy"),
    "kept_memory": _held_out(
        "memory pickled each episode", ("disk_wait", "checkpoints"), "--keep-every", "20"
    ),
    "deque_memory": _held_out("memory of dataclasses", ("python_replay",), "--columns"),
    "growing_history": _held_out("array that grows each step", ("whole_copy",), "--large"),
    "comprehended_policy": _held_out("inference one by one", ("single_inference",), "--stacked"),
    "beta_policy": _held_out("argument validation", ("argument_validation",), "--trusting"),
    "remembered_tree": _held_out(
        "collections of many objects", ("garbage_collection",), "--no-collections"
    ),
    "scalar_tensors": _held_out(
        "a tensor for each number", ("host_conversions", "tensor_loop"), "--plain"
    ),
    "piped_cartpoles": _held_out("workers for a cheap step", ("cheap_workers",), "--local"),
    "drawn_maze": _held_out("pictures nobody sees", ("rendering",), "--blind"),
    "python_particles": _held_out(
        "physics in Python", ("element_loop", "environment_bound"), "--arrays"
    ),
    "lone_actor": _held_out("learner waits for an actor", ("starving",), "--actors", "3"),
    "watched_greedy": _held_out("no no_grad", ("needless_gradients",), "--inference-mode"),
    "wide_threads": _held_out("too many threads", ("many_threads",), "--workers", "1"),
    "tested_often": _held_out("evaluation too often", ("evaluations",), "--test-every", "20"),
    "seen_filter": _held_out("statistics of all that was seen", ("whole_copy",), "--sums"),
    "queued_cameras": _held_out("pictures through a queue", ("serialization",), "--small"),
    "read_settings": _held_out("a file read in each step", ("repeated_reading",), "--once"),
    "handed_steps": _held_out("threads hand over each step", ("thread_handoffs",), "--chunk", "64"),
    "sorted_well": _held_out("nothing is wrong", (), "--updates", "60"),
}


def script(program: str) -> Path:
    return HERE / f"{program}.py"


def planted_lines(program: str) -> set[int]:
    """The lines that cause what is wrong."""
    lines = script(program).read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith(MARK)}

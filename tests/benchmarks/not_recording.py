"""What an annotation costs where nothing is recorded, against the same in a process that never
recorded: one process, its states in random order in each round, by thread CPU time.

    python tests/benchmarks/not_recording.py [--rounds N] [--output build/benchmarks/...]

    bare          rlscope is imported and records nothing
    recording     inside of rls.profile, drained by a thread of its own
    stopped       rls.stop() after the first records
    not started   rls.stop() before any record, as with `rls-prof --delay`

The ratios of one round are paired, and the median ratio comes with a 95 % bootstrap interval. The
loop's own time is taken off, and with automatic events the function's that is watched.
"""

import argparse
import contextlib
import gc
import itertools
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

from paired import Timer, make_timer, median_interval, show_verdicts, verdict, write_result  # noqa: E402

import rlscope as rls  # noqa: E402
from rlscope import _runtime  # noqa: E402

ANNOTATIONS = {
    "cached operation": "with operation: pass",
    "operation by name": 'with rls.operation("inference"): pass',
    "set and end by name": 'rls.set_operation("x"); rls.end_operation("x")',
    "decorated function": "decorated()",
    "iteration": "rls.iteration()",
}
# Each annotation is an explicit operation, behind which automatic events are not recorded: theirs
# are sessions of their own.
EVENTS = {
    "simulation": "simulation()",
    "forward": "forward()",
    "backward": "backward()",
    "step": "step()",
}
EMPTY = {**dict.fromkeys(ANNOTATIONS, "pass"), **dict.fromkeys(EVENTS, "plain()")}
EMPTY["decorated function"] = "plain()"

BARE = "bare"
STATES = (BARE, "recording", "stopped", "not started")
IDLE = ("stopped", "not started")
TARGET = 1.10
TARGETS = {"iteration": 1.25}  # it is counted under a lock: a window may begin with it
REPEATS = 1000
WARM_UP = 3

Samples = dict[tuple[str, str], list[float]]


def plain() -> None:
    return None


def names() -> dict[str, Any]:
    _runtime.watch_imports({}, plain)
    operation = rls.operation("inference")
    return {
        "rls": rls,
        "operation": operation,
        "plain": plain,
        "decorated": operation(plain),
        **{event: _runtime.watch(event, plain) for event in EVENTS},
    }


@contextlib.contextmanager
def in_state(state: str) -> Iterator[None]:
    if state == BARE:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="rlscope-bench-") as folder:
        _runtime.profile_begin(folder)
        try:
            if state == "stopped":
                with rls.operation("first"):
                    pass
            if state in IDLE:
                rls.stop()
            yield
        finally:
            _runtime.profile_end()


def measure(rounds: int) -> Samples:
    """ns of each case in each state, round by round, without the loop around it."""
    known = names()
    statements = {**ANNOTATIONS, **EVENTS}
    timers = {case: make_timer(text, known) for case, text in statements.items()}
    loops = {text: make_timer(text, known) for text in set(EMPTY.values())}
    samples: Samples = {(case, state): [] for case in statements for state in STATES}
    gc.collect()
    gc.disable()
    for number in range(-WARM_UP, rounds):
        for state, group in random.sample(
            list(itertools.product(STATES, (ANNOTATIONS, EVENTS))), 2 * len(STATES)
        ):
            with in_state(state):
                found = time_each(group, timers, loops)
            if number >= 0:
                for case, spent in found.items():
                    samples[case, state].append(spent)
    gc.enable()
    return samples


def time_each(
    cases: dict[str, str], timers: dict[str, Timer], loops: dict[str, Timer]
) -> dict[str, float]:
    for case in cases:  # the first records of a session make its ring
        time_one(timers[case])
    empty = {text: time_one(loops[text]) for text in {EMPTY[case] for case in cases}}
    order = random.sample(list(cases), len(cases))
    return {case: time_one(timers[case]) - empty[EMPTY[case]] for case in order}


def time_one(timer: Timer) -> float:
    return timer(itertools.repeat(None, REPEATS)) / REPEATS


def summarise(samples: Samples) -> dict[str, dict[str, Any]]:
    """State -> case -> median and the ratio to the bare process."""
    found: dict[str, dict[str, Any]] = {state: {} for state in STATES}
    for (case, state), values in samples.items():
        ratios = [one / bare for one, bare in zip(values, samples[case, BARE], strict=True) if bare]
        found[state][case] = {
            "median_ns": statistics.median(values),
            "ratio_to_bare": median_interval(ratios),
        }
    return found


def show(found: dict[str, dict[str, Any]]) -> None:
    for case in found[BARE]:
        row = [f"{found[state][case]['median_ns']:8.1f} {state}" for state in STATES]
        print(f"{case:20s} ns: {', '.join(row)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=201)
    parser.add_argument("--output", default=str(ROOT / "build/benchmarks/not_recording.json"))
    args = parser.parse_args()
    found = summarise(measure(args.rounds))
    show(found)
    rows = [
        verdict(
            f"{case}, {state}",
            "of the bare process",
            TARGETS.get(case, TARGET),
            values["ratio_to_bare"],
        )
        for state in IDLE
        for case, values in found[state].items()
    ]
    result = {"benchmark": "not_recording", "rounds": args.rounds}
    write_result(args.output, {**result, "results": found, "targets": rows})
    return show_verdicts(rows)


if __name__ == "__main__":
    sys.exit(main())

"""What a patched native function costs: a callee that does nothing, patched minus unpatched, for
every METH_ kind, in units of R, one read of the time stamp counter in the same run.

    python tests/benchmarks/interception.py [--rounds N] [--processes N] [--output FILE.json]

The test extension is built twice, as two libraries of the same code; one of them is watched and
patched. Each round times every case once, in random order, by thread CPU time; the difference of
one round is paired and divided by the R of that round. What the two libraries differ by before
either is patched, up to three nanoseconds by where their code lies, is taken off, round by round.
The median over all processes comes with a 95 % bootstrap interval.

A case counts in the rounds in which it had the core to itself, right before and right after: beside
a neighbour's hyperthread all takes up to twice as long, except R. Where the core was shared nearly
all the time, every round counts, and the output says so.

Two kinds of child processes are measured: one that records into a directory of its own, one whose
functions are patched and whose recording is stopped. A third and a fourth do the same with a
library that has a type whose instances carry a vectorcall pointer each: whatever its functions
return is looked at, which is shown beside the targets. So is a case that calls many functions in
turn, as programs do: a CPU does not foresee there what it does where one is called again and again.
"""

import argparse
import gc
import json
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "extension")]

from paired import (  # noqa: E402
    Timer,
    make_timer,
    median_interval,
    show_verdicts,
    that_count,
    time_ticks,
    verdict,
    write_result,
)
from sample_library import build_sample, compile_extension, import_library  # noqa: E402

METH_KINDS = {
    "METH_NOARGS": "{0}.noargs()",
    "METH_O": "{0}.one(1)",
    "METH_FASTCALL": "{0}.fast(1, 2)",
    "METH_FASTCALL | METH_KEYWORDS": "{0}.fast_keywords(1, k=2)",
    "METH_VARARGS": "{0}.varargs(1, 2)",
    "METH_VARARGS | METH_KEYWORDS": "{0}.keywords(1, k=2)",
    "METH_METHOD": "{0}_thing.nothing(1)",
}
OTHERS = {
    "method descriptor": "{0}_thing.method()",
    "METH_STATIC": "{0}_thing.static_method(1)",
    "METH_CLASS": "{0}_thing.class_method()",
    "getter": "{0}_thing.value",
    "slot mp_subscript": "{0}_thing[1]",
    "slot nb_bool": "not {0}_thing",
}
IN_TURN = "METH_O, 128 functions in turn"
CASES = METH_KINDS | OTHERS | {IN_TURN: "_(1)"}
RECORDING, STOPPED = "recording", "patched, not recording"
LOOKED_AT = ", results looked at"
MODES = [RECORDING, STOPPED, RECORDING + LOOKED_AT, STOPPED + LOOKED_AT]
TARGET_R, TARGET_NS = 1.5, 3.0
REPEATS = 2048
# Between rounds of 28,000 records, for the drainer: a full ring is not the path that is measured.
PAUSE_S = 0.003
WARM_UP = 5  # rounds: a stub is hot after 64 calls
AWAIT_S = 0.01  # for the core; a neighbour rests for milliseconds at a time


@dataclass(frozen=True)
class Calls:
    """REPEATS calls of one case: a call for each of the items."""

    timer: Timer
    items: list[Any]


def build_libraries(folder: Path, mode: str) -> tuple[ModuleType, ModuleType]:
    """The test extension, and the one of many functions."""
    sample = build_sample(folder, makes_callables=mode.endswith(LOOKED_AT))
    in_turn = compile_extension("in_turn", [HERE / "in_turn_module.c"], folder)
    return import_library(sample), import_library(in_turn)


def make_calls(libraries: dict[str, tuple[ModuleType, ModuleType]]) -> dict[tuple[str, str], Calls]:
    found = {}
    for which, (sample, in_turn) in libraries.items():
        names = {which: sample, f"{which}_thing": sample.Thing(1)}
        functions = [one for name, one in vars(in_turn).items() if name.startswith("function_")]
        for case, statement in CASES.items():
            items = functions if case == IN_TURN else [None]
            timer = make_timer(statement.format(which), names)
            found[case, which] = Calls(timer, items * (REPEATS // len(items)))
    return found


@dataclass(frozen=True)
class Stretch:
    """Calls of one case in a row: ns of one call, and how many records all of them wrote."""

    ns: float
    records: int
    own_core: bool


def time_calls(calls: Calls, ticks: ModuleType) -> Stretch:
    from rlscope import _runtime

    own_core = ticks.await_own_core(AWAIT_S)
    slots = _runtime.thread_slots()
    ns = calls.timer(calls.items) / REPEATS
    records = _runtime.thread_slots() - slots
    return Stretch(ns, records, own_core and ticks.await_own_core(0))


@dataclass(frozen=True)
class Round:
    """One case: ns of the plain library's call, ns that the other's takes longer, R, and whether
    the core was the benchmark's own."""

    plain: float
    longer: float
    r: float
    own_core: bool


def measure(
    calls: dict[tuple[str, str], Calls], ticks: ModuleType, rounds: int, records: int
) -> dict[str, list[Round]]:
    """The rounds of each case.

    Rounds in which the ring was full, and the patched calls wrote fewer records, are left out.
    """
    found: dict[str, list[Round]] = {case: [] for case in CASES}
    order = list(calls)
    gc.collect()
    gc.disable()
    for number in range(-WARM_UP, rounds):
        random.shuffle(order)
        time.sleep(PAUSE_S)
        spent = {key: time_calls(calls[key], ticks) for key in order}
        r = min(time_ticks(ticks) for _ in range(3))
        for case in CASES:
            plain, watched = spent[case, "plain"], spent[case, "watched"]
            if number >= 0 and watched.records == records:
                own_core = plain.own_core and watched.own_core
                found[case].append(Round(plain.ns, watched.ns - plain.ns, r, own_core))
    gc.enable()
    return found


def compare(unpatched: list[Round], patched: list[Round]) -> dict[str, Any]:
    """What the patch added, round by round."""
    before, own_before = that_count(unpatched, lambda one: one.own_core)
    after, own_after = that_count(patched, lambda one: one.own_core)
    pairs = [(one, two, two.longer - one.longer) for one, two in zip(before, after, strict=False)]
    return {
        "plain_ns_with_loop": [two.plain for _, two, _ in pairs],
        "added_ns": [added for _, _, added in pairs],
        "added_r": [added / two.r for _, two, added in pairs],
        "r_ns": [two.r for _, two, _ in pairs],
        "own_core": own_before and own_after,
    }


def run_child(mode: str, rounds: int) -> dict[str, Any]:
    import rlscope as rls
    from rlscope import _runtime

    with tempfile.TemporaryDirectory(prefix="rlscope-bench-") as folder:
        ticks = import_library(
            compile_extension("ticks", [HERE / "ticks_module.c"], Path(folder, "ticks"))
        )
        libraries = {
            name: build_libraries(Path(folder, name), mode) for name in ("plain", "watched")
        }
        with rls.profile(Path(folder, "trace")):
            calls = make_calls(libraries)
            unpatched = measure(calls, ticks, rounds, 0)
            _runtime.intercept_watch(f"{folder}/watched/*.so", "simulator")
            _runtime.intercept_scan()
            if mode.startswith(STOPPED):
                measure(calls, ticks, 1, REPEATS)
                rls.stop()
            records = 0 if mode.startswith(STOPPED) else REPEATS
            patched = measure(calls, ticks, rounds, records)
            counts = _runtime.intercept_counts()
    cases = {case: compare(unpatched[case], patched[case]) for case in CASES}
    return {"cases": cases, "counts": counts}


def start_child(mode: str, rounds: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", mode, "--rounds", str(rounds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{mode}: the measured process ended with {done.returncode}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure_mode(mode: str, rounds: int, processes: int) -> dict[str, Any]:
    """Medians over all processes; over those with a core of their own, where there are any."""
    children = [start_child(mode, rounds) for _ in range(processes)]
    cases = {}
    for case in CASES:
        results = [child["cases"][case] for child in children]
        own = [one for one in results if one["own_core"]]
        names = [name for name in results[0] if name != "own_core"]
        cases[case] = {
            name: median_interval([value for one in own or results for value in one[name]])
            for name in names
        } | {"own_core": bool(own)}
    return {"cases": cases, "counts": children[-1]["counts"]}


def verdicts(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Each target beside what was measured."""
    return [
        verdict(f"{kind}, {mode}", unit, target, results[mode]["cases"][kind][f"added_{unit}"])
        for kind in METH_KINDS
        for mode, unit, target in ((RECORDING, "r", TARGET_R), (STOPPED, "ns", TARGET_NS))
    ]


def show(results: dict[str, Any]) -> None:
    for mode, result in results.items():
        print(f"{mode}: {result['counts']['hot']} hot stubs")
        for case, values in result["cases"].items():
            ns, r, unit = values["added_ns"], values["added_r"], values["r_ns"]["median"]
            print(
                f"  {case:32s} +{ns['median']:5.1f} ns [{ns['low']:.1f}, {ns['high']:.1f}]"
                f"  {r['median']:5.2f} R [{r['low']:.2f}, {r['high']:.2f}]"
                f"   (R {unit:.1f} ns, {r['samples']} rounds"
                + (")" if values["own_core"] else " beside a busy neighbour)")
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=151)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--output", default=str(ROOT / "build/benchmarks/interception.json"))
    parser.add_argument("--child", choices=MODES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(run_child(args.child, args.rounds)))
        return 0
    results = {mode: measure_mode(mode, args.rounds, args.processes) for mode in MODES}
    rows = verdicts(results)
    show(results)
    result = {"benchmark": "interception", "python": sys.version, "options": vars(args)}
    write_result(args.output, {**result, "results": results, "targets": rows})
    return show_verdicts(rows)


if __name__ == "__main__":
    sys.exit(main())

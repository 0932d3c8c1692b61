"""What a patched native function costs: a callee that does nothing, patched minus unpatched, for
every METH_ kind, in units of R, one read of the time stamp counter in the same run.

    python tests/benchmarks/interception.py [--rounds N] [--output FILE.json]

The test extension is built twice, as two libraries of the same code; one of them is watched and
patched. Each round times every case once, in random order, by thread CPU time; the difference of
one round is paired and divided by the R of that round; the median comes with a 95 % bootstrap
interval. Two child processes are measured: one that records into a directory of its own, one whose
functions are patched and whose recording is stopped. A third and a fourth do the same with a
library that has a type whose instances carry a vectorcall pointer each: whatever its functions
return is looked at, which is shown beside the targets.
"""

import argparse
import gc
import itertools
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "extension")]

from paired import Timer, make_timer, median_interval, write_result  # noqa: E402
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
CASES = METH_KINDS | OTHERS
RECORDING, STOPPED = "recording", "patched, not recording"
LOOKED_AT = ", results looked at"
MODES = [RECORDING, STOPPED, RECORDING + LOOKED_AT, STOPPED + LOOKED_AT]
TARGET_R, TARGET_NS = 1.5, 3.0
REPEATS = 2000
TICKS = 20_000
# Between rounds of 26,000 records, for the drainer: a full ring is not the path that is measured.
PAUSE_S = 0.003


def time_ticks(ticks: ModuleType) -> float:
    """R of this moment, in ns."""
    begin = time.thread_time_ns()
    ticks.read_many(TICKS)
    return (time.thread_time_ns() - begin) / TICKS


def make_timers(libraries: dict[str, ModuleType]) -> dict[tuple[str, str], Timer]:
    names: dict[str, Any] = {}
    for which, library in libraries.items():
        names |= {which: library, f"{which}_thing": library.Thing(1)}
    return {
        (case, which): make_timer(statement.format(which), names)
        for case, statement in CASES.items()
        for which in libraries
    }


def time_calls(timer: Timer) -> tuple[float, int]:
    """ns of one call, and how many records all of them wrote."""
    from rlscope import _runtime

    slots = _runtime.thread_slots()
    spent = timer(itertools.repeat(None, REPEATS)) / REPEATS
    return spent, _runtime.thread_slots() - slots


def measure(
    timers: dict[tuple[str, str], Timer], ticks: ModuleType, rounds: int, records: int
) -> dict[str, list[dict[str, float]]]:
    """For each case and round: ns of the unpatched call, ns added by the patch, and R.

    Rounds in which the ring was full, and the patched calls wrote fewer records, are left out.
    """
    samples: dict[str, list[dict[str, float]]] = {case: [] for case in CASES}
    order = list(timers)
    gc.collect()
    gc.disable()
    for number in range(-3, rounds):  # three rounds to warm up: stubs become hot
        random.shuffle(order)
        time.sleep(PAUSE_S)
        spent = {key: time_calls(timers[key]) for key in order}
        r = min(time_ticks(ticks) for _ in range(3))
        for case in CASES:
            (plain, _), (watched, wrote) = spent[case, "plain"], spent[case, "watched"]
            if number >= 0 and wrote == records:
                samples[case].append({"plain": plain, "added": watched - plain, "r": r})
    gc.enable()
    return samples


def summarise(samples: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    return {
        case: {
            "plain_ns_with_loop": median_interval([row["plain"] for row in rows]),
            "added_ns": median_interval([row["added"] for row in rows]),
            "added_r": median_interval([row["added"] / row["r"] for row in rows]),
            "r_ns": median_interval([row["r"] for row in rows]),
        }
        for case, rows in samples.items()
    }


def run_child(mode: str, rounds: int) -> dict[str, Any]:
    import rlscope as rls
    from rlscope import _runtime

    with tempfile.TemporaryDirectory(prefix="rlscope-bench-") as folder:
        ticks = import_library(
            compile_extension("ticks", [HERE / "ticks_module.c"], Path(folder, "ticks"))
        )
        libraries = {
            name: import_library(
                build_sample(Path(folder, name), makes_callables=mode.endswith(LOOKED_AT))
            )
            for name in ("plain", "watched")
        }
        with rls.profile(Path(folder, "trace")):
            _runtime.intercept_watch(f"{folder}/watched/*.so", "simulator")
            _runtime.intercept_scan()
            timers = make_timers(libraries)
            if mode.startswith(STOPPED):
                measure(timers, ticks, 1, REPEATS)
                rls.stop()
            records = 0 if mode.startswith(STOPPED) else REPEATS
            cases = summarise(measure(timers, ticks, rounds, records))
            counts = _runtime.intercept_counts()
        return {"cases": cases, "counts": counts}


def start_child(mode: str, rounds: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", mode, "--rounds", str(rounds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{mode}: the measured process ended with {done.returncode}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def verdicts(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Each target beside what was measured."""
    rows = []
    for kind in METH_KINDS:
        for mode, unit, target in ((RECORDING, "r", TARGET_R), (STOPPED, "ns", TARGET_NS)):
            measured = results[mode]["cases"][kind][f"added_{unit}"]["median"]
            row = {"case": f"{kind}, {mode}", "unit": unit, "target": target}
            rows.append({**row, "measured": round(measured, 2), "met": measured <= target})
    return rows


def show(results: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    for mode, result in results.items():
        print(f"{mode}: {result['counts']['hot']} hot stubs")
        for case, values in result["cases"].items():
            ns, r, unit = values["added_ns"], values["added_r"], values["r_ns"]["median"]
            print(
                f"  {case:32s} +{ns['median']:5.1f} ns [{ns['low']:.1f}, {ns['high']:.1f}]"
                f"  {r['median']:5.2f} R   (R {unit:.1f} ns, {r['samples']} rounds)"
            )
    for row in rows:
        verdict = "met   " if row["met"] else "MISSED"
        print(f"{verdict} {row['case']}: {row['measured']} {row['unit']} (target {row['target']})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=401)
    parser.add_argument("--output", default=str(ROOT / "build/benchmarks/interception.json"))
    parser.add_argument("--child", choices=MODES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(run_child(args.child, args.rounds)))
        return 0
    results = {mode: start_child(mode, args.rounds) for mode in MODES}
    rows = verdicts(results)
    show(results, rows)
    result = {"benchmark": "interception", "python": sys.version, "rounds": args.rounds}
    write_result(args.output, {**result, "results": results, "targets": rows})
    return 0 if all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

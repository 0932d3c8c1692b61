"""What recording native calls costs: training loops and env.step under rls-prof, in CPU time of the
thread.

    python tests/benchmarks/layers.py [--seconds 40] [--only NAME ...] [--add FILE] [--output FILE]

One process per workload runs under rls-prof --intercept=patch and takes turns (layer_turns.py): the
functions themselves, stubs in place without and with recording, and, for PPO, the two rivals. The
paired ratios of one round, to the functions themselves, are summarised by their median with a 95 %
bootstrap interval. R is one read of the time stamp counter in the same round. A workload whose
library is not installed is left out. --add FILE: the rounds of this run join those of earlier runs
in FILE, and all are summarised; in each process the code lies elsewhere.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "extension"), str(ROOT)]

from layer_workloads import WORKLOADS  # noqa: E402
from paired import (  # noqa: E402
    median_interval,
    ratio_interval,
    show_verdicts,
    verdict,
    write_result,
)
from sample_library import compile_extension  # noqa: E402
from support.process.traced_python import make_traced_python, untraced_environment  # noqa: E402

LIBRARIES = ("pointer_switch", "profile_function", "ticks")
# Where a busy neighbour makes the clock dear: two reads of it, and 34 ns for the rest.
ENTRY_READS, ENTRY_NS = 2, 34
RIVALS = ("profiled", "wrapped")
RIVAL_SHARE = 1 / 6

Turn = dict[str, Any]


def run_turns(name: str, seconds: float) -> tuple[list[Turn], str]:
    """The rounds of one workload, and what rls-prof said."""
    with tempfile.TemporaryDirectory(prefix="layers-") as folder:
        traced = make_traced_python(Path(folder) / "venv")
        libraries = [
            str(compile_extension(library, [HERE / f"{library}_module.c"], Path(folder)))
            for library in LIBRARIES
        ]
        program = [traced.python, str(HERE / "layer_turns.py"), name, str(seconds), *libraries]
        command = traced.command("-o", os.path.join(folder, "run"), "--", *program)
        environ = untraced_environment()
        done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
    if done.returncode != 0:
        sys.exit(f"{name}: the measured process ended with {done.returncode}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines() if line[:1] == "{"], done.stderr


def summarise(turns: list[Turn]) -> dict[str, Any]:
    """Percent that each mode added to the functions themselves, and ns per record."""
    modes = ("stopped", "recorded", *RIVALS)
    percents = {
        mode: [100 * (turn[mode] / turn["plain"] - 1) for turn in turns if mode in turn]
        for mode in modes
    }
    recorded = [turn for turn in turns if "recorded" in turn]
    per_record = [(turn["recorded"] - turn["plain"]) / turn["records"] for turn in recorded]
    return {
        "added_percent": {
            mode: median_interval(added) for mode, added in percents.items() if added
        },
        "share_of": {
            rival: ratio_interval(percents["recorded"], percents[rival])
            for rival in RIVALS
            if percents[rival]
        },
        "record_ns": median_interval(per_record),
        "r_ns": median_interval([turn["r"] for turn in recorded]),
        "records": median_interval([turn["records"] for turn in recorded])["median"],
        "block_ns": median_interval([turn["plain"] for turn in recorded])["median"],
    }


def limit_percent(summary: dict[str, Any], target: float) -> float:
    """What `recorded` may add, in percent."""
    if not summary["share_of"]:
        return target
    entries_ns = summary["records"] * (ENTRY_READS * summary["r_ns"]["median"] + ENTRY_NS)
    return max(target, 100 * entries_ns / summary["block_ns"])


def add_turns(path: Path, name: str, turns: list[Turn]) -> list[Turn]:
    """The rounds of this workload in the file and these; the file holds them from now on."""
    kept: dict[str, list[Turn]] = json.loads(path.read_text()) if path.exists() else {}
    kept[name] = kept.get(name, []) + turns
    path.write_text(json.dumps(kept))
    return kept[name]


def measure(name: str, seconds: float, add: str | None) -> dict[str, Any]:
    turns, said = run_turns(name, seconds)
    if add:
        turns = add_turns(Path(add), name, turns)
    summary = summarise(turns)
    target = limit_percent(summary, WORKLOADS[name].target_percent)
    rows = [verdict(f"{name}, added", "%", target, summary["added_percent"]["recorded"])]
    for rival, share in summary["share_of"].items():
        rows.append(verdict(f"{name}, added", f"of {rival}'s", RIVAL_SHARE, share))
    return {**summary, "targets": rows, "said": said}


def show(name: str, result: dict[str, Any]) -> None:
    for mode, row in result["added_percent"].items():
        interval = f"[{row['low']:+.2f}, {row['high']:+.2f}]"
        print(f"{name:10} {mode:9} {row['median']:+6.2f} % {interval} of {row['samples']}")
    record, r = result["record_ns"], result["r_ns"]["median"]
    print(
        f"{name:10} {result['records']:.0f} records in {result['block_ns'] / 1e6:.2f} ms, "
        f"{record['median']:.0f} ns [{record['low']:.0f}, {record['high']:.0f}] each; R {r:.1f} ns"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--only", nargs="*", choices=list(WORKLOADS), default=list(WORKLOADS))
    parser.add_argument("--add", metavar="FILE")
    parser.add_argument("--output", default=str(ROOT / "build/benchmarks/layers.json"))
    options = parser.parse_args()
    results = {}
    for name in options.only:
        if importlib.util.find_spec(WORKLOADS[name].module) is None:
            continue
        results[name] = measure(name, options.seconds, options.add)
        show(name, results[name])
    write_result(options.output, results)
    return show_verdicts([row for result in results.values() for row in result["targets"]])


if __name__ == "__main__":
    sys.exit(main())

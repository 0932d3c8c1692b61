"""How far corrected time is off, by program: the table of docs/reference/validation.md.

    python tests/benchmarks/validation.py [--limit 120] [--only NAME] [--output validation.json]
    python tests/benchmarks/validation.py --coverage 40 [--limit 60]

Each program is validated with the costs that its own runs say, then calibrated, and validated
again in further runs. The limit in seconds is that of each of the three. Prints rows as they come.

With --coverage each delay is validated in so many rounds, of a sixth of the limit at most: how
often has the interval of the corrected time the time without recording in it?
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import cuda_loop  # noqa: E402

TORTURE = ROOT / "tests" / "benchmarks" / "torture.py"
LONG = "100000000"
# Each makes every record of a kind longer by so many nanoseconds: what is added is known.
DELAYS = {
    "operation": ("operation=1000", ["operations", "300"]),
    "native call": ("native call=700,native call inside=300", ["native_calls", "100"]),
    "native call beside annotations": ("native call=1000", ["both", "300"]),
    "automatic event": ("automatic event=500", ["automatic", "300"]),
    "wait": ("wait=5000", ["waits"]),
}
# Nanoseconds that each callback and each activity record of the simulated CUPTI takes.
SCRIPTED = {
    "callbacks of 5 us": (5_000, 0),
    "activity records of 20 us": (0, 20_000),
    "both": (5_000, 20_000),
}


@dataclass(frozen=True)
class Program:
    arguments: list[str]
    """Of Python."""
    variables: dict[str, str] = field(default_factory=dict)
    launcher: tuple[str, ...] = ()
    """What rlscope itself is run under."""


def programs(folder: Path) -> dict[str, Program]:
    """By name, in the order of the table. What has no file yet is written into the folder."""
    cuda = folder / "cuda_loop.py"
    cuda.write_text(cuda_loop.program(int(LONG)))
    simulated = (str(ROOT / "tests" / "simcuda" / "run"),)
    return {
        **{
            f"delay: {name}": Program([str(TORTURE), *arguments], {"RLSCOPE_TEST_DELAY": delay})
            for name, (delay, arguments) in DELAYS.items()
        },
        **{
            f"simulated CUDA: {name}": Program([str(cuda)], cuda_loop.costs(*costs), simulated)
            for name, costs in SCRIPTED.items()
        },
        **{
            f"torture: {name.replace('_', ' ')}": Program([str(TORTURE), name])
            for name in ("operations", "native_calls", "both", "threads", "automatic")
        },
        "updates of a small network": Program([str(TORTURE), "training"]),
        **{
            name: Program([str(ROOT / "workloads" / f"{name}.py"), "--total-timesteps", LONG])
            for name in ("ppo_cartpole", "a2c_cartpole", "dqn_cartpole", "sac_pendulum")
        },
    }


COVERAGE_HEADER = (
    "| program | recording adds | held, costs of its own probes | held, calibrated |\n"
    "|---|---|---|---|"
)
HEADER = (
    "| program | recording adds | left, costs of its own probes | that they claim "
    "| left, calibrated | that it claims | A/A |\n|---|---|---|---|---|---|---|"
)


def rlscope(folder: str, verb: str, program: Program, limit: float, *options: str) -> str:
    command = [*program.launcher, sys.executable, "-m", "rlscope.commands"]
    command += [verb, "--limit", str(limit)]
    command += ["--json", *options] if verb == "validate" else []
    work = Path(folder, "work")  # a folder `rlscope` in it would be taken for the package
    work.mkdir(exist_ok=True)
    done = subprocess.run(
        [*command, "--", sys.executable, *program.arguments],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        cwd=work,
        env={**os.environ, "XDG_DATA_HOME": f"{folder}/data", **program.variables},
    )
    if done.returncode not in (0, 1, 3) or (verb == "validate" and not done.stdout):
        raise SystemExit(f"rlscope {verb} failed: {program}")
    return done.stdout


def measure(program: Program, limit: float, *options: str) -> dict[str, Any]:
    """What both validations say, as `rlscope validate --json` does."""
    with tempfile.TemporaryDirectory() as folder:
        default = json.loads(rlscope(folder, "validate", program, limit, *options))
        rlscope(folder, "calibrate", program, limit)
        calibrated = json.loads(rlscope(folder, "validate", program, limit, *options))
    return {"default": default, "calibrated": calibrated}


def row(name: str, found: dict[str, Any]) -> str:
    default, calibrated = found["default"], found["calibrated"]
    cells = [
        name,
        percent(default["inflation_percent"], default["inflation_interval"]),
        percent(default["bias_percent"], default["bias_interval"]),
        interval(default["claimed_interval"]),
        percent(calibrated["bias_percent"], calibrated["bias_interval"]),
        interval(calibrated["claimed_interval"]),
        interval(calibrated["aa_interval"]),
    ]
    return f"| {' | '.join(cells)} |"


def coverage_row(name: str, found: dict[str, Any]) -> str:
    held = [
        f"{found[costs]['rounds_held']} of {found[costs]['rounds']}"
        for costs in ("default", "calibrated")
    ]
    added = percent(found["default"]["inflation_percent"], found["default"]["inflation_interval"])
    return f"| {name} | {added} | {' | '.join(held)} |"


def percent(mean: float, ends: list[float]) -> str:
    return f"{mean:+.1f} % {interval(ends)}"


def interval(ends: list[float] | None) -> str:
    return "-" if ends is None else f"[{ends[0]:+.1f}, {ends[1]:+.1f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--output")
    parser.add_argument("--coverage", type=int, default=0, metavar="ROUNDS")
    options = parser.parse_args()
    found = {}
    coverage = ["--rounds", str(options.coverage)] if options.coverage else []
    print(COVERAGE_HEADER if coverage else HEADER, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, program in programs(Path(folder)).items():
            if (options.only and name not in options.only) or (coverage and "delay: " not in name):
                continue
            found[name] = measure(program, options.limit, *coverage)
            print((coverage_row if coverage else row)(name, found[name]), flush=True)
    if options.output:
        Path(options.output).write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()

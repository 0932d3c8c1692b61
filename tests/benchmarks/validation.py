"""How far corrected time is off, by program: the tables of docs/reference/validation.md.

    python tests/benchmarks/validation.py --page docs/reference/validation.md    all of the page
    python tests/benchmarks/validation.py --only "delay:" --only coverage        some rows
    python tests/benchmarks/validation.py --resume --page ...                    what is missing

Each program is validated with the costs that its own runs say, then calibrated, and validated
again in further runs. The row of a program takes three times its limit, at most: so long does each
of the three measurements take. A row `coverage: ...` is a delay that is validated in many rounds:
how often has the interval of the corrected time the time without recording in it?

Rows are stored as they come, in the file of --output, beside those that it has. With --page the
tables of the page are made of all that are stored there.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(Path(__file__).parent)]

import validation_page  # noqa: E402
from support.cuda import loop as cuda_loop  # noqa: E402

from rlscope.costs import calibrations  # noqa: E402

OUTPUT = ROOT / "build" / "benchmarks" / "validation.json"
SIMULATORS = ROOT / ".venv-simulators" / "bin" / "python"
"""Python that has MuJoCo and ALE, where the one that runs this has not (make test-simulators)."""
TORTURE = ROOT / "tests" / "benchmarks" / "torture.py"
LONG = "100000000"
# Seconds of each of the three measurements of a program: what people write varies more from run to
# run, and its iterations take longer.
KNOWN_LIMIT, WORKLOAD_LIMIT = 24.0, 54.0
# Rounds of a coverage, each of a sixth of the limit at most. A round takes some 1.5 s more, to
# begin, and to analyse its trace.
COVERAGE_ROUNDS, COVERAGE_LIMIT, BESIDE_ROUND = 40, 12.0, 1.5
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
SHORT = "--num-steps 8 --update-epochs 2 --num-minibatches 2".split()
# What people write: options that keep iterations short enough for some dozens of them in a run, and
# modules that the Python of the tests may lack.
WORKLOADS: dict[str, tuple[str, list[str], tuple[str, ...]]] = {
    "ppo_cartpole": ("ppo_cartpole", SHORT, ()),
    "a2c_cartpole": ("a2c_cartpole", [], ()),
    "dqn_cartpole": ("dqn_cartpole", [], ()),
    "sac_pendulum": ("sac_pendulum", [], ()),
    "td3_pendulum": ("td3_pendulum", [], ()),
    "ddpg_pendulum": ("ddpg_pendulum", [], ()),
    "sac, MuJoCo Hopper": ("sac_pendulum", ["--env-id", "Hopper-v5"], ("mujoco",)),
    "ppo, MuJoCo HalfCheetah": (
        "ppo_continuous",
        ["--env-id", "HalfCheetah-v5", "--num-envs", "2", *SHORT],
        ("mujoco",),
    ),
    "dqn, ALE Pong": ("dqn_pong", ["--batch-size", "8"], ("ale_py", "cv2")),
}


@dataclass(frozen=True)
class Program:
    arguments: list[str]
    """What Python is given."""
    variables: dict[str, str] = field(default_factory=dict)
    launcher: tuple[str, ...] = ()
    """What rlscope itself is run under."""
    limit: float = KNOWN_LIMIT
    rounds: int | None = None
    """How many each validation has; None: as many as it takes."""
    needs: tuple[str, ...] = ()
    """Modules."""

    @property
    def most_seconds(self) -> float:
        """About so long takes its row."""
        if self.rounds is None:
            return 3 * self.limit
        return self.limit + 2 * self.rounds * (self.limit / 6 + BESIDE_ROUND)

    @property
    def python(self) -> str | None:
        """One that has the modules; None: there is none."""
        if all(importlib.util.find_spec(each) for each in self.needs):
            return sys.executable
        return str(SIMULATORS) if SIMULATORS.exists() else None


def programs(folder: Path) -> dict[str, Program]:
    """By name, in the order of the page. What has no file yet is written into the folder."""
    cuda = folder / "cuda_loop.py"
    cuda.write_text(cuda_loop.program(int(LONG)))
    simulated = (str(ROOT / "tests" / "simcuda" / "run"),)
    delays = {
        name: Program([str(TORTURE), *arguments], {"RLSCOPE_TEST_DELAY": delay})
        for name, (delay, arguments) in DELAYS.items()
    }
    return {
        **{
            f"torture: {name.replace('_', ' ')}": Program([str(TORTURE), name])
            for name in ("operations", "native_calls", "both", "threads", "automatic")
        },
        "workload: updates of a small network": Program(
            [str(TORTURE), "training"], limit=WORKLOAD_LIMIT
        ),
        **{
            f"workload: {name}": Program(
                [str(ROOT / "workloads" / f"{file}.py"), "--total-timesteps", LONG, *options],
                limit=WORKLOAD_LIMIT,
                needs=needs,
            )
            for name, (file, options, needs) in WORKLOADS.items()
        },
        **{f"delay: {name}": program for name, program in delays.items()},
        **{
            f"simulated CUDA: {name}": Program([str(cuda)], cuda_loop.costs(*costs), simulated)
            for name, costs in SCRIPTED.items()
        },
        **{
            f"coverage: {name}": Program(
                program.arguments,
                program.variables,
                limit=COVERAGE_LIMIT,
                rounds=COVERAGE_ROUNDS,
            )
            for name, program in delays.items()
        },
    }


class RowError(Exception):
    """A program could not be measured; the message says why."""


def rlscope(folder: str, verb: str, program: Program) -> str:
    python = program.python or sys.executable
    command = [*program.launcher, python, "-m", "rlscope", verb]
    command += ["--limit", str(program.limit)]
    if verb == "validate":
        command += ["--json"]
        command += ["--rounds", str(program.rounds)] if program.rounds else []
    work = Path(folder, "work")  # a folder `rlscope` in it would be taken for the package
    work.mkdir(exist_ok=True)
    done = subprocess.run(
        [*command, "--", python, *program.arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=work,
        env={**os.environ, "XDG_DATA_HOME": f"{folder}/data", **program.variables},
    )
    if done.returncode not in (0, 1, 3) or (verb == "validate" and not done.stdout):
        last = [each for each in done.stderr.splitlines() if each.strip()][-1:]
        raise RowError(f"rlscope {verb}: {''.join(last)}")
    return done.stdout


def _changed(program: Program, limit: float | None, rounds: int | None) -> Program:
    return replace(
        program,
        limit=limit or program.limit,
        rounds=None if program.rounds is None else rounds or program.rounds,
    )


def measure(program: Program) -> dict[str, Any]:
    """Both validations as `rlscope validate --json` says them, and what the calibration found."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        default = json.loads(rlscope(folder, "validate", program))
        runs: list[dict[str, Any]] = []
        for _ in range(2):  # it goes on with the runs that it has, where these were too few
            if len(runs) < calibrations.FEWEST_RUNS:
                rlscope(folder, "calibrate", program)
                runs = [*_runs(Path(folder, "data"))]
        calibrated = json.loads(rlscope(folder, "validate", program))
        if not calibrated["method"].startswith("`rlscope calibrate`"):
            raise RowError("rlscope calibrate: too few runs, give it a longer --limit")
    return {
        "default": default,
        "calibrated": calibrated,
        "ratio": _ratio(runs),
        "limit": program.limit,
        "seconds": time.monotonic() - begin,
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": asdict(validation_page.this_machine()),
    }


def _runs(data: Path) -> Iterator[dict[str, Any]]:
    """The runs of all calibrations in a store."""
    for file in data.glob("rlscope/calibrations/*.json"):
        for calibration in json.loads(file.read_text())["calibrations"]:
            yield from calibration["runs"]


def _ratio(runs: list[dict[str, Any]]) -> float:
    """What recording added to an iteration, CUPTI's part left out, over what the costs that the
    runs themselves knew say of it."""
    added_ns = sum((run["cuda"] or {"others_ns": run["added_ns"]})["others_ns"] for run in runs)
    return float(added_ns / sum(run["overhead_ns"] for run in runs))


def stored(output: Path) -> dict[str, Any]:
    """The rows of a file, by name."""
    return json.loads(output.read_text()) if output.exists() else {}


def how_long(chosen: dict[str, Program]) -> str:
    """For --help."""
    parts: dict[str, list[float]] = {}
    for name, program in chosen.items():
        parts.setdefault(name.partition(":")[0], []).append(program.most_seconds / 60)
    lines = [
        f"  {name + ':':<16} {len(rows)} rows, {sum(rows):.0f} minutes at most"
        for name, rows in parts.items()
    ]
    rest = sum(sum(rows) for name, rows in parts.items() if name != "coverage")
    lines.append(
        f"  {'in all:':<16} {rest:.0f} minutes, and {sum(parts['coverage']):.0f} of coverage"
    )
    return "\n".join(lines)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return _main(programs(Path(folder)))


def _main(known: dict[str, Program]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"how long rows take, on a machine that does nothing else:\n{how_long(known)}\n"
        "A row that is precise sooner takes less. --resume goes on where a command was cut off.",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="rows whose name begins so, such as `torture`, `coverage: wait`",
    )
    parser.add_argument(
        "--resume", action="store_true", help="do not measure rows again that are stored"
    )
    parser.add_argument(
        "--limit", type=float, metavar="S", help="of each measurement, in place of the page's"
    )
    parser.add_argument(
        "--rounds", type=int, metavar="N", help="of coverages, in place of the page's"
    )
    parser.add_argument("--output", type=Path, default=OUTPUT, help="JSON (default: %(default)s)")
    parser.add_argument("--page", type=Path, help="write the tables of this page anew")
    parser.add_argument("--list", action="store_true", help="print the names of rows, and end")
    options = parser.parse_args()
    chosen = {
        name: program
        for name, program in known.items()
        if not options.only or name.startswith(tuple(options.only))
    }
    if not chosen:
        parser.error("no row has such a name: --list prints them")
    if options.list:
        print("\n".join(chosen))
        return 0
    rows = stored(options.output)
    failed = 0
    for name, program in chosen.items():
        if options.resume and name in rows:
            continue
        if program.python is None:
            print(f"{name}: left out, needs {', '.join(program.needs)} (make test-simulators)")
            continue
        try:
            rows[name] = measure(_changed(program, options.limit, options.rounds))
        except RowError as error:
            failed += 1
            print(f"{name}: not measured, {error}", flush=True)
            continue
        print(
            f"{validation_page.line(name, rows[name])}  ({rows[name]['seconds']:.0f} s)", flush=True
        )
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(rows, indent=1) + "\n")
    if options.page is not None:
        order = {name: rows[name] for name in known if name in rows}
        text = options.page.read_text(encoding="utf-8")
        options.page.write_text(validation_page.renewed(text, order), encoding="utf-8")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())

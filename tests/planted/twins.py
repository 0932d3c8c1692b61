"""Runs a planted program and its twin: plainly, in turn, and each under rls-prof."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planted.programs import PLANTED, planted_lines, script

ROOT = Path(__file__).resolve().parents[2]
_SIMCUDA = ROOT / "tests" / "simcuda" / "run"
_TORCH_CUDA = ".venv-torch-cuda/bin/python"
_LIMIT_S = 120
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
_SAID = "loop "
# Share of the loop that advice on a twin may promise.
_LITTLE = 0.05
# Runs of a twin go on until its two shortest are this close, or until there are so many. A machine
# that others use is slow at times, for seconds.
_CLOSE = 1.03
_MOST_ROUNDS = 8
# A twin is recorded again until its loop is that close to the shortest plain one, or so many times.
_CLOSE_RECORDED = 1.1
_MOST_RECORDED = 5


@dataclass(frozen=True)
class Twins:
    """What was measured of a program, and what rlscope says of it."""

    program: str
    planted_s: Sequence[float]
    """Length of the loop in each plain run."""
    mended_s: Sequence[float]
    findings: Sequence[Mapping[str, Any]]
    """What is found in the planted program, the best first."""
    twin_findings: Sequence[Mapping[str, Any]]
    """The same in the twin."""

    @property
    def measured_s(self) -> float:
        """What mending wins: by the run of each twin that was disturbed least."""
        return min(self.planted_s) - min(self.mended_s)

    @property
    def measured_share(self) -> float:
        """Part of the planted program's loop."""
        return self.measured_s / min(self.planted_s)

    @property
    def first(self) -> Mapping[str, Any] | None:
        return _first(self.findings)

    @property
    def twin_first(self) -> Mapping[str, Any] | None:
        return _first(self.twin_findings)

    @property
    def is_cause_named(self) -> bool:
        rules = PLANTED[self.program].rules
        return self.first["rule"] in rules if self.first else not rules

    @property
    def is_line_right(self) -> bool:
        first = self.first
        if first is None or first["file"] is None:
            return False
        place = Path(first["file"]).name == f"{self.program}.py"
        return place and first["line"] in planted_lines(self.program)

    @property
    def is_twin_silent(self) -> bool:
        """Whether the twin's advice does not name the cause that was mended, or for little."""
        rules = PLANTED[self.program].rules
        return all(
            row["rule"] not in rules or row["saving_share"] <= _LITTLE
            for row in self.twin_findings
            if row["rank"]
        )


def _first(findings: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    return next((row for row in findings if row["rank"] == 1), None)


def measure(program: str, folder: Path, rounds: int) -> Twins:
    """Runs what `folder` does not have yet.

    Raises:
        subprocess.CalledProcessError: a run failed; its output is on stderr.
    """
    twins: dict[str, Sequence[str]] = {"planted": (), "mended": PLANTED[program].mended}
    times = folder / f"{program}.json"
    seconds: dict[str, list[float]] = {name: [] for name in twins}
    recorded_s = dict.fromkeys(twins, float("inf"))
    if times.exists():
        seconds, recorded_s = json.loads(times.read_text())
    for name, arguments in _turns(twins, seconds, rounds, recorded_s):
        seconds[name].append(_plain(program, arguments, folder))
    for name, arguments in twins.items():
        if not _trace(folder, program, name).exists():
            recorded_s[name] = _record(program, name, arguments, folder, min(seconds[name]))
    for name, arguments in _turns(twins, seconds, rounds, recorded_s):
        seconds[name].append(_plain(program, arguments, folder))
    times.write_text(json.dumps((seconds, recorded_s)))
    found = {name: _findings(_trace(folder, program, name)) for name in twins}
    return Twins(program, seconds["planted"], seconds["mended"], found["planted"], found["mended"])


def _turns(
    twins: Mapping[str, Sequence[str]],
    seconds: Mapping[str, Sequence[float]],
    rounds: int,
    recorded_s: Mapping[str, float],
) -> Iterator[tuple[str, Sequence[str]]]:
    """The twins in turn, until both have so many plain runs and are settled."""
    while any(
        len(runs) < rounds or not _is_settled(runs, recorded_s[name])
        for name, runs in seconds.items()
    ):
        if max(map(len, seconds.values())) >= _MOST_ROUNDS:
            return
        yield from twins.items()


def _is_settled(seconds: Sequence[float], recorded_s: float) -> bool:
    """No recorded run was shorter, either."""
    shortest, *others = sorted(seconds)
    return bool(others) and others[0] <= _CLOSE * shortest and shortest <= recorded_s


def _plain(program: str, arguments: Sequence[str], folder: Path) -> float:
    return _loop_s(_run(program, _command(program, arguments), folder))


def _loop_s(output: str) -> float:
    return float(next(line for line in output.splitlines() if line.startswith(_SAID))[len(_SAID) :])


def _trace(folder: Path, program: str, twin: str) -> Path:
    return folder / f"{program}-{twin}"


def _record(
    program: str, twin: str, arguments: Sequence[str], folder: Path, shortest_s: float
) -> float:
    """Makes the trace of a twin: of several recordings the one with the shortest loop, which is the
    answer."""
    best_s = float("inf")
    for number in range(_MOST_RECORDED):
        made = folder / f"{program}-{twin}-{number}"
        shutil.rmtree(made, ignore_errors=True)  # of a measurement that was broken off
        prof = (sys.executable, "-m", "rlscope", "prof", "--quiet", "--no-report")
        command = [*prof, "-o", str(made), *_command(program, arguments)]
        recorded_s = _loop_s(_run(program, command, folder))
        if recorded_s < best_s:
            best_s = recorded_s
            shutil.rmtree(_trace(folder, program, twin), ignore_errors=True)
            made.rename(_trace(folder, program, twin))
        else:
            shutil.rmtree(made)
        if best_s <= _CLOSE_RECORDED * shortest_s:
            break
    return best_s


def _command(program: str, arguments: Sequence[str]) -> list[str]:
    """One that uses a GPU has PyTorch's CUDA wheel (`make test-torch-cuda` installs it)."""
    python = sys.executable
    if PLANTED[program].kernel is not None:
        python = str(ROOT / os.environ.get("TORCH_CUDA_PYTHON", _TORCH_CUDA))
    return [python, str(script(program)), *arguments]


def _run(program: str, command: Sequence[str], folder: Path) -> str:
    """What the command prints, on simulated CUDA if the program uses a GPU."""
    kernel = PLANTED[program].kernel
    simulated = {} if kernel is None else {"SIMCUDA_KERNEL_DURATION": kernel}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        command if kernel is None else [str(_SIMCUDA), *command],
        cwd=folder,
        env=os.environ | _ENVIRONMENT | {"PYTHONPATH": path} | simulated,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=_LIMIT_S,
    )
    return done.stdout


def _findings(directory: Path) -> Sequence[Mapping[str, Any]]:
    from rlscope.analysis.advice import advice
    from rlscope.opening import load

    found = advice(load(directory))
    for failure in found.failures:
        print(f"FAILED rule {failure.rule} on {directory.name}: {failure.reason}", file=sys.stderr)
    return found.findings

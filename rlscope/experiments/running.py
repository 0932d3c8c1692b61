"""Runs the experiments that rules name, each in a process of its own.

outcome = measure(experiment, "/usr/bin/python3")
outcome.left      the part of the time that is left in the advised way, with its interval
outcome.problem   or why nothing was measured
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlscope.analysis.finding import Experiment, Measured
from rlscope.analysis.prices import of_ratios

_HERE = Path(__file__).parent
_LIMIT_SECONDS = 60
# A pair beyond this many times the median was disturbed.
_DISTURBED = 3.0
_FEWEST = 5


def measure(experiment: Experiment, python: str) -> Measured:
    """Runs it with an interpreter, which has to have the libraries of the program."""
    command = [python, str(_HERE / "runner.py"), str(_HERE / "programs" / f"{experiment.name}.py")]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(dict(experiment.settings)),
            capture_output=True,
            text=True,
            timeout=_LIMIT_SECONDS,
            env=_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _not(experiment, f"it took more than {_LIMIT_SECONDS} s")
    except OSError as error:
        return _not(experiment, f"cannot run {python}: {error.strerror}")
    if done.returncode != 0:
        return _not(experiment, _last_line(done.stderr) or f"exit status {done.returncode}")
    return _read(experiment, done.stdout, python)


def _environment() -> Mapping[str, str]:
    """Without what would record the experiment."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RLSCOPE_")}


def _read(experiment: Experiment, printed: str, python: str) -> Measured:
    try:
        said: dict[str, Any] = json.loads(printed.splitlines()[-1])
        if "missing" in said:
            return _not(
                experiment,
                f"{said['missing']} is not installed for {python}; name the program's interpreter "
                "with --python",
            )
        pairs = [(float(program), float(advised)) for program, advised in said["pairs"]]
    except (ValueError, KeyError, TypeError, IndexError):
        return _not(experiment, "it printed no result")
    ratios = _undisturbed([math.log(advised / program) for program, advised in pairs])
    if len(ratios) < _FEWEST:
        return _not(experiment, "other work on the machine disturbed it")
    return Measured(
        experiment.name,
        left=of_ratios(ratios),
        program_s=statistics.median(each for each, _ in pairs),
        advised_s=statistics.median(each for _, each in pairs),
    )


def _undisturbed(logarithms: Sequence[float]) -> list[float]:
    middle = statistics.median(logarithms)
    return [each for each in logarithms if abs(each - middle) <= math.log(_DISTURBED)]


def _not(experiment: Experiment, problem: str) -> Measured:
    return Measured(experiment.name, problem=problem)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""

"""Runs the probes in the interpreter that the user trains with."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlscope import registry
from rlscope.errors import RlscopeError

Facts = dict[str, Any]

_SECONDS = 60.0  # the first load of a CUDA driver takes a few
_HERE = Path(__file__).resolve().parent


def python_facts(python: str, environ: Mapping[str, str]) -> Facts:
    """What probe_python.py prints there.

    Raises:
        RlscopeError: `python` is no interpreter that can be run.
    """
    found = shutil.which(python)
    if found is None:
        raise RlscopeError(f"no such interpreter: {python}; give the path of one with --python")
    rows = [*registry.names(registry.FRAMEWORKS), *registry.names(registry.SIMULATORS)]
    wanted = ["rlscope", *map(distribution, rows)]
    return _run([found, str(_HERE / "probe_python.py"), *wanted], environ)


def distribution(package: str) -> str:
    """What brings the package that a row of the registry is named after, as PyPI spells it: box2d
    for Box2D, ale-py for ale_py."""
    return re.sub("[-_.]+", "-", package).lower()


def cuda_facts(
    python: str, folders: Sequence[str], environ: Mapping[str, str], majors: Sequence[int] = (0,)
) -> Facts:
    """What probe_cuda.py prints there; {"reason": ...} when it does not come to that.

    Args:
        majors: of the CUDA that the frameworks use; each CUPTI is tried in a process of its own.
    """
    # It is not recorded: the driver would load the recorder into the probe.
    quiet = {name: value for name, value in environ.items() if name != "CUDA_INJECTION64_PATH"}
    probe = [python, str(_HERE / "probe_cuda.py")]
    try:
        answers = [_run([*probe, str(major), *folders], quiet) for major in majors]
    except RlscopeError as error:
        return {"reason": str(error)}
    return {**answers[0], "cupti": [facts for each in answers for facts in each["cupti"]]}


def _run(command: list[str], environ: Mapping[str, str]) -> Facts:
    clean = {name: value for name, value in environ.items() if name != "RLSCOPE_DIR"}
    # The folder of the probe must not shadow the interpreter's own modules.
    clean["PYTHONSAFEPATH"] = "1"
    try:
        done = subprocess.run(
            command, env=clean, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RlscopeError(f"{command[0]} cannot be run: {error}") from error
    try:
        facts = json.loads(done.stdout)
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise RlscopeError(f"{os.path.basename(command[0])} did not answer: {last}")
    return facts

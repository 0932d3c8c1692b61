"""Programs on a real GPU, plain and under rls-prof, and the answers of the steps that run them."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuda_trace import CudaTrace, Row

PROGRAMS = Path(__file__).parent / "programs"
PROF = [sys.executable, "-c", "from rlscope.commands.prof import main; raise SystemExit(main())"]

Figures = dict[str, Any]


class Skip(Exception):
    """A step cannot be run here; says why."""


@dataclass
class Answer:
    """What a step found."""

    step: str
    status: str  # PASS, FAIL, SKIP
    seconds: float
    reason: str = ""
    figures: Figures = field(default_factory=dict)


@dataclass
class Run:
    """A finished program under rls-prof: what it said of itself, and its trace."""

    said: Figures
    trace: CudaTrace

    @property
    def pid(self) -> int:
        return int(self.said["pid"])

    def calls(self) -> dict[int, Row]:
        return self.trace.calls(self.pid)

    def work(self, *kinds: int) -> list[Row]:
        return [row for row in self.trace.work(self.pid) if row["kind"] in kinds]

    def note(self) -> Figures:
        """What capture said of itself."""
        note: Figures = json.loads(self.trace.metadata(self.pid).get("cuda", "{}"))
        return note


def check(condition: bool, failure: str) -> None:
    """Fails the step, in words."""
    if not condition:
        raise AssertionError(failure)


def need(module: str) -> None:
    """Skips the step where a library is not installed."""
    if importlib.util.find_spec(module) is None:
        raise Skip(f"{module} is not installed")
    if module == "torch" and importlib.import_module("torch").version.cuda is None:
        raise Skip("this PyTorch was built without CUDA")


class Bench:
    """Runs programs of tests/gpu/programs, and compiled ones; traces go below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._count = 0

    def plain(self, program: str, *arguments: str, code: int = 0) -> Figures:
        return self._said(self._command(program, arguments), code)

    def record(
        self, program: str, *arguments: str, prof: tuple[str, ...] = (), code: int = 0
    ) -> Run:
        self._count += 1
        directory = self.folder / f"{self._count:02}-{Path(program).stem}"
        wrapped = [*PROF, "--no-report", "-o", str(directory), *prof, "--"]
        said = self._said([*wrapped, *self._command(program, arguments)], code)
        return Run(said, CudaTrace(directory))

    def start(self, program: str, *arguments: str) -> tuple[subprocess.Popen[str], CudaTrace]:
        """Under rls-prof, with its output open."""
        self._count += 1
        directory = self.folder / f"{self._count:02}-{Path(program).stem}"
        wrapped = [*PROF, "--no-report", "-o", str(directory), "--"]
        command = [*wrapped, *self._command(program, arguments)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True), CudaTrace(directory)

    @staticmethod
    def _command(program: str, arguments: tuple[str, ...]) -> list[str]:
        if not program.endswith(".py"):
            return [program, *arguments]
        return [sys.executable, str(PROGRAMS / program), *arguments]

    @staticmethod
    def _said(command: list[str], code: int) -> Figures:
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        lines = done.stderr.strip().splitlines()
        check(done.returncode == code, f"exit code {done.returncode}: {' / '.join(lines[-3:])}")
        said = [line for line in done.stdout.splitlines() if line.startswith("{")]
        check(bool(said), "the program said nothing")
        facts: Figures = json.loads(said[-1])
        return facts


def answer(step: str, run: Callable[[Bench], Figures], bench: Bench) -> Answer:
    """Runs a step; whatever it raises is its answer."""
    begin = time.monotonic()
    status, reason, figures = "PASS", "", {}
    try:
        figures = run(bench)
    except Skip as skip:
        status, reason = "SKIP", str(skip)
    except Exception as error:
        status, reason = "FAIL", f"{type(error).__name__}: {error}".removeprefix("AssertionError: ")
    return Answer(step, status, round(time.monotonic() - begin, 1), reason, figures)

"""Programs on a real GPU, plain and under rls-prof, for the steps that compare both."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.cuda.trace import CudaTrace, Row
from support.cuda.witness import compile_witness, witness_environment

PROGRAMS = Path(__file__).parent / "programs"
RLSCOPE = [sys.executable, str(Path(__file__).with_name("rlscope_command.py"))]
PROF = [*RLSCOPE, "prof"]
WHOLE = ("--gpu-share", "100%")  # unless a step says otherwise: it compares all GPU work

WITNESS_SECONDS = 30.0

Figures = dict[str, Any]


class Skip(Exception):
    """A step cannot be run here; says why."""


class Failure(Exception):
    """What is recorded is not what happened, or costs too much; says what, and the figures."""

    def __init__(self, reason: str, figures: Figures | None = None) -> None:
        super().__init__(reason)
        self.figures = figures or {}


class ProgramFailed(Failure):
    """A program ended otherwise than it should."""


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


def check(condition: bool, failure: str, figures: Figures | None = None) -> None:
    """Fails the step, in words."""
    if not condition:
        raise Failure(failure, figures)


def need(module: str) -> None:
    """Skips the step where a library is not installed."""
    spec = importlib.util.find_spec(module)
    if spec is None:
        raise Skip(f"{module} is not installed")
    if module == "torch" and not _torch_has_cuda(Path(spec.origin or "")):
        raise Skip("this PyTorch was built without CUDA")


def _torch_has_cuda(package: Path) -> bool:
    """By a file of its; an import of PyTorch takes seconds, and every step needs one."""
    text = package.with_name("version.py").read_text()
    return re.search(r"^cuda\b.*=\s*['\"]\d", text, re.MULTILINE) is not None


def need_tool(name: str) -> str:
    """Path of a program; skips the step where there is none."""
    found = shutil.which(name)
    if found is None:
        raise Skip(f"{name} is not installed")
    return found


class Bench:
    """Runs programs of tests/gpu/programs, and compiled ones.

    Traces, what programs say and what they write on stderr go below `folder`, in the order of the
    runs. What lies there is brought home: data/ always, everything else as far as it is small.
    """

    def __init__(self, folder: Path, *, patient: bool = False, seconds: float = math.inf) -> None:
        self.folder = folder
        self._end = time.monotonic() + seconds
        self.patient = patient
        """There is time for longer repetitions."""
        self._count = 0
        self._last: tuple[list[str], Mapping[str, str]] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def left(self) -> float:
        """Seconds until the step is ended."""
        return self._end - time.monotonic()

    def plain(
        self, program: str, *arguments: str, code: int = 0, env: Mapping[str, str] | None = None
    ) -> Figures:
        return self._said(self._place(program), self._command(program, arguments), code, env or {})

    def record(
        self,
        program: str,
        *arguments: str,
        prof: tuple[str, ...] = (),
        code: int = 0,
        env: Mapping[str, str] | None = None,
    ) -> Run:
        """Skips the step where the program does not work without rls-prof either."""
        self._last = self._command(program, arguments), env or {}
        try:
            return self.record_once(program, *arguments, prof=prof, code=code, env=env)
        except ProgramFailed:
            self._skip_if_broken(program, arguments, code, env or {})
            raise

    def record_once(
        self,
        program: str,
        *arguments: str,
        prof: tuple[str, ...] = (),
        code: int = 0,
        env: Mapping[str, str] | None = None,
    ) -> Run:
        """The same of a program that needs the recorder, and cannot be tried without."""
        command, place = self._command(program, arguments), self._place(program)
        wrapped = [*PROF, *WHOLE, "--no-report", "-o", str(place), *prof, "--", *command]
        return Run(self._said(place, wrapped, code, env or {}), CudaTrace(place))

    def start(self, program: str, *arguments: str) -> tuple[subprocess.Popen[str], CudaTrace]:
        """Under rls-prof, with its output open."""
        place = self._place(program)
        command = self._command(program, arguments)
        wrapped = [*PROF, *WHOLE, "--no-report", "-o", str(place), "--", *command]
        return subprocess.Popen(wrapped, stdout=subprocess.PIPE, text=True), CudaTrace(place)

    def witness(self, place: Path, program: str, *arguments: str, level: str = "graph") -> Figures:
        """Runs a program under the witness, which writes into `place` what CUPTI gives it."""
        env = self._witnessed(place, level)
        return self._said(place, self._command(program, arguments), 0, env)

    def witness_last(self) -> None:
        """What CUPTI gives to the program of the last record(), for a search after a failure.
        Does nothing where that cannot be had."""
        if self._last is None or shutil.which("cc") is None:
            return
        command, env = self._last
        place = self.folder / "witness"
        with open(place.with_suffix(".log"), "w") as log:
            subprocess.run(
                command,
                env=os.environ | env | self._witnessed(place, "graph"),
                stdout=log,
                stderr=log,
                timeout=WITNESS_SECONDS,
                check=False,
            )

    def compile(self, source: str, *options: str) -> Path:
        """A program or a library of C, made with cc."""
        made = self.folder / "built" / Path(source).stem
        made.parent.mkdir(parents=True, exist_ok=True)
        command = [need_tool("cc"), "-O2", "-o", str(made), str(PROGRAMS / source), *options]
        done = subprocess.run(command, capture_output=True, text=True)
        check(done.returncode == 0, f"cc: {done.stderr.strip()[-300:]}")
        return made

    def _witnessed(self, place: Path, level: str) -> dict[str, str]:
        need_tool("cc")
        return witness_environment(compile_witness(self.folder), place, level, _cupti_folders())

    def _skip_if_broken(
        self, program: str, arguments: tuple[str, ...], code: int, env: Mapping[str, str]
    ) -> None:
        try:
            self.plain(program, *arguments, code=code, env=env)
        except ProgramFailed as error:
            raise Skip(f"without rls-prof, too: {error}") from error

    def _place(self, program: str) -> Path:
        self._count += 1
        return self.folder / f"{self._count:02}-{Path(program).stem}"

    @staticmethod
    def _command(program: str, arguments: tuple[str, ...]) -> list[str]:
        if not program.endswith(".py"):
            return [program, *arguments]
        return [sys.executable, str(PROGRAMS / program), *arguments]

    @staticmethod
    def _said(place: Path, command: list[str], code: int, env: Mapping[str, str]) -> Figures:
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | env)
        place.with_suffix(".err").write_text(done.stderr)
        lines = [line for line in done.stderr.splitlines() if not line.startswith("rls-prof: ")]
        ending = " / ".join(lines[-3:])
        if done.returncode != code:
            raise ProgramFailed(f"{_ended(done.returncode)}: {ending}")
        said = [line for line in done.stdout.splitlines() if line.startswith("{")]
        check(bool(said), f"the program said nothing: {ending}")
        place.with_suffix(".json").write_text(said[-1] + "\n")
        facts: Figures = json.loads(said[-1])
        return facts


def _ended(code: int) -> str:
    """Under rls-prof a program that a signal ended has the shell's code for it."""
    number = -code if code < 0 else code - 128
    try:
        return f"ended by {signal.Signals(number).name}"
    except ValueError:
        return f"exit code {code}"


def _cupti_folders() -> list[str]:
    from rlscope.capture.cuda import cupti_folders

    return [*cupti_folders(sys.path), "/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64"]

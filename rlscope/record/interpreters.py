"""Finds interpreters that run in a trace without their Python layer, and prints the remedy.

If the bootstrap of a Python process never reports to the recorder, its interpreter has no rlscope:
another venv, conda, uv, `-S`, or an application that carries its own Python. A user should not
learn that after hours of training, so rls-prof prints it within two seconds.
"""

import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rlscope.record.processes import Image, ProcessLog, has_recorder
from rlscope.recorder import LIBRARY
from rlscope.rundir import proc
from rlscope.rundir.proc import process_cpu_ns

# A bootstrap reports after some 20 ms of CPU time; a process that had less, on a crowded machine
# or a slow file system, may still come to it. Looked for each 0.25 s, the line is heard within 2 s.
_PATIENCE_NS = 1_200_000_000
_LONGEST_PATIENCE_NS = 1_700_000_000
_BOOTSTRAP_CPU_NS = 50_000_000
# `python --version` is over in 5 ms and never imports site; one that lived longer than this did.
_LIVED_NS = 100_000_000
Say = Callable[[str], None]

_PYTHON = re.compile(r"(python|pypy)[0-9.]*(t|d|-dbg|-intel64)?")


@dataclass
class Sighting:
    """A process image, as /proc showed it while it lived."""

    image: Image
    executable: str = ""
    arguments: list[str] = field(default_factory=list)
    folder: str = ""
    """Its working directory."""

    def refresh(self) -> None:
        """Asks /proc again; keeps what it knew when the process is gone."""
        process = f"/proc/{self.image.pid}"
        try:
            executable = os.readlink(f"{process}/exe")
            folder = os.readlink(f"{process}/cwd")
            arguments = os.fsdecode(proc.read(f"{process}/cmdline")).split("\0")[:-1]
        except OSError:
            return
        self.executable, self.arguments, self.folder = executable, arguments, folder

    def is_python(self) -> bool:
        """By the executable's name, else by a libpython in its memory (frozen, embedded)."""
        name = os.path.basename(self.executable) or self.image.comm
        return _PYTHON.fullmatch(name) is not None or _maps_libpython(self.image.pid)

    @property
    def interpreter(self) -> str:
        """Path by which it was started: a venv's own, which is a link to the one that runs."""
        first = self.arguments[0] if self.arguments else ""
        if "/" in first:
            return os.path.normpath(os.path.join(self.folder, first))
        for folder in os.environ.get("PATH", "").split(":"):
            path = os.path.join(folder, first)
            if first and os.path.realpath(path) == self.executable:
                return path
        return self.executable or self.image.comm


class InterpreterWatch:
    """Says once for each interpreter that it has no Python layer."""

    def __init__(
        self,
        log: ProcessLog,
        command: Sequence[str],
        executable: str,
        pid: int,
        say: Say,
    ) -> None:
        """
        Args:
            log: of the run; this watch updates it.
            command: the program's argument vector, `executable` its file and `pid` its process.
            say: prints one line.
        """
        self._log = log
        self._command = list(command)
        self._executable = os.path.realpath(executable)
        self._root = pid
        self._say = say
        self._open: list[Sighting] = []
        self._said: dict[str, tuple[Image, str]] = {}
        self._found: list[tuple[Sighting, str, str]] = []

    def look(self) -> None:
        """Takes in the news of the log and speaks of interpreters that had time enough."""
        self._look(self._say)

    def _look(self, say: Say) -> None:
        for image in self._log.update():
            self._open = [one for one in self._open if one.image.pid != image.pid]
            if not image.forked:
                self._open.append(self._sight(image))
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self._open = [one for one in self._open if not self._judge(one, now, say)]

    def finish(self) -> list[str]:
        """Looks a last time, at what is over too; returns a line for each interpreter found.

        One that imported rlscope itself meanwhile has its Python layer from there on.
        """
        self._look(lambda line: None)
        return [line for image, line in self._said.values() if not image.python]

    def without_layer(self) -> list[tuple[Sighting, str, str]]:
        """Each process that was found, with why it has no Python layer and what mends that."""
        return [found for found in self._found if not found[0].image.python]

    def _sight(self, image: Image) -> Sighting:
        if image.pid == self._root:
            sighting = Sighting(image, self._executable, self._command, os.getcwd())
        else:
            sighting = Sighting(image)
        sighting.refresh()
        return sighting

    def _judge(self, sighting: Sighting, now: int, say: Say) -> bool:
        """True when nothing more is to be learnt about this image."""
        image = sighting.image
        if image.python:
            return True
        if image.runs:
            if not _had_time(image, now):
                return False
            if not has_recorder(image.pid):  # it executed a program that is not recorded
                return True
            sighting.refresh()
        elif not self._imported_site(sighting):
            return True
        if sighting.is_python():
            self._report(sighting, say)
        return True

    def _imported_site(self, sighting: Sighting) -> bool:
        """Whether a process that is over got as far as the bootstrap's line."""
        image = sighting.image
        if image.pid == self._root:
            return not _only_informs(sighting.arguments)
        return image.ended_ns - image.began_ns >= _LIVED_NS

    def _report(self, sighting: Sighting, say: Say) -> None:
        interpreter = sighting.interpreter
        reason, remedy = self._explain(sighting, interpreter)
        self._found.append((sighting, reason, remedy))
        if interpreter in self._said:
            return
        line = f"{interpreter} (pid {sighting.image.pid}) has no Python layer: {reason}; {remedy}"
        self._said[interpreter] = (sighting.image, line)
        say(line)

    def _explain(self, sighting: Sighting, interpreter: str) -> tuple[str, str]:
        """Why the bootstrap did not run there, and the command that mends it."""
        if _PYTHON.fullmatch(os.path.basename(sighting.executable) or interpreter) is None:
            return (
                "it carries a Python of its own",
                f"run its script instead: rls-prof {shlex.quote(sys.executable)} SCRIPT",
            )
        if _has_letter(sighting.arguments, "S"):
            return "-S keeps it from site-packages", "run it without -S"
        if _has_bootstrap_line(interpreter):
            check = "from rlscope import recorder; print(recorder.REASON)"
            preload = f"LD_PRELOAD={LIBRARY}"
            return (
                "its rlscope did not start",
                # With our library before it, as here: it may be of another version than its own.
                f"to see why: {shlex.join(['env', preload, interpreter, '-c', check])}",
            )
        missing = "rlscope is not installed in it"
        if sighting.image.pid == self._root and "/" not in self._command[0]:
            # `.venv/bin/rls-prof python x.py` without activation: PATH holds another python.
            mended = shlex.join(["rls-prof", sys.executable, *self._command[1:]])
            return f"{missing} (PATH found it)", f"to use the one that has it: {mended}"
        return missing, f"to install it there: {_install_command(interpreter)}"


def _had_time(image: Image, now: int) -> bool:
    """Whether its bootstrap would have reported by now."""
    age = now - image.began_ns
    if age < _PATIENCE_NS:
        return False
    return age >= _LONGEST_PATIENCE_NS or process_cpu_ns(image.pid) >= _BOOTSTRAP_CPU_NS


def _maps_libpython(pid: int) -> bool:
    try:
        return b"/libpython" in proc.read(f"/proc/{pid}/maps")
    except OSError:
        return False


def _letters(arguments: Sequence[str]) -> str:
    """One-letter options of an interpreter's command line, as far as they are its own."""
    found = ""
    takes_value = False
    for argument in arguments[1:]:
        if takes_value:
            takes_value = False
            continue
        if not argument.startswith("-") or argument in ("-", "--"):
            break
        if argument.startswith("--"):
            found += {"--version": "V", "--help": "h"}.get(argument, "")
            continue
        letters = re.match("[^cmXW]*", argument[1:])
        own = letters.group() if letters else ""
        found += own
        option = argument[1 + len(own) :]
        if option[:1] in ("c", "m"):
            break
        takes_value = option in ("X", "W")
    return found


def _has_letter(arguments: Sequence[str], letter: str) -> bool:
    return letter in _letters(arguments)


def _only_informs(arguments: Sequence[str]) -> bool:
    """`python --version` and `python -h` end before site-packages is looked at."""
    return any(letter in "Vh?" for letter in _letters(arguments))


def _has_bootstrap_line(interpreter: str) -> bool:
    library = os.path.join(os.path.dirname(os.path.dirname(interpreter)), "lib")
    try:
        versions = [name for name in os.listdir(library) if name.startswith("python")]
    except OSError:
        return False
    line = os.path.join("site-packages", "rlscope.pth")
    return any(os.path.exists(os.path.join(library, version, line)) for version in versions)


def _install_command(interpreter: str) -> str:
    package = shlex.quote(_package_source())
    if _is_made_by_uv(interpreter):
        return f"uv pip install --python {shlex.quote(interpreter)} {package}"
    return f"{shlex.quote(interpreter)} -m pip install {package}"


def _is_made_by_uv(interpreter: str) -> bool:
    """uv's venvs hold no pip; their pyvenv.cfg names uv."""
    folder = os.path.dirname(os.path.dirname(interpreter))
    try:
        with open(os.path.join(folder, "pyvenv.cfg"), encoding="utf-8") as file:
            return any(line.startswith("uv =") for line in file)
    except (OSError, UnicodeDecodeError):
        return False


def _package_source() -> str:
    """What to hand to pip: the folder that this rlscope was installed from, else its name."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution("rlscope").read_text("direct_url.json")
    except PackageNotFoundError:
        return "rlscope"
    url = str(json.loads(text).get("url", "")) if text else ""
    return url.removeprefix("file://") if url.startswith("file://") else "rlscope"

"""Several scripts that need the same library, each in a fork of one process that imported it.

PyTorch takes two seconds to import, and a brief program takes less. To take the interpreter apart
with it takes another one, so a fork that comes to the end of its script leaves that out. A quarter
of the import is a search for garbage, of which there is none.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rlscope.recorder import runtime
from rlscope.rundir import process_log

COMPILER = "torch._dynamo"
"""The first optimizer of a process imports it, which takes another second."""

_PARENT = """
import atexit, gc, importlib, json, os, runpy, sys
modules, programs = json.load(sys.stdin)
gc.disable()
for module in modules:
    importlib.import_module(module)
gc.freeze()
gc.enable()
for name, (script, *arguments) in programs.items():
    child = os.fork()
    if child == 0:
        os.mkdir(name)
        os.chdir(name)
        for number, stream in ((0, os.devnull), (1, "stdout"), (2, "stderr")):
            os.dup2(os.open(stream, os.O_RDWR | os.O_CREAT), number)
        sys.argv = [script, *arguments]
        sys.path[0] = os.path.dirname(script)
        runpy.run_path(script, run_name="__main__")
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(json.dumps([name, child, os.waitstatus_to_exitcode(status)]), flush=True)
"""


@dataclass(frozen=True)
class Ended:
    """A script that has ended."""

    pid: int
    code: int
    stdout: str
    stderr: str


def run(
    python: Sequence[str],
    folder: Path,
    programs: Mapping[str, Sequence[str]],
    *,
    modules: Sequence[str],
    timeout: float = 600,
) -> dict[str, Ended]:
    """Runs scripts with their arguments, one after another, each in folder/name.

    `python`: the command of the interpreter, which may be that of a recorded one.
    """
    done = subprocess.run(
        [*python, "-c", _PARENT],
        input=json.dumps([modules, programs]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=folder,
        timeout=timeout,
    )
    rows = map(json.loads, done.stdout.splitlines())
    return {name: Ended(*facts, *_said(folder / name)) for name, *facts in rows}


def alone(run: Path, pid: int, directory: Path) -> None:
    """Copies one process of a run to a trace of its own, where it is the main one."""
    (directory / "trace").mkdir(parents=True)
    shutil.copy(run / "run.json", directory)
    for file in (run / "trace").glob(f"*.{pid}.*.rls"):
        shutil.copy(file, directory / "trace")
    log = (run / process_log.FILE).read_bytes()
    records, _ = runtime.process_records(log)
    own = (each for each in records if process_log.parse(each)[0][0].pid == pid)
    (directory / process_log.FILE).write_bytes(b"".join(own))


def _said(folder: Path) -> tuple[str, str]:
    return (folder / "stdout").read_text(), (folder / "stderr").read_text()

"""The bootstrap in a traced interpreter: it is there, and nothing that a program sees changed."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.files.streamed_rows import read_instances
from support.process.traced_python import ROOT, TracedPython, make_bare_venv

pytestmark = pytest.mark.usefixtures("clean_environment")

_LINE = ROOT / "rlscope" / "capture" / "rlscope.pth"

# Everything an interpreter shows of itself, as JSON.
_DUMP = """
import sys
modules = sorted(sys.modules)
import asyncio, decimal, faulthandler, gc, json, locale, logging, os, random, resource, signal
import threading, tracemalloc, warnings
random.seed(7)
print(json.dumps({
    "modules": modules,
    "path": sys.path, "flags": str(sys.flags), "argv": sys.argv, "orig_argv": sys.orig_argv,
    "meta_path": [str(type(f)) + getattr(f, "__name__", "") for f in sys.meta_path],
    "path_hooks": len(sys.path_hooks),
    "warnings": [str(f) for f in warnings.filters], "warnoptions": sys.warnoptions,
    "signals": [str(signal.getsignal(n)) for n in range(1, 32)],
    "blocked": str(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
    "random": random.random(), "recursion": sys.getrecursionlimit(),
    "switch": sys.getswitchinterval(), "gc": [gc.isenabled(), gc.get_threshold(), gc.callbacks],
    "locale": locale.setlocale(locale.LC_ALL), "decimal": str(decimal.getcontext()),
    "logging": [logging.root.level, len(logging.root.handlers), logging.lastResort.level],
    "hooks": [sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__,
              str(sys.unraisablehook), str(sys.breakpointhook), str(threading.excepthook)],
    "trace": [str(sys.gettrace()), str(sys.getprofile()), str(threading._trace_hook)],
    "faults": faulthandler.is_enabled(), "tracemalloc": tracemalloc.is_tracing(),
    "threads": [t.name for t in threading.enumerate()],
    "tasks": len(os.listdir("/proc/self/task")),
    "descriptors": sorted(os.readlink(f"/proc/self/fd/{n}").split(":")[0]
                          for n in os.listdir("/proc/self/fd")
                          if os.path.exists(f"/proc/self/fd/{n}")),
    "limits": [resource.getrlimit(n) for n in range(16)],
    "umask": (lambda mask: os.umask(mask) or mask)(os.umask(0)), "directory": os.getcwd(),
    "policy": str(type(asyncio.get_event_loop_policy())),
    "encoding": [sys.stdout.encoding, sys.stderr.errors, sys.getfilesystemencoding()],
    "environ": dict(os.environ),
    "int_digits": getattr(sys, "get_int_max_str_digits", lambda: None)(),
    "builtins": sorted(dir(__builtins__)), "main": sorted(globals()),
}))
"""
# Modules of the standard library that the bootstrap and `import rlscope` need.
_IMPORTED_TOO = {
    "__future__",
    "atexit",
    "importlib",
    "importlib._bootstrap",
    "importlib._bootstrap_external",
    "warnings",
}
_OURS = {
    "RLSCOPE_DIR",
    "RLSCOPE_AUTO",
    "RLSCOPE_CUPTI",  # where a wheel of PyTorch for CUDA brings one
    "LD_PRELOAD",
    "ASAN_OPTIONS",
    "CUDA_INJECTION64_PATH",
}


def _dump(command: list[str]) -> dict[str, Any]:
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    state: dict[str, Any] = json.loads(result.stdout)
    return state


def test_program_sees_no_difference(traced: TracedPython, directory: str, tmp_path: Path) -> None:
    script = tmp_path / "dump.py"
    script.write_text(_DUMP)
    alone = _dump([traced.python, str(script)])
    recorded = _dump(traced.command("-o", directory, traced.python, str(script)))
    added = set(recorded.pop("modules")) - set(alone.pop("modules"))
    assert {name for name in added if name.split(".")[0] != "rlscope"} <= _IMPORTED_TOO
    environ, before = recorded.pop("environ"), alone.pop("environ")
    assert {k: v for k, v in environ.items() if k not in _OURS} == before
    assert recorded == alone


def test_interpreter_is_in_the_trace(traced: TracedPython, directory: str) -> None:
    traced.run("-o", directory, traced.python, "-c", "pass")
    from rlscope._trace import Directory

    (process,) = Directory(directory).processes
    version = subprocess.run(
        [traced.python, "-c", "import platform; print(platform.python_version())"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert process["python"] == version
    began, ended = process["python_begin_ns"], process["python_end_ns"]
    assert process["start_ns"] < began < ended <= process["end_ns"]


def test_exit_functions_of_the_program_are_still_python(
    traced: TracedPython, directory: str
) -> None:
    program = """
import atexit, time
import rlscope as rls
@atexit.register
def last():
    with rls.operation("last"):
        time.sleep(0.02)
"""
    traced.run("-o", directory, traced.python, "-c", program)
    from rlscope._trace import Directory

    trace = Directory(directory)
    (process,) = trace.processes
    instances = read_instances(trace, 0)
    (start,), (duration,) = instances["start_ns"], instances["duration_ns"]
    assert duration >= 20_000_000
    assert start + duration <= process["python_end_ns"]


def test_line_costs_no_import_without_the_variable(traced: TracedPython) -> None:
    program = "import sys; print([m for m in sys.modules if m.startswith('rlscope')])"
    result = subprocess.run([traced.python, "-c", program], capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("[]\n", "")


def test_line_is_one_statement_that_site_executes() -> None:
    text = _LINE.read_text()
    assert text.startswith("import ") and text.endswith("\n") and text.count("\n") == 1


def test_line_left_behind_by_an_uninstall_is_silent(tmp_path: Path) -> None:
    python = make_bare_venv(tmp_path / "venv")
    (site,) = tmp_path.glob("venv/lib/python*/site-packages")
    shutil.copy(_LINE, site)
    environ = {**os.environ, "RLSCOPE_DIR": str(tmp_path)}
    result = subprocess.run(
        [python, "-c", "print('ran')"], env=environ, capture_output=True, text=True
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "ran\n", "")


@pytest.mark.parametrize("value", ["", "/no/such/directory", "relative", "/etc/passwd"])
def test_variable_that_names_no_trace_changes_nothing(traced: TracedPython, value: str) -> None:
    environ = {**os.environ, "RLSCOPE_DIR": value}
    program = "import rlscope as rls\nwith rls.operation('x'): print('ran')"
    result = subprocess.run(
        [traced.python, "-c", program], env=environ, capture_output=True, text=True
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "ran\n", "")


def test_bootstrap_reports_once(traced: TracedPython, directory: str) -> None:
    program = "import importlib, rlscope.capture.bootstrap; import rlscope"
    traced.run("-o", directory, traced.python, "-c", program)
    python_record = 3
    log = Path(directory, "processes.log").read_bytes()
    events = [int.from_bytes(log[at + 10 : at + 12], "little") for at in range(0, len(log), 128)]
    assert events.count(python_record) == 1

"""Where functions cannot be patched: it is said, nothing breaks, and what can be recorded is."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from extension.sample_library import HERE as EXTENSION
from extension.sample_library import compile_extension
from support.process.native_calls import calls_of, record_calls
from support.process.recorded_child import environment, run
from support.process.traced_python import TracedPython, make_traced_python, untraced_environment

from rlscope.opening import load

REFUSED = """
from rlscope import _runtime
print(_runtime.intercept_supported())
try:
    _runtime.intercept_scan()
except RuntimeError as error:
    print(error)
"""
ENGINE = "monitoring" if sys.version_info >= (3, 12) else "off"
UNKNOWN = [
    ("sys.implementation.name = 'other'", "only in CPython"),
    ("sys.hexversion = 0x030f00f0", "only in CPython 3.10 to 3.14 with a GIL"),
]


@pytest.fixture(scope="module")
def closed_pages(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A library to preload, with which no page can be made writable."""
    return compile_closed_pages(tmp_path_factory.mktemp("closed"))


def compile_closed_pages(folder: Path, *options: str) -> str:
    library = folder / "closed_pages.so"
    command = ["cc", "-shared", "-fPIC", *options, str(EXTENSION / "closed_pages.c")]
    subprocess.run([*command, "-o", str(library)], check=True)
    return str(library)


def test_functions_beyond_the_last_stub_share_one(directory: str, tmp_path: Path) -> None:
    library = compile_extension("crowd", [EXTENSION / "crowd_module.c"], tmp_path)
    trace = record_calls(
        directory,
        f"""
        import json, sys
        sys.path.insert(0, {str(library.parent)!r})
        import crowd
        _runtime.intercept_watch({str(library)!r}, "simulator")
        counts = _runtime.intercept_scan()
        for _ in range(100):
            crowd.f0()
        crowd.f32998(), crowd.f32999()
        print(json.dumps([counts, _runtime.intercept_unpatch()]))
        crowd.f0()
        """,
    )
    counts, restored = json.loads(trace.output)
    assert counts["patched"] == 33_000
    assert counts["shared"] > 0 == counts["refused"]
    assert restored["remembered"] >= 33_000
    called = Counter(call.name for call in calls_of(trace))
    assert called == {"crowd:f0": 100, "crowd:(other)": 2}


def test_a_kernel_that_keeps_pages_closed_is_not_patched_on(closed_pages: str) -> None:
    said = run(REFUSED, environment(LD_PRELOAD=closed_pages)).splitlines()
    assert said == ["the kernel does not let rlscope make read-only pages writable"] * 2


def test_pointers_that_cannot_be_put_back_are_counted_and_record_nothing(
    library: str, tmp_path: Path
) -> None:
    said = run(
        f"""
        import ctypes, json, sys
        sys.path.insert(0, {str(Path(library).parent)!r})
        import sample
        from rlscope import _runtime
        _runtime.profile_begin({str(tmp_path)!r})
        _runtime.intercept_watch({library!r}, "simulator")
        _runtime.intercept_scan()
        sample.constant()
        recorded = _runtime.thread_slots()
        assert recorded > 0
        said = []
        for closed in (1, 0):
            ctypes.CDLL(None).close_pages(closed)
            _runtime.intercept_unpatch()
            said.append(_runtime.intercept_counts())
            sample.constant()
        assert _runtime.thread_slots() == recorded
        print(json.dumps(said))
        _runtime.profile_end()
        """,
        environment(LD_PRELOAD=compile_closed_pages(tmp_path, "-DCLOSED_LATER")),
    )
    closed, opened = json.loads(said)
    assert closed["pointers"] + closed["replaced"] > 0
    assert opened["pointers"] == opened["replaced"] == 0
    assert opened["passed_through"] == 1


@pytest.mark.parametrize(("change", "reason"), UNKNOWN)
def test_an_unknown_interpreter_is_not_patched(change: str, reason: str) -> None:
    said = run(f"import sys; {change}\n{REFUSED}").splitlines()
    assert said == [f"rlscope patches native functions {reason}"] * 2


def test_a_sub_interpreter_is_not_patched() -> None:
    """Functions that its threads share with the main interpreter are patched there."""
    script = f"""
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        number = interpreters.create()
        interpreters.run_string(number, {REFUSED!r})
        interpreters.destroy(number)
    """
    said = run(script).splitlines()
    assert said == ["rlscope does not patch native functions from a sub-interpreter"] * 2


def test_the_run_goes_on_where_pages_are_closed_and_says_why(
    traced: TracedPython, closed_pages: str, directory: str, library: str
) -> None:
    environ = {**untraced_environment(), "LD_PRELOAD": closed_pages}
    _run_without_patches(traced, directory, library, "read-only pages", env=environ)


@pytest.mark.parametrize(("change", "reason"), UNKNOWN)
def test_the_run_goes_on_in_an_unknown_interpreter_and_says_why(
    tmp_path: Path, directory: str, library: str, change: str, reason: str
) -> None:
    unknown = make_traced_python(tmp_path / "unknown")
    (site,) = (tmp_path / "unknown").glob("lib/python*/site-packages")
    (site / "0_unknown.pth").write_text(f"import sys; {change}\n")  # read before rlscope.pth
    _run_without_patches(unknown, directory, library, reason)


def _run_without_patches(
    python: TracedPython, directory: str, library: str, reason: str, **options: Any
) -> None:
    """The trace has the engine that is left, why it is that one, and the calls that it sees."""
    program = f"""
import sys; sys.path.insert(0, {str(Path(library).parent)!r})
import rlscope as rls, sample
with rls.operation("steps"):
    for _ in range(10):
        sample.noargs()
"""
    arguments = ["-o", directory, "--simulator", "sample", python.python, "-c", program]
    done = python.run(*arguments, **options)
    assert done.returncode == 0, done.stderr
    with load(directory) as trace:
        calls = list(
            trace.sql("SELECT function, calls::INT FROM native_call WHERE function NOT LIKE 'gc:%'")
        )
        ((said,),) = trace.sql("SELECT value FROM metadata WHERE key = 'rlscope.interception'")
    facts = json.loads(said)
    assert facts["engine"] == ENGINE
    assert reason in facts["reason"]
    assert calls == ([("sample:noargs", 10)] if ENGINE == "monitoring" else [])

"""The user's own layers: --intercept, --numpy, --simulator, rls.layer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from extension.sample_library import build_sample
from support.process.traced_python import TracedPython

from rlscope.opening import load

pytestmark = pytest.mark.usefixtures("clean_environment")

STEPS = """
import sys; sys.path.insert(0, {folder!r})
{before}
import sample, rlscope as rls
{after}
with rls.operation("steps"):
    for _ in range(20):
        sample.noargs()
"""


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Folder of an extension module that rlscope knows nothing of."""
    folder = tmp_path_factory.mktemp("sample[1]")  # a name that a glob would read otherwise
    build_sample(folder)
    return str(folder)


def _calls(directory: str) -> dict[str, tuple[str, int]]:
    """Function -> its layer and how often it was called inside operations."""
    with load(directory) as trace:
        rows = trace.sql(
            "SELECT function, layer, SUM(calls)::BIGINT FROM native_call "
            "WHERE operation <> '(none)' AND function NOT LIKE 'gc:%' GROUP BY ALL"
        )
    return {function: (layer, calls) for function, layer, calls in rows}


def _run(traced: TracedPython, directory: str, program: str, *options: str) -> None:
    done = traced.run("-o", directory, *options, traced.python, "-c", program)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("options", "before", "after"),
    [
        (["--simulator", "sample"], "", ""),
        (["--simulator", "other", "--simulator", "sample"], "", ""),
        ([], "import rlscope; rlscope.layer('simulator', module='sample')", ""),
        ([], "", "rls.layer('simulator', module='sample')"),
    ],
)
def test_a_library_of_the_user_is_a_simulator_in_one_line(
    traced: TracedPython, directory: str, sample: str, options: list[str], before: str, after: str
) -> None:
    _run(traced, directory, STEPS.format(folder=sample, before=before, after=after), *options)
    assert _calls(directory) == {"sample:noargs": ("simulator", 20)}


def test_a_library_that_was_not_named_is_python(
    traced: TracedPython, directory: str, sample: str
) -> None:
    _run(traced, directory, STEPS.format(folder=sample, before="", after=""))
    assert _calls(directory) == {}


def test_its_time_is_in_the_breakdown(traced: TracedPython, directory: str, sample: str) -> None:
    program = STEPS.format(folder=sample, before="", after="")
    _run(traced, directory, program, "--simulator", "sample")
    with load(directory) as trace:
        rows = dict(
            trace.sql(
                "SELECT layer, SUM(duration_ns)::BIGINT FROM breakdown "
                "WHERE operation = 'steps' GROUP BY layer"
            )
        )
        crossings = trace.sql(
            "SELECT from_layer, to_layer, count FROM transition WHERE operation = 'steps'"
        )
        (wall,) = trace.sql("SELECT SUM(duration_ns)::BIGINT FROM operation_instance")
    assert list(crossings) == [("python", "simulator", 20)]
    assert rows["simulator"] > 0
    assert sum(rows.values()) == wall[0]


def test_numpy_is_a_framework_on_request(traced: TracedPython, directory: str) -> None:
    program = """
import numpy as np, rlscope as rls
x = np.arange(6.0)
with rls.operation("sums"):
    for _ in range(5):
        np.add(x, x)
        x.sum()
        assert (x + x)[1] == 2.0
"""
    _run(traced, directory, program, "--numpy")
    calls = _calls(directory)
    assert {layer for layer, _ in calls.values()} == {"framework"}
    assert sum(count for _, count in calls.values()) >= 10
    plain = directory + "-plain"
    _run(traced, plain, program)
    assert _calls(plain) == {}


def test_off_records_no_native_call_and_says_so(
    traced: TracedPython, directory: str, sample: str
) -> None:
    from rlscope.report.renderers.terminal import render_summary

    program = STEPS.format(folder=sample, before="", after="")
    _run(traced, directory, program, "--intercept", "off", "--simulator", "sample")
    assert _calls(directory) == {}
    with load(directory) as trace:
        assert "--intercept=off" in render_summary(trace, width=300)


def test_the_trace_says_what_was_intercepted_and_how(
    traced: TracedPython, directory: str, sample: str
) -> None:
    program = STEPS.format(folder=sample, before="", after="")
    _run(traced, directory, program, "--simulator", "sample")
    with load(directory) as trace:
        ((value,),) = trace.sql("SELECT value FROM metadata WHERE key = 'rlscope.interception'")
    facts = json.loads(value)
    assert (facts["engine"], facts["reason"], facts["problems"]) == ("patch", "", [])
    assert facts["libraries"] == {"sample": "simulator"}
    assert facts["counts"]["patched"] > 10
    assert facts["waits"]


def test_the_trace_says_that_waits_were_switched_off(
    traced: TracedPython, directory: str, sample: str
) -> None:
    program = STEPS.format(folder=sample, before="", after="")
    _run(traced, directory, program, "--simulator", "sample", "--no-waits")
    with load(directory) as trace:
        ((value,),) = trace.sql("SELECT value FROM metadata WHERE key = 'rlscope.interception'")
    assert not json.loads(value)["waits"]


def test_a_program_without_native_libraries_is_left_alone(
    traced: TracedPython, directory: str
) -> None:
    """No metadata, no library watched, none of our modules beyond the few of `import rlscope`."""
    program = """
import json, sys, random, decimal, ctypes
from rlscope import _runtime
assert _runtime.intercept_counts()["scans"] == 0, _runtime.intercept_counts()
assert "rlscope.capture.watched" not in sys.modules
"""
    _run(traced, directory, program)
    with load(directory) as trace:
        assert list(trace.sql("SELECT key FROM metadata WHERE key LIKE 'rlscope.%'")) == []


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--intercept", "trace"], "invalid choice: 'trace'"),
        (["--simulator", "my sim"], "got 'my sim'"),
        (["--simulator", ""], "got ''"),
    ],
)
def test_a_wrong_option_is_wrong_usage(
    traced: TracedPython, options: list[str], complaint: str
) -> None:
    done = traced.run(*options, "true")
    assert done.returncode == 2
    assert complaint in done.stderr


def test_a_wrong_variable_is_one_line(
    traced: TracedPython, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RLSCOPE_INTERCEPT", "trace")
    done = traced.run("true")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "RLSCOPE_INTERCEPT must be one of patch, monitoring, off" in done.stderr


def test_a_block_of_profile_intercepts_what_is_loaded_and_puts_it_back(
    traced: TracedPython, directory: str, sample: str, tmp_path: Path
) -> None:
    import subprocess

    program = f"""
import sys; sys.path.insert(0, {sample!r})
import sample, rlscope as rls
rls.layer("simulator", module="sample")  # nothing is recorded: nothing happens
with rls.profile({directory!r}):
    rls.layer("simulator", module="sample")
    with rls.operation("steps"):
        sample.noargs()
    from rlscope import _runtime
    inside = _runtime.intercept_counts()["pointers"]
sample.noargs()
print(inside > 0, _runtime.intercept_counts()["pointers"])
"""
    done = subprocess.run([traced.python, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True 0\n", "")
    assert _calls(directory) == {"sample:noargs": ("simulator", 1)}


def test_layer_raises_the_same_errors_recorded_or_not() -> None:
    import rlscope as rls

    with pytest.raises(ValueError, match="simulator or framework, not 'gpu'"):
        rls.layer("gpu", module="sample")
    with pytest.raises(TypeError, match="must be str, not int"):
        rls.layer("simulator", module=3)  # type: ignore[arg-type]

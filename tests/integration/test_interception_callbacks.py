"""Python that runs inside native code is layer python: the trace is compared with the clock
readings that the Python code itself took.
"""

from __future__ import annotations

import importlib.util
import json

import pytest
from layer_programs.torch_callbacks import KINDS, script
from support.process.native_calls import Callback, record_calls, thread_callback
from support.process.recorded_child import Recorded

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
)

# Ticks become nanoseconds between clock pairs; the program reads CLOCK_MONOTONIC itself.
CLOCK_SLACK_NS = 50_000


@pytest.fixture(scope="module")
def torch_trace(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record_calls(str(tmp_path_factory.mktemp("callbacks") / "run"), script(rounds=1))


def innermost_is_python(callback: Callback, start_ns: int, end_ns: int) -> bool:
    """Whether the stretch lies in a callback of a native call, and in no native call in it."""
    start_ns, end_ns = start_ns + CLOCK_SLACK_NS, end_ns - CLOCK_SLACK_NS
    for call in callback.calls:
        if call.start_ns <= start_ns and end_ns <= call.end_ns:
            return any(
                inner.start_ns <= start_ns
                and end_ns <= inner.end_ns
                and not overlaps(inner, start_ns, end_ns)
                for inner in call.callbacks
            ) or any(innermost_is_python(inner, start_ns, end_ns) for inner in call.callbacks)
    return False


def overlaps(callback: Callback, start_ns: int, end_ns: int) -> bool:
    return any(call.start_ns < end_ns and start_ns < call.end_ns for call in callback.calls)


@needs_torch
@pytest.mark.parametrize("kind", KINDS)
def test_python_inside_torch_is_python(torch_trace: Recorded, kind: str) -> None:
    stretches = [row[1:] for row in json.loads(torch_trace.output) if row[0] == kind]
    thread = thread_callback(torch_trace, torch_trace.threads()[0])
    assert stretches
    for start_ns, end_ns in stretches:
        assert innermost_is_python(thread, start_ns, end_ns), kind


@needs_torch
def test_native_calls_of_a_callback_are_recorded(torch_trace: Recorded) -> None:
    """backward() enters Function.backward, which multiplies."""
    thread = thread_callback(torch_trace, torch_trace.threads()[0])
    (backward,) = [
        call
        for call in thread.calls
        if call.operation == "round 0" and call.name.endswith("run_backward")
    ]
    inside = [inner.name for callback in backward.callbacks for inner in callback.calls]
    assert "torch._C:TensorBase.__mul__" in inside  # of gradient * 2

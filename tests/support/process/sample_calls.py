"""Programs that call the test extension while its functions are patched, and what they recorded."""

from __future__ import annotations

from collections import Counter
from textwrap import dedent

from support.process.native_calls import Call, calls_of, record_calls, thread_callback
from support.process.recorded_child import Recorded

SETUP = """
import importlib.util, os, signal, sys, threading, time
def load(path):
    spec = importlib.util.spec_from_file_location("sample", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
sample = load({library!r})
_runtime.intercept_watch({library!r}, "simulator")
_runtime.intercept_scan()
"""


def run(directory: str, library: str, script: str) -> Recorded:
    """Runs a script that finds the extension at `library` as `sample`, watched and scanned."""
    return record_calls(directory, SETUP.format(library=library) + dedent(script))


def counts(trace: Recorded, thread: int | None = None) -> Counter[str]:
    return Counter(call.name.removeprefix("sample:") for call in calls_of(trace, thread))


def outermost(trace: Recorded) -> list[Call]:
    """Calls of the first thread that no callback is around."""
    return thread_callback(trace, trace.threads()[0]).calls


def names(calls: list[Call]) -> list[str]:
    return [call.name.removeprefix("sample:") for call in calls]


def counts_of_process(trace: Recorded, number: int) -> Counter[str]:
    rows = trace.reader.sweep(trace.process(number)["index"])["native_call"]
    texts = (str(text).removeprefix("sample:") for text in rows["function"])
    return Counter(dict(zip(texts, map(int, rows["calls"]), strict=True)))

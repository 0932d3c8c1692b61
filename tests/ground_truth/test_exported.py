"""What `rlscope export` writes for viewers is the relation `event`, on every trace and window."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

pytest.importorskip("perfetto", reason="Perfetto's official messages are not installed")

from hypothesis import given
from hypothesis import strategies as st
from support.files import exported_files
from support.files.shown_intervals import shown

from ground_truth.cuda_strategies import cuda_processes
from ground_truth.profiles import share
from ground_truth.raw import RawProcess
from ground_truth.strategies import processes
from ground_truth.written import ORIGIN_NS, write
from rlscope import registry
from rlscope.export.window import between
from rlscope.opening import Trace, load

# Each opens a trace with all its tables: a tenth of a second.
FEW = share(0.03)
windows = st.tuples(st.integers(0, 60), st.integers(1, 60)).map(lambda t: (t[0], sum(t)))


def check(process: RawProcess, form: str, window: tuple[int, int] | None) -> None:
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        write([process], Path(folder) / "run")
        with load(Path(folder) / "run") as trace:
            check_trace(trace, form, window, Path(folder) / "out")


def check_trace(trace: Trace, form: str, window: tuple[int, int] | None, path: Path) -> None:
    ((start_ns, end_ns),) = trace.sql("SELECT start_ns, end_ns FROM run").rows()
    first, last = window or (0, None)
    first = min(first, max(end_ns - start_ns - 1, 0))
    part = between(trace, first or None, None if last is None else max(last, first + 1))
    exporter = registry.load(registry.EXPORTERS, form)
    exporter.write(trace, part, path, force=False, tell=lambda _: None)
    read = exported_files.perfetto if form == "perfetto" else exported_files.chrome
    assert read(path) == shown(trace, part.from_ns, part.until_ns)
    assert part.from_ns >= ORIGIN_NS


@FEW
@given(processes(), st.none() | windows)
def test_perfetto_shows_every_event(process: RawProcess, window: tuple[int, int] | None) -> None:
    check(process, "perfetto", window)


@FEW
@given(cuda_processes(), st.none() | windows)
def test_perfetto_shows_every_event_of_cuda(
    process: RawProcess, window: tuple[int, int] | None
) -> None:
    check(process, "perfetto", window)


@share(0.02)
@given(cuda_processes(), st.none() | windows)
def test_chrome_shows_every_event(process: RawProcess, window: tuple[int, int] | None) -> None:
    check(process, "chrome", window)

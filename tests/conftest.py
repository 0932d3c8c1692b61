"""Rules for every test: own environment, nothing left recording."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

# Asserts in these say what they compared, as those in tests do.
pytest.register_assert_rewrite("report_checks", "support.files.report_page")


def pytest_configure() -> None:
    """Programs under test start with the signals of a terminal's job, wherever pytest runs.

    A shell starts its background jobs with SIGINT ignored, which children inherit. Each test has
    one core: threads of OpenMP that share it spin while they wait for each other. The first import
    of a module keeps its byte code: without it, each program compiles PyTorch for 5 s.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.fixture(autouse=True)
def no_recorder_left_behind() -> Iterator[None]:
    """The test process itself never records, before and after each test."""
    before = {key: value for key, value in os.environ.items() if key.startswith("RLSCOPE_")}
    yield
    after = {key: value for key, value in os.environ.items() if key.startswith("RLSCOPE_")}
    assert after == before, "a test changed RLSCOPE_* of the test process"
    from rlscope import _runtime

    assert _runtime.state() != "recording", "a test left the recorder running"


@pytest.fixture(scope="session")
def checked_traces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[set[Path]]:
    """Trace directories whose sums were checked; at the end those that tests share are, too."""
    from support.files.exact_sums import check_directory, trace_directories

    checked: set[Path] = set()
    yield checked
    for folder in sorted(tmp_path_factory.getbasetemp().iterdir()):
        for directory in trace_directories(folder):
            if directory not in checked:
                check_directory(directory)


@pytest.fixture(autouse=True)
def traces_add_up(request: pytest.FixtureRequest, checked_traces: set[Path]) -> Iterator[None]:
    """In every trace that a test made the sums are exact, whatever the test is about."""
    from support.files.exact_sums import check_directory, trace_directories

    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    for directory in trace_directories(folder) if folder else ():
        check_directory(directory)
        checked_traces.add(directory)

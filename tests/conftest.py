"""Rules for every test: own environment, nothing left recording."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

# Asserts in these say what they compared, as those in tests do.
pytest.register_assert_rewrite("report_checks", "report_page")


def pytest_configure() -> None:
    """Programs under test start with the signals of a terminal's job, wherever pytest runs.

    A shell starts its background jobs with SIGINT ignored, which children inherit.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def no_recorder_left_behind() -> Iterator[None]:
    """The test process itself never records, before and after each test."""
    before = {key: value for key, value in os.environ.items() if key.startswith("RLSCOPE_")}
    yield
    after = {key: value for key, value in os.environ.items() if key.startswith("RLSCOPE_")}
    assert after == before, "a test changed RLSCOPE_* of the test process"
    from rlscope import _runtime

    assert _runtime.state() != "recording", "a test left the recorder running"

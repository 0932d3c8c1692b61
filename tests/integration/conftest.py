"""Fixtures of the whole-program tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from extension.sample_library import build_sample
from support.files.built_wheel import build_sdist, build_wheel
from support.files.report_page import ReportPage, browser_programs, headless_page
from support.process.traced_python import TracedPython, make_traced_python, untraced_environment


@pytest.fixture(scope="session")
def traced(tmp_path_factory: pytest.TempPathFactory) -> TracedPython:
    """A Python with rlscope installed, and its rls-prof."""
    return make_traced_python(tmp_path_factory.mktemp("traced") / "venv")


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built once by the worker that has the file of its users (--dist loadfile)."""
    return build_sdist(tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of that sdist."""
    return build_wheel(sdist, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """File of the test extension."""
    return str(build_sample(tmp_path_factory.mktemp("sample")))


@pytest.fixture(scope="session")
def report_page() -> Iterator[ReportPage]:
    """A headless Chromium; tests that ask for it have the mark `browser`."""
    pytest.importorskip("selenium.webdriver")
    if not all(browser_programs()):
        pytest.skip("chromium and chromedriver are not installed")
    with headless_page() as page:
        yield page


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children started by the test see none of our variables."""
    import os

    for name in set(os.environ) - set(untraced_environment()):
        monkeypatch.delenv(name)


@pytest.fixture
def without_waits(clean_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a program waits is chance: for tests that count its records."""
    monkeypatch.setenv("RLSCOPE_WAITS", "0")


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[str]:
    """Path of a trace directory that does not exist yet."""
    yield str(tmp_path / "run")

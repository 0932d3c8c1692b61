"""The vendored plotly.js is the npm package's file, and fits the plotly that builds figures."""

from __future__ import annotations

import hashlib
import re
from importlib import metadata, resources

import pytest

VENDOR = resources.files("rlscope.report").joinpath("vendor")
# The plotly whose own plotly.js is the vendored version; see vendor/README.md.
BUNDLED_WITH = "7.1."


def _vendored_version() -> str:
    head = VENDOR.joinpath("plotly-cartesian.min.js").read_text(encoding="utf-8")[:200]
    match = re.search(r"plotly\.js \(cartesian - minified\) v(\d+\.\d+\.\d+)", head)
    assert match is not None
    return match[1]


def test_the_files_are_unchanged() -> None:
    sums = dict(
        reversed(line.split(maxsplit=1))
        for line in VENDOR.joinpath("checksums.sha256").read_text().splitlines()
    )
    assert set(sums) == {"LICENSE", "plotly-cartesian.min.js"}
    for name, expected in sums.items():
        assert hashlib.sha256(VENDOR.joinpath(name).read_bytes()).hexdigest() == expected


def test_the_readme_names_the_version() -> None:
    assert f"version {_vendored_version()}," in VENDOR.joinpath("README.md").read_text()


def test_the_version_is_that_of_plotly_itself() -> None:
    from plotly.offline import get_plotlyjs_version

    installed = metadata.version("plotly")
    if installed.startswith(BUNDLED_WITH):
        assert _vendored_version() == get_plotlyjs_version()
    elif int(installed.split(".")[0]) < int(BUNDLED_WITH.split(".")[0]):
        pytest.skip(f"plotly {installed} is older than the bundle, which reads its figures")
    else:
        major = get_plotlyjs_version().split(".")[0]
        assert _vendored_version().split(".")[0] == major, "follow plotly: see vendor/README.md"

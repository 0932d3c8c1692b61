"""Whether source lines can be read, as `rlscope doctor` says it."""

import errno
from typing import Any

import pytest

from rlscope.doctor import stacks
from rlscope.doctor.finding import Status


def test_a_child_is_read() -> None:
    assert stacks.read_child() in (0, errno.EPERM, errno.ENOSYS)


def _facts(version: str) -> dict[str, Any]:
    return {"version": version, "implementation": "CPython", "gil": True}


def test_it_says_what_it_found() -> None:
    found = stacks.finding(_facts("3.12.4"), lambda: 0)
    assert (found.status, found.remedy) == (Status.GOOD, "")
    refused = stacks.finding(_facts("3.11.2"), lambda: errno.EPERM)
    assert refused.status is Status.LIMITED
    assert "Operation not permitted" in refused.text and refused.remedy


@pytest.mark.parametrize("version", ["3.10.0", "3.14.7"])
def test_the_ends_of_what_it_reads(version: str) -> None:
    assert stacks.finding(_facts(version), lambda: 0).status is Status.GOOD


@pytest.mark.parametrize(
    ("facts", "named"),
    [
        ({"version": "3.9.18"}, "CPython 3.9.18"),
        ({"version": "3.15.0"}, "CPython 3.15.0"),
        ({"implementation": "PyPy"}, "PyPy 3.14.1"),
        ({"gil": False}, "free-threaded build: this Python 3.14.1"),
    ],
)
def test_other_interpreters_are_refused_by_name(facts: dict[str, Any], named: str) -> None:
    found = stacks.finding({**_facts("3.14.1"), **facts}, lambda: 0)
    assert found.status is Status.LIMITED
    assert named in found.text and found.remedy

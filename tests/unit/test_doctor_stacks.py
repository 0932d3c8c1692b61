"""Whether source lines can be read, as `rlscope doctor` says it."""

import errno

from rlscope.doctor import stacks
from rlscope.doctor.finding import Status


def test_a_child_is_read() -> None:
    assert stacks.read_child() in (0, errno.EPERM, errno.ENOSYS)


def test_it_says_what_it_found() -> None:
    found = stacks.finding({"version": "3.12.4"}, lambda: 0)
    assert (found.status, found.remedy) == (Status.GOOD, "")
    refused = stacks.finding({"version": "3.11.2"}, lambda: errno.EPERM)
    assert refused.status is Status.LIMITED
    assert "Operation not permitted" in refused.text and refused.remedy
    old = stacks.finding({"version": "3.10.13"}, lambda: 0)
    assert old.status is Status.LIMITED and "3.10.13" in old.text

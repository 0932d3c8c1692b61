"""Why recording was cut short, in words."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest

from rlscope import cuts

HEADER = Path(__file__).parents[2] / "csrc" / "trace" / "drain" / "control_page.h"


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        (errno.ENOSPC, "the disk of the trace is full"),
        (errno.EDQUOT, "the quota on the disk of the trace is used up"),
        (errno.EFBIG, "a trace file reached its size limit (ulimit -f)"),
        (errno.ENOENT, "the files of the trace were removed"),
        (errno.EIO, "the trace could not be written (input/output error)"),
        (1 << 31, "the trace could not be written (for an unknown reason)"),
    ],
)
def test_each_reason_is_told_from_the_others(why: int, reason: str) -> None:
    assert cuts.reason(why) == reason


def test_the_largest_size_is_the_number_that_the_drainer_writes() -> None:
    budget = HEADER.parents[1] / "write" / "byte_budget.h"
    (shift,) = re.findall(r"kBudgetSpent = 1 << (\d+);", budget.read_text(encoding="utf-8"))
    assert cuts.LARGEST_SIZE == 1 << int(shift)
    assert cuts.reason(cuts.LARGEST_SIZE).endswith("(--max-size)")


def test_nearly_full_is_the_number_that_the_drainer_writes() -> None:
    (shift,) = re.findall(r"kNearlyFull = 1u << (\d+);", HEADER.read_text(encoding="utf-8"))
    assert cuts.NEARLY_FULL == 1 << int(shift)

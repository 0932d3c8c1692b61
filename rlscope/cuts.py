"""Why recording was cut short, in words. The numbers: csrc/trace/drain/control_page.h."""

import errno
import os

NEARLY_FULL = 1 << 16
"""Less than RLSCOPE_MIN_FREE was free."""
LARGEST_SIZE = 1 << 17
"""The files of the run have the size of --max-size; every other number is an errno."""

# Kinds of loss that mean that recording stopped before the program did.
KINDS = ("cut", "no_drainer")

_REMOVED = "the files of the trace were removed"
_REASONS = {
    NEARLY_FULL: "the disk of the trace is nearly full (RLSCOPE_MIN_FREE sets the limit)",
    LARGEST_SIZE: "the trace reached its size limit (--max-size)",
    errno.ENOSPC: "the disk of the trace is full",
    errno.EDQUOT: "the quota on the disk of the trace is used up",
    errno.EFBIG: "a trace file reached its size limit (ulimit -f)",
    errno.ENOENT: _REMOVED,
    errno.ESTALE: _REMOVED,
    errno.EROFS: "the disk of the trace became read-only",
}


def removed(why: int) -> bool:
    """Whether it was cut because files of the trace were removed."""
    return _REASONS.get(why) == _REMOVED


def reason(why: int) -> str:
    """What stopped recording, as a clause."""
    if why in _REASONS:
        return _REASONS[why]
    text = os.strerror(why).lower() if why in errno.errorcode else "for an unknown reason"
    return f"the trace could not be written ({text})"

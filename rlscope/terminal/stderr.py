"""Standard error as rls-prof and its status line write to it: its reader may be gone."""

import sys


def write(text: str) -> None:
    """Writes and flushes; what standard error does not take is dropped.

    So is everything after it: text that stays in a buffer would be written once more when the
    interpreter ends, and then the exit code is 120 instead of the program's.
    """
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        sys.stderr = None

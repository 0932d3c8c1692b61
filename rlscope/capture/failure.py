"""The exception that ended the program, noted in its metadata as the interpreter ends.

Nothing is hooked: before the interpreter prints an exception that nobody caught, it stores it in
sys.last_type and its neighbours, whatever sys.excepthook is.
"""

import json
import sys

from rlscope.recorder import runtime
from rlscope.rundir.own_code import is_own_frame

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from types import TracebackType

METADATA = "rlscope.failure"
"""Key of the note: `type`, `message` (its first line), `file`, `line`."""

_LONGEST = 200


def note() -> None:
    """Called if there is such an exception."""
    kind = sys.last_type
    if not isinstance(kind, type):
        return
    try:
        file, line = _place(sys.last_traceback)
        facts = {
            "type": kind.__qualname__[:_LONGEST],
            "message": _message(),
            "file": file,
            "line": line,
        }
        runtime.metadata(METADATA, json.dumps(facts))
    except Exception:  # whatever the program stored there
        return


def _message() -> str:
    try:
        return str(sys.last_value).partition("\n")[0][:_LONGEST]
    except Exception:  # a __str__ of the program
        return ""


def _place(traceback: "TracebackType | None") -> "tuple[str, int]":
    """The innermost line of the program's own code, else the innermost one."""
    places = []
    while traceback is not None:
        frame = traceback.tb_frame
        places.append((is_own_frame(frame), frame.f_code.co_filename, traceback.tb_lineno))
        traceback = traceback.tb_next
    own = [place for place in places if place[0]]
    return (own or places or [(False, "", 0)])[-1][1:]

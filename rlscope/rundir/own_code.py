"""Which files of code are the program's own, and no library's."""

import os
from collections.abc import Sequence

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from types import FrameType

LIBRARIES = (
    "/site-packages/",
    "/dist-packages/",
    "/lib/python3",
    "/lib64/python3",
    "/rlscope/annotations/",
    "/rlscope/auto/",
    "/rlscope/capture/",
    "/rlscope/frameworks/",
    "/rlscope/recorder/",
    "/rlscope/registry.py",
)
"""Parts of the paths of installed packages, of Python's own library, and of what rlscope itself
does in a program. IsLibrary of csrc/python/runtime_module/import_times.cc has them, too."""
_NO_FILE = "<"


def is_own(file: str, folders: Sequence[str] = ()) -> bool:
    """Whether it is the program's own. `folders`: absolute paths of what is the program's, too."""
    if any(file.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders):
        return True
    if not file or file.startswith(_NO_FILE):
        return False
    return not any(part in file for part in LIBRARIES)


def is_own_frame(frame: "FrameType") -> bool:
    """The same of code that runs; `python -c` has no file and is the program's own."""
    file = frame.f_code.co_filename
    is_typed = file.startswith(_NO_FILE) and frame.f_globals.get("__name__") == "__main__"
    return is_typed or is_own(file)

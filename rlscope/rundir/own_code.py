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
_INSTALLED = ("/site-packages/", "/dist-packages/")
_NO_FILE = "<"


def is_own(file: str, sources: Sequence[str] = ()) -> bool:
    """Whether it is the program's own. `sources`: what is the program's, too: absolute paths of
    folders, and names of installed modules."""
    if any(_is_below(file, source) for source in sources):
        return True
    if not file or file.startswith(_NO_FILE):
        return False
    return not any(part in file for part in LIBRARIES)


def _is_below(file: str, source: str) -> bool:
    if source.startswith(os.sep):
        return file.startswith(source.rstrip(os.sep) + os.sep)
    path = source.replace(".", os.sep)
    return any(f"{each}{path}{end}" in file for each in _INSTALLED for end in (os.sep, ".py"))


def is_own_frame(frame: "FrameType") -> bool:
    """The same of code that runs; `python -c` has no file and is the program's own."""
    file = frame.f_code.co_filename
    is_typed = file.startswith(_NO_FILE) and frame.f_globals.get("__name__") == "__main__"
    return is_typed or is_own(file)

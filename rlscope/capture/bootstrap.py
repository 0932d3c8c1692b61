"""Makes an interpreter of a traced program known to the recorder, before the program's first line.

Imported by the line in rlscope.pth, which site-packages carries, and only when RLSCOPE_DIR is set.
Everything else the program can see stays as it is: no path, filter, handler or seed is touched,
and nothing is ever printed or raised here (the line swallows what an import could raise).

Importing `rlscope.recorder` reports the interpreter, once, and registers its end with atexit: the
first of all exit functions, so the last to run, and what the program's own exit functions record
is still Python's time.
"""

import atexit
import os
import sys
import time

_started_ns = time.perf_counter_ns()

from rlscope import recorder  # noqa: E402 - the clock comes first
from rlscope.capture import ending, releases  # noqa: E402

__all__ = ["recorder"]


def _note_end() -> None:
    ending.note()
    releases.note()
    if hasattr(sys, "last_type"):
        from rlscope.capture import failure

        failure.note()


atexit.register(_note_end)  # runs before the end of Python is recorded
ending.watch_exit_functions()

# Looked for before the module is imported that knows what is inside: 0.2 ms, where there is none.
if any(os.path.isdir(f"{path}/nvidia") for path in sys.path):
    from rlscope.capture import cuda

    if folders := cuda.variable(sys.path, os.environ.get(cuda.VARIABLE, "")):
        os.environ[cuda.VARIABLE] = folders

# A rank, or a server of multiprocessing.
if "TORCHELASTIC_RUN_ID" in os.environ or " import main" in "".join(sys.orig_argv[-1:]):
    from rlscope.capture import roles

    roles.note_start()

if "RLSCOPE_TURNS" in os.environ:
    from rlscope.capture import turns

    turns.begin()
elif os.environ.get("RLSCOPE_GPU_SHARE", "") not in ("", "100%"):
    from rlscope.capture import gpu_start

    gpu_start.begin()

# By name: automatic operations stand above capture.
__import__("rlscope.auto", fromlist=["begin"]).begin(os.environ.get("RLSCOPE_AUTO") != "0")
__import__("rlscope.capture.native", fromlist=["note_startup"]).note_startup(
    time.perf_counter_ns() - _started_ns
)

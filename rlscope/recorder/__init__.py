"""The recorder's extension module, or a stand-in that does nothing where it cannot be loaded.

Programs keep their annotations on machines that rlscope does not run on: `import rlscope` always
works, and `rls.profile` says REASON when it is asked to record.
"""

import os
import sys

TYPE_CHECKING = False  # the first import of typing costs 5 ms

REASON = ""
"""Why nothing can be recorded here, in one sentence; empty where the recorder works."""

LIBRARY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "librlscope.so")
"""The one holder of process state: linked by `_runtime`, preloaded into child processes."""

if TYPE_CHECKING:
    from rlscope import _runtime

    runtime = _runtime
else:
    try:
        from rlscope import _runtime as runtime
    except ImportError as error:
        from rlscope.recorder import stand_in as runtime

        REASON = str(error)
        if " symbol" in REASON and ": rlscope_" in REASON:  # that librlscope.so does not have
            REASON = (
                "the loaded librlscope.so is of another version: "
                "start the program with the rls-prof of its own environment"
            )


def operation_named(name: str) -> "_runtime.Operation":
    """What a pickled operation becomes where it is loaded."""
    return runtime.operation(name)


# The interpreter is in the trace from here on. Under rls-prof that is its first moment: the
# line that the package puts into site-packages imports this before the program begins.
runtime.python_begin(sys.version.partition(" ")[0], sys.executable or "")

"""The front door to a recorded run: `trace = rls.load("rlscope_out/...")`.

trace.table("breakdown")                     a relation, as a Table
trace.sql("SELECT ... FROM breakdown ...")   SQL over the relations
rls.analysis.breakdown(trace, by=["layer"])  an analysis: Trace -> Table
"""

from __future__ import annotations

import os
import sys
import types

from rlscope.trace.progress import Tell
from rlscope.trace.trace import Trace

__all__ = ["Trace", "load"]


def load(
    path: str | os.PathLike[str], *, unrestricted: bool = False, progress: Tell | None = None
) -> Trace:
    """Opens the trace directory of a run, which may still be going.

    The first time, and again whenever a trace file changed, the files are swept and the results
    kept in DIR/tables; where that cannot be written they are kept in memory.

    Args:
        path: the directory. It may come from a stranger.
        unrestricted: let SQL statements do what DuckDB can: read and write any file, install
            extensions. Without it a statement reads the relations and nothing else, so that it
            may come from elsewhere than from the author of the program.
        progress: while tables are made it is called a few times a second, from a thread of its own,
            with the part that is done, 0 to 1; with 1 at the end.

    Raises:
        TraceError: not a trace directory, or nothing in it can be read.
    """
    return Trace(path, unrestricted=unrestricted, progress=progress)


class _Door(types.ModuleType):
    """Importing a submodule puts it in its parent under its name: as soon as anybody imports this
    file, `rls.load` is this module and no more the function. So calling the module is calling it.
    """

    def __call__(
        self,
        path: str | os.PathLike[str],
        *,
        unrestricted: bool = False,
        progress: Tell | None = None,
    ) -> Trace:
        return load(path, unrestricted=unrestricted, progress=progress)


sys.modules[__name__].__class__ = _Door

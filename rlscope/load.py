"""The front door to a recorded run: `trace = rls.load("rlscope_out/...")`.

trace.table("breakdown")                     a relation, as a Table
trace.sql("SELECT ... FROM breakdown ...")   any SQL over the relations
rls.analysis.breakdown(trace, by=["layer"])  an analysis: Trace -> Table
"""

from __future__ import annotations

import os
import sys
import types

from rlscope.trace.trace import Trace

__all__ = ["Trace", "load"]


def load(path: str | os.PathLike[str]) -> Trace:
    """Opens the trace directory of a run, which may still be going.

    The first time, and again whenever a trace file changed, the files are swept and the results
    kept in DIR/tables; where that cannot be written they are kept in memory.

    Raises:
        TraceError: not a trace directory, or nothing in it can be read.
    """
    return Trace(path)


class _Door(types.ModuleType):
    """Importing a submodule puts it in its parent under its name: as soon as anybody imports this
    file, `rls.load` is this module and no more the function. So calling the module is calling it.
    """

    def __call__(self, path: str | os.PathLike[str]) -> Trace:
        return load(path)


sys.modules[__name__].__class__ = _Door

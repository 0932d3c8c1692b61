"""Analyses of a trace: `rlscope.analysis.breakdown(trace, by=["operation", "layer"])`.

Every analysis is a function Trace -> Table (or streams -> Table) in a file named after its noun;
none of them draws. `breakdown` and `overlap` are also names of their files, so they are imported
here and not on first use: importing the file would put the module in the function's place.
"""

if __name__ != "rlscope.analysis":
    raise ImportError("import this package as rlscope.analysis, not as a top-level package")

from rlscope.analysis.breakdown import breakdown
from rlscope.analysis.overlap import overlap
from rlscope.analysis.transitions import transitions

__all__ = ["breakdown", "overlap", "transitions"]

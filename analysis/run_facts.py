"""What was run: metadata of the program, its interpreters, the cluster that it used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def metadata_value(trace: Trace, *, rows: int) -> Table:
    """process, key, value (JSON) of rls.metadata()."""
    return statement.run(trace, "metadata_value", rows=rows)


def python_version(trace: Trace, *, rows: int) -> Table:
    """python, processes: the interpreters of the run."""
    return statement.run(trace, "python_version", rows=rows)


def unrecorded_cluster(trace: Trace) -> Table:
    """process: those that connected to a Ray cluster whose workers were not recorded."""
    return statement.run(trace, "unrecorded_cluster")


def ending(trace: Trace) -> Table:
    """exit, exception, message, file, line (None: not known): how the main process ended."""
    return statement.run(trace, "ending")


def noted(trace: Trace, key: str) -> Table:
    """value (JSON): what each process noted under a key."""
    return statement.run(trace, "metadata_of_key", key=key)

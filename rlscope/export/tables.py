"""The relations of a run as a folder of files, one each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rlscope.analysis import coverage, statement
from rlscope.export.exporter import Exported, Tell
from rlscope.export.output import new_folder
from rlscope.export.window import Window
from rlscope.relations.database import Variables
from rlscope.relations.schema import store
from rlscope.relations.trace import Trace

_NAMED = (
    "run",
    "host",
    "process",
    "thread",
    "operation",
    "metadata",
    "calibration",
    "absent",
    "loss",
)
"""What the rows of other relations refer to, and what there is to know of them: always whole."""
_OF_ITERATIONS = "iteration_breakdown"
_SUM = "utilisation"  # over the run, although it says when that began
_LENGTHS = ("bucket_ns", "duration_ns")  # a bucket's duration_ns is a part of it

WriteOne = Callable[[Trace, str, Path, Variables], None]


class TableExporter:
    """Writes every relation of the SQL reference; of a window those that say when a row was.

    Rows that touch the window are whole. Sums over the whole run are left out there: none of them
    speaks of the window.

    Args:
        form: what the names of files end in, and of folders where none is given.
        write_one: writes the rows of a statement, with its variables, as a file.
    """

    def __init__(self, form: str, write_one: WriteOne) -> None:
        self.ending = f"-{form}"
        self._suffix = f".{form}"
        self._write_one = write_one

    def write(
        self, trace: Trace, window: Window, path: Path, *, force: bool, tell: Tell
    ) -> Exported:
        exported = Exported()
        names = [name for name in store.relations() if window.is_whole or _is_in_windows(name)]
        with new_folder(path, force=force, is_ours=self._is_ours) as folder:
            for number, name in enumerate(names):
                tell(number / len(names))
                question, variables = _question(name, window)
                file = folder / f"{name}{self._suffix}"
                self._write_one(trace, statement.text(question), file, variables)
                exported.counts["relations"] += 1
        exported.left_out += [
            f"{name}: {reason}" for name in names for (reason,) in coverage.why_absent(trace, name)
        ]
        if sums := [name for name in store.relations() if name not in names]:
            exported.left_out.append(f"without sums over the whole run: {', '.join(sums)}")
        return exported

    def _is_ours(self, name: str) -> bool:
        return name.endswith(self._suffix) and name.removesuffix(self._suffix) in store.relations()


def _is_in_windows(name: str) -> bool:
    if name in (*_NAMED, _OF_ITERATIONS):
        return True
    return "start_ns" in store.relations()[name].columns and name != _SUM


def _question(name: str, window: Window) -> tuple[str, Variables]:
    """The statement for the rows of a relation that touch the window, and its variables.

    Names of relations and columns are values, too: query_table() and COLUMNS() take them. So no
    text is put together.
    """
    if window.is_whole or name in _NAMED:
        return "export_relation", {"relation": name}
    if name == _OF_ITERATIONS:
        return "export_iteration_row", window.bounds
    columns = store.relations()[name].columns
    length = next((each for each in _LENGTHS if each in columns), None)
    if length is None:
        return "export_reading", {"relation": name, **window.bounds}
    return "export_lasting_row", {"relation": name, "length": length, **window.bounds}

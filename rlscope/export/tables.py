"""The relations of a run as a folder of files, one each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rlscope.export.exporter import Exported, Tell
from rlscope.export.output import new_folder
from rlscope.export.window import Window
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
_LENGTHS = ("duration_ns", "bucket_ns")


class TableExporter:
    """Writes every relation of the SQL reference; of a window those that say when a row was.

    Rows that touch the window are whole. Sums over the whole run are left out there: none of them
    speaks of the window.

    Args:
        form: what the names of files end in, and of folders where none is given.
        write_one: writes the rows of a statement as a file.
    """

    def __init__(self, form: str, write_one: Callable[[Trace, str, Path], None]) -> None:
        self.ending = f"-{form}"
        self._suffix = f".{form}"
        self._write_one = write_one

    def write(
        self, trace: Trace, window: Window, path: Path, *, force: bool, tell: Tell
    ) -> Exported:
        exported = Exported()
        reasons = _reasons_of_absence(trace)
        names = [name for name in store.relations() if window.is_whole or _is_in_windows(name)]
        with new_folder(path, force=force, is_ours=self._is_ours) as folder:
            for number, name in enumerate(names):
                tell(number / len(names))
                self._write_one(trace, _statement(name, window), folder / f"{name}{self._suffix}")
                exported.counts["relations"] += 1
        exported.left_out += [f"{name}: {reasons[name]}" for name in names if name in reasons]
        if sums := [name for name in store.relations() if name not in names]:
            exported.left_out.append(f"without sums over the whole run: {', '.join(sums)}")
        return exported

    def _is_ours(self, name: str) -> bool:
        return name.endswith(self._suffix) and name.removesuffix(self._suffix) in store.relations()


def _is_in_windows(name: str) -> bool:
    if name in (*_NAMED, _OF_ITERATIONS):
        return True
    return "start_ns" in store.relations()[name].columns and name != _SUM


def _statement(name: str, window: Window) -> str:
    """The rows of a relation that touch the window, in the relation's order.

    DuckDB keeps that order, but not in a join.
    """
    if window.is_whole or name in _NAMED:
        return f"FROM {name}"
    touches = _touches(name if name != _OF_ITERATIONS else "iteration", window)
    if name == _OF_ITERATIONS:
        return (
            f"SELECT * EXCLUDE (place) FROM (SELECT *, row_number() OVER () AS place FROM {name})"
            f" SEMI JOIN (FROM iteration WHERE {touches}) USING (process_id, iteration)"
            " ORDER BY place"
        )
    return f"FROM {name} WHERE {touches}"


def _touches(name: str, window: Window) -> str:
    """The condition. Rows contain their start and not their end; a reading has no length."""
    columns = store.relations()[name].columns
    length = next((each for each in _LENGTHS if each in columns), "0")
    return (
        f"start_ns < {window.until_ns} AND "
        f"(start_ns >= {window.from_ns} OR start_ns + {length} > {window.from_ns})"
    )


def _reasons_of_absence(trace: Trace) -> dict[str, str]:
    """Why a relation has no rows, or not all."""
    rows = trace.table("absent").to_dicts()
    return {row["relation"]: row["reason"] for row in rows if row["column_name"] == "*"}

"""A folder of CSV files, one for each relation: for spreadsheets and scripts."""

from __future__ import annotations

from pathlib import Path

from rlscope.export import tables
from rlscope.export.exporter import Exported, Tell
from rlscope.export.window import Window
from rlscope.trace.trace import Trace


class _Csv:
    ending = "-csv"

    def write(
        self, trace: Trace, window: Window, path: Path, *, force: bool, tell: Tell
    ) -> Exported:
        return tables.write(
            trace,
            window,
            path,
            ending=".csv",
            write_one=trace.write_csv,
            force=force,
            tell=tell,
        )


EXPORTER = _Csv()

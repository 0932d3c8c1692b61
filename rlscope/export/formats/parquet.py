"""A folder of Parquet files, one for each relation: for DuckDB, pandas, polars, Spark."""

from __future__ import annotations

from pathlib import Path

from rlscope.export import tables
from rlscope.export.exporter import Exported, Tell
from rlscope.export.window import Window
from rlscope.trace.trace import Trace


class _Parquet:
    ending = "-parquet"

    def write(
        self, trace: Trace, window: Window, path: Path, *, force: bool, tell: Tell
    ) -> Exported:
        return tables.write(
            trace,
            window,
            path,
            ending=".parquet",
            write_one=trace.write_parquet,
            force=force,
            tell=tell,
        )


EXPORTER = _Parquet()

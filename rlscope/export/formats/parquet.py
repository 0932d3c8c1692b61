"""A folder of Parquet files, one for each relation: for DuckDB, pandas, polars, Spark."""

from rlscope.export.tables import TableExporter
from rlscope.relations.trace import Trace

EXPORTER = TableExporter("parquet", Trace.write_parquet)

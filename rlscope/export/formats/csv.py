"""A folder of CSV files, one for each relation: for spreadsheets and scripts."""

from rlscope.export.tables import TableExporter
from rlscope.relations.trace import Trace

EXPORTER = TableExporter("csv", Trace.write_csv)

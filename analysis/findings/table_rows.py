"""The loop works with tables of pandas or Polars: takes values out, adds rows, writes them."""

from __future__ import annotations

import ast

from rlscope.analysis.function_rule import of_calls
from rlscope.analysis.source_code import Source, name_of


def _reads_no_file(source: Source, line: int) -> bool:
    """Whether a line is none of rule repeated_reading."""
    return not _calls_like(source, line, "read_")


def _calls_like(source: Source, line: int, prefix: str) -> bool:
    """Whether a call of a name that begins with a prefix lies around a line."""
    return any(
        isinstance(node, ast.Call) and name_of(node.func).startswith(prefix)
        for node in source.around(line)
    )


RULE = of_calls(
    (r".*/pandas/(core|io/formats)/.*", r".*/polars/(dataframe|series|lazyframe|expr)/.*"),
    title="working with tables of pandas or Polars takes",
    what="functions of pandas and Polars",
    fix="Turn the columns into NumPy arrays once, before the loop (frame.to_numpy()), and index "
    "these. Or keep new rows in a list, and make one table at the end.",
    no_effect="Little effect where the loop needs each table as a whole.",
    with_lines=True,
    where=_reads_no_file,
    # So many small objects make the code around slower, too.
    part=(0.85, 1.15, 1.35),
    speeds_around=True,
)

"""Table: the value between analysis and report. Small, columnar, immutable.

    names     process  layer   duration_ns
              -------  ------  -----------
    rows      trainer  python       12,345
              trainer  none         67,890

A column is a tuple of plain Python values (int, float, str, bool or None, which is SQL's NULL), so
that a nanosecond stays an exact integer whatever else is installed. pandas, polars and pyarrow are
optional: only `to_pandas`, `to_polars`, and `to_arrow` with Arrow's PyCapsule interface need them.
"""

from __future__ import annotations

import csv
import html
import importlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any

from rlscope.errors import RlscopeError
from rlscope.visible import visible

# Rows that repr() and notebooks show; a longer table is cut in the middle and says so.
SHOWN_ROWS = 40
# Characters of a text cell that repr() shows: paths of nested operations may have 1,024.
SHOWN_CHARACTERS = 60


class Table:
    """Named columns of equal length.

    Equal tables have the same names, in the same order, and the same values. `name` and
    `descriptions` (column -> one sentence) say what the table is and take no part in equality.
    """

    __slots__ = ("_columns", "_descriptions", "_length", "_name")

    def __init__(
        self,
        columns: Mapping[str, Iterable[Any]],
        *,
        name: str = "",
        descriptions: Mapping[str, str] | None = None,
    ) -> None:
        """`columns` holds sequences or numpy arrays; raises ValueError when lengths differ."""
        plain = {key: _plain(values) for key, values in columns.items()}
        lengths = {len(values) for values in plain.values()}
        if len(lengths) > 1:
            sizes = ", ".join(f"{key} {len(values)}" for key, values in plain.items())
            raise ValueError(f"columns of a table differ in length: {sizes}")
        known = {key: text for key, text in (descriptions or {}).items() if key in plain}
        self._columns = MappingProxyType(plain)
        self._descriptions = MappingProxyType(known)
        self._length = lengths.pop() if lengths else 0
        self._name = name

    @classmethod
    def from_rows(
        cls,
        names: Sequence[str],
        rows: Iterable[Sequence[Any]],
        *,
        name: str = "",
        descriptions: Mapping[str, str] | None = None,
    ) -> Table:
        """A table of `rows`, each as long as `names`; raises ValueError on a repeated name."""
        repeated = sorted({each for each in names if list(names).count(each) > 1})
        if repeated:
            raise ValueError(f"column names repeat: {', '.join(repeated)}")
        columns: list[tuple[Any, ...]] = list(zip(*rows, strict=True))
        columns = columns or [()] * len(names)
        return cls(dict(zip(names, columns, strict=True)), name=name, descriptions=descriptions)

    @property
    def name(self) -> str:
        """The relation or analysis that the table came from; "" when it has no name."""
        return self._name

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self._columns)

    @property
    def columns(self) -> Mapping[str, tuple[Any, ...]]:
        """Every column by name, in order."""
        return self._columns

    @property
    def descriptions(self) -> Mapping[str, str]:
        """The meaning of a column, for the columns that have a description."""
        return self._descriptions

    def unit(self, column: str) -> str:
        """ "ns", "bytes" or "": units are in the names, as everywhere in rlscope."""
        self[column]
        if column.endswith("_ns"):
            return "ns"
        return "bytes" if column == "bytes" or column.endswith("_bytes") else ""

    def __getitem__(self, column: str) -> tuple[Any, ...]:
        """The values of one column; raises KeyError with the names that exist."""
        try:
            return self._columns[column]
        except KeyError:
            known = ", ".join(self._columns)
            raise KeyError(f"no column {column!r}; there are: {known}") from None

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self.rows()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return list(self._columns.items()) == list(other._columns.items())

    __hash__ = None  # type: ignore[assignment]  # compares by value, and may be large

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Every row as a tuple, in the order of `names`."""
        return zip(*self._columns.values(), strict=True)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Every row as {column: value}."""
        return [dict(zip(self._columns, row, strict=True)) for row in self.rows()]

    def select(self, *names: str) -> Table:
        """The same rows with these columns only, in this order."""
        columns = {name: self[name] for name in names}
        return Table(columns, name=self._name, descriptions=self._descriptions)

    def to_csv(self) -> str:
        """RFC 4180 text with a header line; NULL is an empty field, lines end with "\\n"."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self._columns)
        writer.writerows([_csv_cell(value) for value in row] for row in self.rows())
        return text.getvalue()

    def to_json(self) -> str:
        """A JSON array with one object per row, one row per line; NULL is null."""
        lines = [json.dumps(row, ensure_ascii=False, default=str) for row in self.to_dicts()]
        return "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n"

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; integers with NULLs become Int64, so that no nanosecond is rounded.

        Raises RlscopeError when pandas is not installed.
        """
        pandas = _optional("pandas", "to_pandas")
        return pandas.DataFrame(
            {
                key: pandas.Series(list(values), dtype=_pandas_type(values))
                for key, values in self._columns.items()
            }
        )

    def to_arrow(self) -> Any:
        """A pyarrow.Table with the descriptions as metadata of its fields.

        Raises RlscopeError when pyarrow is not installed.
        """
        arrow = _optional("pyarrow", "to_arrow")
        arrays = [arrow.array(list(values)) for values in self._columns.values()]
        fields = [
            arrow.field(key, array.type, metadata={"description": self._descriptions.get(key, "")})
            for key, array in zip(self._columns, arrays, strict=True)
        ]
        return arrow.Table.from_arrays(arrays, schema=arrow.schema(fields))

    def to_polars(self) -> Any:
        """A polars.DataFrame; integers stay Int64 beside NULLs.

        Raises RlscopeError when polars is not installed.
        """
        polars = _optional("polars", "to_polars")
        return polars.DataFrame(
            [polars.Series(key, list(values)) for key, values in self._columns.items()]
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule that holds an ArrowArrayStream, which is how polars, pandas, DuckDB and other
        libraries take tables of one another: `polars.DataFrame(table)`.

        Raises RlscopeError when pyarrow, which makes it, is not installed.
        """
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_text(self, most: int | None = None) -> str:
        """Aligned lines below a line of names, as repr() has them.

        Args:
            most: rows to show; of a longer table the middle is left out. None: all.
        """
        head, tail, hidden = self._shown(most)
        # Amounts are grouped, 12,345; identities such as a pid are not.
        grouped = [bool(self.unit(key)) for key in self._columns]
        cells = [
            [_text_cell(value, group) for value, group in zip(row, grouped, strict=True)]
            for row in head + tail
        ]
        right = [_is_number(values) for values in self._columns.values()]
        lines = _aligned([[visible(key) for key in self._columns], *cells], right)
        if hidden:
            lines.insert(2 + len(head), f"... {hidden:,} more rows ...")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.to_text(SHOWN_ROWS)

    def _repr_html_(self) -> str:
        """The first rows in a notebook, with units and meaning of the columns, and how many more
        there are; every text is escaped."""
        units = [self.unit(key) for key in self._columns]
        names = "".join(map(self._html_name, self._columns))
        shown = islice(self.rows(), SHOWN_ROWS)
        body = "".join(_html_row(row, units) for row in shown)
        hidden = self._length - SHOWN_ROWS
        more = f"<p>{hidden:,} more rows</p>" if hidden > 0 else ""
        return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>{more}"

    def _html_name(self, key: str) -> str:
        """The heading of a column; its meaning appears when a mouse is on it."""
        meaning, unit = self._descriptions.get(key, ""), self.unit(key)
        below = f"<br><small>{unit}</small>" if unit else ""
        return f'<th title="{html.escape(meaning)}">{html.escape(visible(key))}{below}</th>'

    def _shown(self, most: int | None) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], int]:
        """Rows to show at the beginning and at the end, and how many are left out between."""
        rows = list(self.rows())
        if most is None or len(rows) <= most:
            return rows, [], 0
        head, tail = most - most // 2, most // 2
        return rows[:head], rows[len(rows) - tail :], len(rows) - most


def _plain(values: Iterable[Any]) -> tuple[Any, ...]:
    """A column as a tuple of Python values: numpy arrays and their masks become int and None."""
    tolist = getattr(values, "tolist", None)
    return tuple(tolist() if tolist is not None else values)


def _optional(module: str, method: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise RlscopeError(f"Table.{method}() needs {module}: pip install {module}") from None


def _pandas_type(values: tuple[Any, ...]) -> str | None:
    present = {type(value) for value in values if value is not None}
    if None not in values:
        return None
    return {frozenset({int}): "Int64", frozenset({bool}): "boolean"}.get(frozenset(present))


def _csv_cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _text_cell(value: Any, grouped: bool = False) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}" if grouped else str(value)
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    text = visible(text)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 3] + "..."


def _is_number(values: tuple[Any, ...]) -> bool:
    present = [value for value in values if value is not None]
    return bool(present) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in present
    )


def _aligned(cells: list[list[str]], right: list[bool]) -> list[str]:
    """Lines of text columns two blanks apart, with a rule below the first row."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in [cells[0], ["-" * width for width in widths], *cells[1:]]:
        padded = [
            text.rjust(width) if numeric else text.ljust(width)
            for text, width, numeric in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return lines


def _html_row(row: tuple[Any, ...], units: Sequence[str]) -> str:
    """Amounts, which have a unit, are grouped and set flush right."""
    cells = (
        f'<td style="text-align:right">{html.escape(_text_cell(cell, True))}</td>'
        if unit
        else f"<td>{html.escape(_text_cell(cell))}</td>"
        for cell, unit in zip(row, units, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"

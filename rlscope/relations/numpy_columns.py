"""Columns of a relation as numpy arrays that DuckDB reads, and the SELECT that makes its rows."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.types import BigInteger, Boolean, Double

SOURCE = "_columns"
"""Name of the numpy columns while DuckDB reads them."""
_NUMPY_TYPES = {BigInteger: np.int64, Double: np.float64, Boolean: np.bool_}


def arrays(relation: sa.Table, columns: Mapping[str, Any]) -> dict[str, Any]:
    """The given columns as numpy arrays.

    DuckDB ignores the masks of numpy arrays, so a column with NULLs travels with a second one
    that says which of its values are valid.
    """
    arrays: dict[str, Any] = {}
    for column in relation.columns:
        if column.name in columns:
            plain, valid = array_of(columns[column.name], column.type)
            arrays[column.name] = plain
            if valid is not None:
                arrays[_valid(column.name)] = valid
    return arrays


def _valid(name: str) -> str:
    return f"{name} is valid"


def array_of(values: Any, type_: Any) -> tuple[Any, Any]:
    """A column as (array that DuckDB reads, flags of its valid values or None: all)."""
    wanted = _NUMPY_TYPES.get(type(type_))
    if wanted is None:
        return objects(values), None
    if isinstance(values, np.ma.MaskedArray):
        return values.data.astype(wanted, copy=False), ~np.ma.getmaskarray(values)
    if isinstance(values, np.ndarray) and values.dtype != object:
        return values, None
    values = list(values)
    valid = np.fromiter((value is not None for value in values), np.bool_, len(values))
    return np.array([0 if value is None else value for value in values], dtype=wanted), valid


def objects(values: Any) -> Any:
    """Text: an array of objects, because DuckDB takes numpy's own text type for an ENUM."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def cast(wanted: Iterable[sa.Column[Any]], arrays: Container[str]) -> sa.Select[Any]:
    """The registered columns with the names, order and types of the wanted ones."""
    return sa.select(*(_cell(column, arrays) for column in wanted)).select_from(sa.table(SOURCE))


def of_process(relation: sa.Table, process_id: int, unknown: Collection[str]) -> sa.Select[Any]:
    """The registered rows of one process as those of the relation."""
    cells = [
        sa.literal(process_id)
        if column.name == "process_id"
        else sa.null()
        if column.name in unknown
        else sa.column(column.name)
        for column in relation.columns
    ]
    typed = zip(cells, relation.columns, strict=True)
    return sa.select(
        *(sa.cast(cell, column.type).label(column.name) for cell, column in typed)
    ).select_from(sa.table(SOURCE))


def _cell(column: sa.Column[Any], arrays: Container[str]) -> sa.ColumnElement[Any]:
    value: Any = sa.column(column.name) if column.name in arrays else sa.null()
    if _valid(column.name) in arrays:
        value = sa.case((sa.column(_valid(column.name)), value))
    return sa.cast(value, column.type).label(column.name)

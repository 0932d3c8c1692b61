"""Table: a small immutable columnar value."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pytest

from rlscope.errors import RlscopeError
from rlscope.table import SHOWN_ROWS, Table

# Above 2^53: a float cannot hold it.
LARGE_NS = (1 << 60) + 1


@pytest.fixture
def table():
    return Table(
        {"layer": ["python", "none"], "duration_ns": [LARGE_NS, None], "busy": [True, False]},
        name="breakdown",
        descriptions={"duration_ns": "wall time"},
    )


def test_numpy_columns_become_plain_values():
    table = Table({"a": np.array([1, 2], np.int64), "b": np.array([True, False])})
    assert list(table.rows()) == [(1, True), (2, False)]
    assert [type(value) for value in next(table.rows())] == [int, bool]


def test_masked_values_become_null():
    table = Table({"a": np.ma.array([1, 2], mask=[False, True])})
    assert table["a"] == (1, None)


def test_no_text_of_a_cell_or_a_name_commands_the_terminal():
    evil = "a\x1b]0;title\x07\x1b[2J\r\x9bm\u202e\n\x00\x7f\ud800"
    shown = repr(Table({"name": [evil], f"{evil} ns": [1]}))
    assert shown.count("\n") == 2
    assert all(line.isprintable() for line in shown.split("\n"))
    assert "a\\x1b]0;title\\x07\\x1b[2J\\r\\x9bm\\u202e\\n\\x00\\x7f\\ud800" in shown
    assert "模拟 → π é" in repr(Table({"name": ["模拟 → π é"]}))


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match="a 1, b 2"):
        Table({"a": [1], "b": [1, 2]})


def test_repeated_names_are_refused():
    with pytest.raises(ValueError, match="column names repeat: a"):
        Table.from_rows(["a", "a"], [(1, 2)])


def test_a_table_without_rows_keeps_its_columns():
    table = Table.from_rows(["a", "b"], [])
    assert (table.names, len(table), list(table)) == (("a", "b"), 0, [])


def test_it_cannot_be_changed(table):
    with pytest.raises(TypeError):
        table.columns["layer"] = ()
    with pytest.raises(AttributeError):
        table.names = ()
    with pytest.raises(TypeError):
        hash(table)


def test_equality_is_names_order_and_values(table):
    same = Table(table.columns, name="another", descriptions={})
    assert table == same
    assert table != table.select("duration_ns", "layer", "busy")
    assert table != Table({**table.columns, "busy": [True, True]})


def test_an_unknown_column_names_the_known_ones(table):
    with pytest.raises(KeyError, match="there are: layer, duration_ns, busy"):
        table["nothing"]


def test_units_are_in_the_names():
    table = Table({"start_ns": [1], "file_bytes": [1], "bytes": [1], "count": [1]})
    assert [table.unit(name) for name in table.names] == ["ns", "bytes", "bytes", ""]


def test_csv_is_read_back_by_a_csv_reader():
    table = Table({"a": ['x,"y"\n', None, ""], "n": [1, 2, None], "b": [True, False, None]})
    rows = list(csv.reader(io.StringIO(table.to_csv())))
    assert rows == [
        ["a", "n", "b"],
        ['x,"y"\n', "1", "true"],
        ["", "2", "false"],
        ["", "", ""],
    ]


def test_json_is_read_back_with_exact_integers(table):
    assert json.loads(table.to_json()) == table.to_dicts()
    assert json.loads(Table({"a": []}).to_json()) == []


def test_pandas_keeps_nanoseconds_beside_null(table):
    frame = table.to_pandas()
    assert frame["duration_ns"].dtype.name == "Int64"
    assert int(frame["duration_ns"][0]) == LARGE_NS
    assert frame["duration_ns"].isna().tolist() == [False, True]
    assert frame["busy"].dtype == bool


def test_arrow_carries_descriptions(table):
    arrow = table.to_arrow()
    assert arrow.to_pylist() == table.to_dicts()
    assert arrow.schema.field("duration_ns").metadata == {b"description": b"wall time"}


def test_polars_keeps_nanoseconds_beside_null(table):
    polars = pytest.importorskip("polars")
    for frame in (table.to_polars(), polars.DataFrame(table)):
        assert frame.rows() == [*table]
        assert frame.schema["duration_ns"] == polars.Int64
    assert Table.from_rows(["a"], []).to_polars().columns == ["a"]


def test_other_libraries_take_it_as_a_table_of_theirs(table):
    import duckdb
    import pyarrow

    assert pyarrow.table(table) == table.to_arrow()
    assert duckdb.from_arrow(table.to_arrow()).fetchall() == [*table]
    stream = pyarrow.RecordBatchReader.from_stream(table)
    assert stream.schema.field("duration_ns").metadata == {b"description": b"wall time"}
    assert stream.read_all().to_pylist() == table.to_dicts()


@pytest.mark.parametrize(
    ("module", "method"),
    [
        ("pandas", "to_pandas"),
        ("polars", "to_polars"),
        ("pyarrow", "to_arrow"),
        ("pyarrow", "__arrow_c_stream__"),
    ],
)
def test_a_missing_package_is_named(table, monkeypatch, module, method):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(RlscopeError, match=f"pip install {module}"):
        getattr(table, method)()


def test_importing_needs_neither_pandas_nor_pyarrow():
    code = (
        "import sys; sys.modules.update(pandas=None, pyarrow=None, numpy=None);"
        "from rlscope.table import Table; print(Table({'a': [1]}).to_csv(), end='')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "a\n1\n"


def test_text_is_aligned_and_marks_null(table):
    assert repr(table).splitlines() == [
        "layer                 duration_ns  busy",
        "------  -------------------------  -----",
        "python  1,152,921,504,606,846,977  true",
        "none                         NULL  false",
    ]


def test_a_long_table_is_cut_in_the_middle_and_says_so():
    table = Table({"n": range(1000)})
    lines = repr(table).splitlines()
    assert len(lines) == 2 + SHOWN_ROWS + 1
    assert "... 960 more rows ..." in lines
    assert lines[-1].strip() == "999"


def test_html_escapes_names_and_values():
    table = Table({"<a>": ["<script>"]}, descriptions={"<a>": '"x"'})
    page = table._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert 'title="&quot;x&quot;"' in page


def test_html_shows_units_and_the_first_rows_and_says_how_many_more(table):
    page = table._repr_html_()
    assert '<th title="wall time">duration_ns<br><small>ns</small></th>' in page
    assert '<th title="">layer</th>' in page
    assert '<td style="text-align:right">1,152,921,504,606,846,977</td>' in page
    assert "more rows" not in page
    long = Table({"pid": range(1000)})._repr_html_()
    assert long.count("<tr>") == 1 + SHOWN_ROWS
    assert f"<td>{SHOWN_ROWS - 1}</td></tr></tbody></table><p>960 more rows</p>" in long


def test_all_rows_are_text_where_that_is_asked_for():
    lines = Table({"n": range(1000)}).to_text().splitlines()
    assert [int(line) for line in lines[2:]] == [*range(1000)]
    assert len(Table({"n": range(1000)}).to_text(3).splitlines()) == 2 + 3 + 1

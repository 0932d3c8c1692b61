"""The kind of a file is found by its content; of another form of it the error says what to do."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from support.files.kineto_files import at_real, op

from rlscope.errors import RlscopeError
from rlscope.importing.directory import import_files
from rlscope.opening import load

MARK = b"\xef\xbb\xbf"
ROWS = [op("aten::mm", at_real(0), 5)]
KINETO, CHROME = "torch.profiler (Kineto)", "another tool (Chrome trace)"
JAX = Path(__file__).parents[1] / "golden" / "xprof" / "jax_cpu.trace.json.gz"


def tool(folder, content, name="trace.json"):
    """The tool that a file of this content is said to be of."""
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    import_files([str(folder / name)], str(folder / "run"))
    with load(folder / "run") as trace:
        ((imported,),) = trace.sql("SELECT imported FROM run")
    return imported.removesuffix(f": {name}")


def kineto(**facts):
    return json.dumps({**facts, "schemaVersion": 1, "traceEvents": ROWS})


# ---- what stands at the begin -------------------------------------------------------------------


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (kineto(), KINETO),
        ('[{"ph": "X", "name": "a", "pid": 1, "ts": 5, "dur": 2}]', CHROME),
        ("kind,name,start_ns,duration_ns\noperation,a,5,2\n", "events (Parquet or CSV)"),
    ],
    ids=["kineto", "chrome", "csv"],
)
def test_a_byte_order_mark_is_no_part_of_the_content(tmp_path, content, expected, pack):
    assert tool(tmp_path, pack(MARK + content.encode())) == expected


def test_only_the_first_byte_order_mark_is_left_out(tmp_path):
    with pytest.raises(RlscopeError, match="is none of "):
        tool(tmp_path, MARK + MARK + kineto().encode())
    with pytest.raises(RlscopeError, match="is none of "):
        tool(tmp_path, MARK)


# ---- what stands far after it -------------------------------------------------------------------


@pytest.mark.parametrize("length", [70_000, 2_000_000])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_kineto_file_may_begin_with_a_long_text(tmp_path, length, pack):
    assert tool(tmp_path, pack(kineto(trace_id="x" * length).encode())) == KINETO


def test_rows_that_any_tool_could_have_do_not_hide_what_follows(tmp_path):
    """More of them than is looked at first."""
    arrow = {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 1, "pid": 7, "tid": 7, "ts": 5}
    assert tool(tmp_path, json.dumps({"traceEvents": [arrow] * 2000 + ROWS})) == KINETO


def test_a_chrome_trace_stays_one_however_long_it_is(tmp_path):
    rows = [{"ph": "X", "name": "a", "pid": 1, "ts": 5 * n, "dur": 2} for n in range(30_000)]
    assert tool(tmp_path, json.dumps(rows)) == CHROME


def test_an_xprof_file_may_begin_with_a_long_text(tmp_path):
    content = json.loads(gzip.decompress(JAX.read_bytes()))
    text = json.dumps({"metadata": "x" * 80_000, **content})
    assert tool(tmp_path, text, "box.trace.json") == "XProf (JAX, TensorFlow)"


# ---- other forms --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("report.nsys-rep", "export it first with nsys export --type sqlite"),
        ("report.qdrep", "export it first with nsys export --type sqlite"),
        ("box.xplane.pb", "import the .trace.json.gz that JAX writes beside it"),
        ("run.pftrace", "traceconv json"),
        ("run.perfetto-trace", "traceconv json"),
    ],
)
def test_a_file_that_the_tool_has_in_another_form_names_that(tmp_path, name, advice):
    with pytest.raises(RlscopeError) as error:
        tool(tmp_path, b"\x0a\x07binary", name)
    assert str(error.value).startswith(f"{tmp_path / name} cannot be imported as it is: ")
    assert advice in str(error.value)
    assert "\n" not in str(error.value)


def test_a_name_decides_nothing_if_the_content_is_known(tmp_path):
    assert tool(tmp_path, kineto(), "trace.pftrace") == KINETO

"""What a trace of another tool cannot say is NULL or no row, and `absent` says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.files import nsight_files
from support.files.kineto_files import GOLDEN, annotation, at_real, op, write

from rlscope.importing.directory import import_files
from rlscope.opening import load
from rlscope.relations.schema import store

XPROF = sorted((Path(__file__).parents[1] / "golden" / "xprof").glob("*.trace.json.gz"))
NOT_HELD = "the run was imported, and traces of {} do not have it"


def make_chrome(folder):
    (folder / "some.json").write_text('[{"ph": "X", "name": "a", "pid": 1, "ts": 5, "dur": 2}]')
    return folder / "some.json"


def make_events(folder):
    (folder / "some.csv").write_text("kind,name,start_ns,duration_ns\noperation,a,5,2\n")
    return folder / "some.csv"


def make_kineto(folder):
    return write(folder / "some.json", [op("aten::mm", at_real(0), 5)])


MAKERS = {
    **{path.name.partition(".")[0]: lambda _, path=path: path for path in (*GOLDEN, *XPROF)},
    "nsight": lambda folder: nsight_files.write(folder / "a.sqlite", nsight_files.a_run()),
    "chrome": make_chrome,
    "events": make_events,
    "kineto": make_kineto,
}


@pytest.fixture(scope="module", params=MAKERS)
def trace(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    import_files([str(MAKERS[request.param](folder))], str(folder / "run"))
    with load(folder / "run") as opened:
        yield opened


def reasons(trace):
    return {(name, column): reason for name, column, reason in trace.table("absent")}


def test_every_relation_without_rows_has_a_reason(trace):
    """But `loss` and `finding`, which say by that that nothing was lost, or found."""
    empty = {name for name in store.relations() if not len(trace.table(name))}
    told = {name for name, column in reasons(trace) if column == "*"}
    assert empty - {"loss", "finding"} == told


UNKNOWN = {
    "process": ["forked", "forks", "python", "cpu_ns", "exit"],
    "host": ["clock", "tsc_hz", "boot_id"],
    "api_call": ["errors"],
}


def test_what_no_row_says_is_null_and_never_0(trace):
    told = reasons(trace)
    for name, columns in UNKNOWN.items():
        rows = trace.table(name).to_dicts()
        for column in columns if rows else []:
            assert {row[column] for row in rows} == {None}, (name, column)
            assert (name, column) in told
    assert 0 not in {row["os_pid"] for row in trace.table("process").to_dicts()}


@pytest.mark.parametrize("relation", ["phase", "progress"])
def test_no_tool_knows_phases_and_progress(trace, relation):
    tool = trace.table("run").to_dicts()[0]["imported"].partition(":")[0]
    assert reasons(trace)[relation, "*"] == NOT_HELD.format(tool)


def test_what_the_tool_has_and_these_files_lack_is_said_with_what_makes_it(tmp_path):
    import_files([str(make_kineto(tmp_path))], str(tmp_path / "run"))
    with load(tmp_path / "run") as trace:
        found = reasons(trace)
    operation = "`with torch.profiler.record_function(name):`"
    assert operation in found["operation", "*"]
    assert found["operation", "*"] == found["operation_instance", "*"]
    assert "; ProfilerStep#k" in found["iteration", "*"]


def test_a_relation_that_has_rows_is_not_absent(tmp_path):
    rows = [annotation("ProfilerStep#3", at_real(0), 9), annotation("a", at_real(1), 5)]
    import_files([str(write(tmp_path / "some.json", rows))], str(tmp_path / "run"))
    with load(tmp_path / "run") as trace:
        found = reasons(trace)
    assert not {("operation", "*"), ("operation_instance", "*"), ("iteration", "*")} & {*found}


def test_an_export_of_nsight_has_no_iterations_at_all(tmp_path):
    import_files([str(MAKERS["nsight"](tmp_path))], str(tmp_path / "run"))
    with load(tmp_path / "run") as trace:
        found = reasons(trace)
    assert found["iteration", "*"] == NOT_HELD.format("Nsight Systems (SQLite export)")


def test_a_run_of_rlscope_has_rows_wherever_its_program_did_something(tmp_path):
    """The reasons of imports are not given for it: the program called no rls.phase()."""
    from support.files import tiny_traces

    with load(tiny_traces.write_trace("workers", tmp_path / "run")) as trace:
        assert not {("progress", "*"), ("process", "forks")} & {*reasons(trace)}


# ---- advice -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (make_kineto, "`with torch.profiler.record_function(name):`"),
        (lambda _: XPROF[0], "`with jax.profiler.TraceAnnotation(name):`"),
    ],
    ids=["kineto", "xprof"],
)
def test_the_summary_names_what_the_tool_has_for_annotating(tmp_path, capsys, make, advice):
    from rlscope.commands import main

    import_files([str(make(tmp_path))], str(tmp_path / "run"))
    assert main(["summary", str(tmp_path / "run")]) == 0
    told = capsys.readouterr().out.replace("\n  ", " ")
    assert advice in told
    assert "rls.operation" not in told


def test_the_page_says_why_an_imported_run_has_no_iterations_and_no_progress(tmp_path):
    import_files([str(make_kineto(tmp_path))], str(tmp_path / "run"))
    with load(tmp_path / "run") as trace:
        trace.report().save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "files have none; ProfilerStep#k" in page
    for call in ("rls.iteration()", "rls.progress("):
        assert call not in page

"""`rlscope export`: tables, windows, names of files, and what goes wrong."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from functools import cache
from pathlib import Path

import duckdb
import pytest
from ground_truth.written import ORIGIN_NS
from support.files.kineto_files import annotation, at_real, import_rows
from support.files.shown_intervals import shown
from support.files.tiny_traces import write_trace
from support.process.command_line import assert_states_failure, rlscope

from rlscope import registry
from rlscope.export import window
from rlscope.export.timeline import open_timeline
from rlscope.opening import load
from rlscope.relations.schema import store
from rlscope.rundir.kept_iterations import IterationRange


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return write_trace("stacks", tmp_path / "ppo")


def files(folder: Path = Path()) -> list[str]:
    return sorted(os.listdir(folder))


# ---- one opened trace -------------------------------------------------------------------------


def write_all(trace, folder, formats):
    whole = window.between(trace, None, None)
    for number, form in enumerate(formats):
        exporter = registry.load(registry.EXPORTERS, form)
        path = folder / f"{number}{exporter.ending}"
        exported = exporter.write(trace, whole, path, force=False, tell=lambda part: None)
        assert exported.counts
        yield form, path


def content(path):
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [file.read_bytes() for file in files]


def test_one_opened_trace_is_exported_in_any_format_in_any_order(root, tmp_path):
    """Each a second time, in another order, while a query is open."""
    forms = [name for name, _ in registry.load_all(registry.EXPORTERS)]
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    with load(root) as trace:
        first = dict(write_all(trace, tmp_path / "first", forms))
        with trace.engine.connect() as connection:
            open_rows = connection.exec_driver_sql("SELECT thread_id FROM event ORDER BY ALL")
            one = open_rows.fetchone()
            second = dict(write_all(trace, tmp_path / "second", reversed(forms)))
            rest = open_rows.fetchall()
        expected = list(trace.sql("SELECT thread_id FROM event ORDER BY ALL"))
    assert [tuple(row) for row in [one, *rest]] == expected
    assert {*first} == {*forms}
    for form in forms:
        assert content(first[form]) == content(second[form]), form


def test_two_timelines_of_one_trace_are_open_at_once(root):
    with load(root) as trace:
        whole = window.between(trace, None, None)
        with open_timeline(trace, whole) as one, open_timeline(trace, whole) as other:
            assert [*map(str, one.slices())] == [*map(str, other.slices())]


# ---- tables -------------------------------------------------------------------------------------


def read(path: Path) -> list[tuple[object, ...]]:
    """The rows of a file, with the types of the relation."""
    connection = reader()
    if path.suffix == ".parquet":
        return connection.read_parquet(str(path)).fetchall()
    columns = store.relations()[path.stem].columns
    types = {column.name: store.type_name(column.type) for column in columns}
    return connection.read_csv(str(path), columns=types, header=True).fetchall()


@cache
def reader() -> duckdb.DuckDBPyConnection:
    """One for all files: they are many, and small."""
    return duckdb.connect(config={"threads": 1})


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_every_relation_is_a_file_with_its_rows(root, form):
    done = rlscope("export", root, "--format", form)
    assert (done.returncode, done.stdout) == (0, f"ppo-{form}\n")
    folder = Path(f"ppo-{form}")
    assert files(folder) == sorted(f"{name}.{form}" for name in store.relations())
    with load(root) as trace:
        assert len(trace.table("event")) > 0
        for name in store.relations():
            assert read(folder / f"{name}.{form}") == [*trace.table(name).rows()], name
            is_said_to_be_empty = f"\n{name}: " in done.stderr
            assert is_said_to_be_empty <= (len(trace.table(name)) == 0)
        (reason,) = trace.sql("SELECT reason FROM absent WHERE relation = 'memset'")["reason"]
    assert f"memset: {reason}\n" in done.stderr


def test_rows_of_a_window_stand_in_the_order_of_the_relation(tmp_path):
    """Some releases of DuckDB lose it in a join of many rows."""
    rows = []
    for number in range(8_000):
        begin = at_real(40 * number)
        rows.append(annotation(f"ProfilerStep#{number}", begin, 38))
        rows += [annotation(name, begin + 4 * place, 3) for place, name in enumerate("abcdefgh")]
    with load(import_rows(tmp_path, rows)) as trace:
        part = window.of_iterations(trace, IterationRange(1, 7_000))
        for form in ("csv", "parquet"):
            exporter = registry.load(registry.EXPORTERS, form)
            exporter.write(trace, part, tmp_path / form, force=False, tell=lambda part: None)
            for name in ("iteration_breakdown", "iteration", "operation_instance"):
                written = read(tmp_path / form / f"{name}.{form}")
                of_window = set(written)
                assert written == [row for row in trace.table(name).rows() if row in of_window]


def test_a_csv_file_tells_an_empty_text_from_nothing(root):
    with load(root) as trace:
        trace.write_csv("""SELECT NULL AS a, '' AS b, 'x,"y' || chr(10) AS c""", "some.csv")
    assert Path("some.csv").read_text() == 'a,b,c\n,"","x,""y\n"\n'


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_tables_of_a_window_have_whole_rows_and_no_sums(root, form):
    """Rows contain their start, and not their end."""
    done = rlscope("export", root, "--format", form, "--from", "3us", "--to", "5us")
    assert done.stdout == f"ppo-from-0.000003s-to-0.000005s-{form}\n"
    folder = Path(done.stdout.strip())
    named = {"run", "host", "process", "thread", "operation", "metadata", "calibration", "absent"}
    timed = {name for name, each in store.relations().items() if "start_ns" in each.columns}
    assert timed >= {"event", "iteration", "machine_sample", "operation_instance", "timeline"}
    written = {path.stem for path in folder.iterdir()}
    assert written == (named | timed | {"iteration_breakdown", "loss"}) - {"utilisation"}
    first, last = ORIGIN_NS + 3_000, ORIGIN_NS + 5_000
    with load(root) as trace:
        for name in ("event", "operation_instance", "iteration", "phase", "recording_window"):
            wanted = [
                tuple(row.values())
                for row in trace.table(name).to_dicts()
                if row["start_ns"] < last
                and (row["start_ns"] >= first or row["start_ns"] + row["duration_ns"] > first)
            ]
            assert read(folder / f"{name}.{form}") == wanted, name
        assert 0 < len(read(folder / f"event.{form}")) < len(trace.table("event"))
        assert read(folder / f"thread.{form}") == [*trace.table("thread").rows()]
    (left_out,) = [line for line in done.stderr.splitlines() if line.startswith("without sums")]
    assert {"breakdown", "wait", "kernel", "utilisation"} <= {*left_out.split(": ")[1].split(", ")}


def test_a_bucket_is_in_every_window_that_it_touches(root):
    """However little of it a state took: the window begins at the end of a bucket."""
    with load(root) as trace:
        buckets = trace.table("timeline").to_dicts()
        wide = next(row for row in buckets if row["duration_ns"] < row["bucket_ns"] - 1)
        first = wide["start_ns"] + wide["bucket_ns"] - 1
        (run,) = trace.table("run").to_dicts()
        part = window.between(trace, first - run["start_ns"], first - run["start_ns"] + 1)
        exporter = registry.load(registry.EXPORTERS, "csv")
        exporter.write(trace, part, Path("part"), force=False, tell=lambda part: None)
        wanted = [
            tuple(row.values())
            for row in buckets
            if row["start_ns"] <= first < row["start_ns"] + row["bucket_ns"]
        ]
    assert read(Path("part/timeline.csv")) == wanted


def test_the_breakdown_of_an_iteration_goes_with_it(root):
    assert rlscope("export", root, "--format", "csv", "--iteration", 0).returncode == 0
    with load(root) as trace:
        wanted = trace.sql("FROM iteration_breakdown WHERE iteration = 0")
        assert len(wanted)
    assert read(Path("ppo-iterations-0-csv/iteration_breakdown.csv")) == [*wanted.rows()]


# ---- files and their names ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ((), "ppo.pftrace"),
        (("--format", "chrome"), "ppo.chrome.json"),
        (("--format", "speedscope", "--iteration", "1"), "ppo-iterations-1.speedscope.json"),
        (("--iteration", "0-1"), "ppo-iterations-0-1.pftrace"),
        (("--to", "5.5us"), "ppo-to-0.0000055s.pftrace"),
    ],
)
def test_an_export_is_named_after_the_run_and_its_part(root, options, name):
    done = rlscope("export", f"{root}/", *options)
    assert (done.returncode, done.stdout) == (0, f"{name}\n"), done.stderr
    assert files() == [name]


@pytest.mark.parametrize("form", registry.builtin(registry.EXPORTERS))
def test_what_is_there_is_replaced_only_by_force(root, form):
    assert rlscope("export", root, "--format", form, "-o", "out").returncode == 0
    before = os.stat("out").st_ino
    done = rlscope("export", root, "--format", form, "-o", "out")
    assert_states_failure(done, "out exists already", "--force")
    assert os.stat("out").st_ino == before
    assert rlscope("export", root, "--format", form, "-o", "out", "--force").returncode == 0
    assert os.stat("out").st_ino != before
    assert files() == ["out"]


def test_a_folder_with_anything_else_in_it_is_never_replaced(root):
    assert rlscope("export", root, "--format", "csv", "-o", "out").returncode == 0
    Path("out/mine.txt").write_text("mine")
    done = rlscope("export", root, "--format", "csv", "-o", "out", "--force")
    assert_states_failure(done, "mine.txt")
    done = rlscope("export", root, "-o", "out", "--force")
    assert_states_failure(done, "out: it is not a regular file")
    assert Path("out/mine.txt").read_text() == "mine"
    assert files() == ["out"]
    Path("file").write_text("mine")
    done = rlscope("export", root, "--format", "csv", "-o", "file", "--force")
    assert_states_failure(done, "file: it is not a directory")
    assert Path("file").read_text() == "mine"


@pytest.mark.parametrize("form", ["perfetto", "csv"])
@pytest.mark.parametrize("path", ["missing/out", "/proc/out", ""])
def test_a_path_that_cannot_be_written_is_named(root, form, path):
    done = rlscope("export", root, "--format", form, "--output", path or "/")
    assert_states_failure(done, "cannot write", path)


@pytest.mark.parametrize("form", registry.builtin(registry.EXPORTERS))
def test_a_full_disk_leaves_nothing(root, form):
    """RLIMIT_FSIZE stands for it: a write fails in the middle of a file."""
    with load(root) as trace:  # its tables are there
        trace.table("event")
    size, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))  # its signal is ignored by Python
    try:
        done = rlscope("export", root, "--format", form)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    assert_states_failure(done, "File too large")
    assert files() == []


def test_a_device_is_never_replaced(root):
    os.mkfifo("pipe")
    assert_states_failure(rlscope("export", root, "-o", "pipe", "--force"), "not a regular file")
    assert files() == ["pipe"]


# ---- parts of a run -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--from", "1s"), "nothing of it is after 1 s"),
        (("--iteration", "2"), "no iteration 2: the run has iterations 0 to 1"),
        (("--iteration", "1-7"), "no iterations 1 to 7: the run has iterations 0 to 1"),
    ],
)
def test_a_part_that_the_run_does_not_have_is_refused(root, options, said):
    assert_states_failure(rlscope("export", root, *options), said)
    assert files() == []


def test_a_run_without_iterations_says_so(tmp_path):
    root = write_trace("gpu", tmp_path / "gpu")
    done = rlscope("export", root, "--iteration", 0)
    assert_states_failure(done, "the run has no iterations", "--from and --to")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--format", "perfeto"), "no format 'perfeto'; there are: perfetto, chrome, speedscope"),
        (("--from", "soon"), "got 'soon'"),
        (("--from", "-1"), "--from"),
        (("--to", "1e3"), "got '1e3'"),
        (("--to", "0"), "later than --from"),
        (("--from", "2s", "--to", "2000ms"), "later than --from"),
        (("--iteration", "3", "--to", "2s"), "by --from and --to"),
        (("--iteration", "3,5"), "one range"),
        (("--iteration", "5-3"), "before it begins: '5-3'"),
        (("--iteration", "x"), "got 'x'"),
    ],
)
def test_usage_errors(root, options, said):
    done = rlscope("export", root, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert files() == []


def test_a_directory_that_is_no_trace_is_refused(tmp_path):
    for path in (tmp_path, tmp_path / "missing"):
        assert_states_failure(rlscope("export", path, "-o", tmp_path / "out"), str(path))
    assert files(tmp_path) == []


def test_what_a_run_does_not_have_is_said(root):
    done = rlscope("export", root)
    with load(root) as trace:
        (reason,) = trace.sql("SELECT reason FROM absent WHERE relation = 'wait'")["reason"]
    assert f"without waits: {reason}\n" in done.stderr


def test_an_export_says_what_is_in_it(root):
    with load(root) as trace:
        count = (
            len(trace.table("event")) + len(trace.table("iteration")) + len(trace.table("phase"))
        )
    assert rlscope("export", root).stderr.startswith(f"{count} slices\n")
    with load(root) as trace:
        found = shown(trace, ORIGIN_NS + 4_000, ORIGIN_NS + 6_000).elements()
        cut = sum((one.start_ns, one.end_ns - one.start_ns) != one.whole_ns for one in found)
    done = rlscope("export", root, "--from", "4us", "--to", "6us")
    assert f", {cut} slices cut at the window's edges\n" in done.stderr
    done = rlscope("export", root, "--format", "speedscope")
    assert "without arrows and readings: the format has none\n" in done.stderr


def test_ctrl_c_leaves_nothing(root, tmp_path):
    program = (
        "import os, signal, sys; from rlscope.commands import main\n"
        "from rlscope.export import timeline\n"
        "slices = timeline.Timeline.slices\n"
        "def stop(self):\n"
        "    yield from slices(self)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "timeline.Timeline.slices = stop\n"
        f"sys.exit(main(['export', {str(root)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    assert files() == []

"""A trace directory may come from a stranger: nothing outside of it is read, written or removed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import duckdb
import pytest
from support.files.tiny_traces import load_checked, write_trace

from rlscope.opening import load
from rlscope.relations.files.manifest import EVENT_MANIFEST, MANIFEST
from rlscope.relations.schema import store

# Everything below a trace directory that a reader opens by its name, whatever another one of the
# same group is.
OPENED = (
    (
        "machine.jsonl",
        "unrecorded.jsonl",
        "sources.jsonl",
        "rlscope_calibration.json",
        "run.json",
        "trace/box.9.9.0.rls",
    ),
    ("processes.log",),
    ("tables/lock",),
    ("tables/manifest.json", "tables/event.json"),
    ("rings/control",),
    ("rings/9.9.9.process", "rings/9.9.9.1.ring"),
)
HUGE = 40 << 30
# Thirty statements make the findings, of all the others.
NAMES = sorted(store.relations().keys() - {"finding"})


@pytest.fixture
def root(tmp_path):
    return write_trace("workers", tmp_path / "run")


@pytest.fixture
def outside(tmp_path):
    """A folder of the reader's own, with what looks like files of ours in it."""
    folder = tmp_path / "mine"
    (folder / "breakdown" / "process_id=0").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "manifest.json").write_text("mine")
    (folder / "breakdown" / "part.parquet").write_text("mine")
    (folder / "breakdown" / "process_id=0" / "part-0.parquet").write_text("mine")
    yield folder
    assert not any(path.name == "lock" for path in folder.rglob("*"))
    assert [path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()] == [
        "mine"
    ] * 3
    assert (folder / "empty").is_dir()


def put(root, name, kind):
    """Puts something that is no file where one should be."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(HUGE)


def rows_of(root):
    with load_checked(root) as trace:
        return {name: trace.table(name) for name in NAMES}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """What every reader of the trace must see."""
    return rows_of(write_trace("workers", tmp_path_factory.mktemp("pristine") / "run"))


def write_tables(root):
    """A reader here writes the tables of the trace."""
    with load(root) as trace:
        for name in NAMES:
            trace.table(name)
    return root


@pytest.fixture
def with_tables(root):
    """The trace, after a reader here has written its tables."""
    return write_tables(root)


@pytest.fixture(scope="module")
def lasting_tables(tmp_path_factory):
    """The same, for tests that leave it with tables that were written here."""
    return write_tables(write_trace("workers", tmp_path_factory.mktemp("lasting") / "run"))


# ---- reading -----------------------------------------------------------------------------------

READ = """
import resource, sys
from rlscope.opening import load
resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
for root in sys.argv[1:]:
    print(root, flush=True)
    with load(root) as trace:
        print(len(trace.table("breakdown")), len(trace.table("event")), flush=True)
"""


@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "huge"])
def test_what_is_no_file_or_has_no_end_neither_hangs_nor_harms(tmp_path, rows, kind):
    roots = [tmp_path / str(number) for number in range(len(OPENED))]
    for root, group in zip(roots, OPENED, strict=True):
        write_trace("workers", root)
        for name in group:
            put(root, name, kind)
    done = subprocess.run(
        [sys.executable, "-c", READ, *roots], capture_output=True, text=True, timeout=300
    )
    counts = f"{len(rows['breakdown'])} {len(rows['event'])}"
    expected = [line for root in roots for line in (str(root), counts)]
    assert (done.returncode, done.stdout.splitlines()) == (0, expected), done.stderr


# ---- writing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place", ["tables", "tables/breakdown", "tables/breakdown/process_id=0", "tables/event"]
)
def test_no_table_is_written_or_removed_through_a_symbolic_link(root, rows, outside, place):
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    target = {"tables": outside, "tables/breakdown": outside / "breakdown"}.get(
        place, outside / "breakdown" / "process_id=0"
    )
    (root / place).symlink_to(target)
    for _ in range(2):
        assert rows_of(root) == rows


@pytest.mark.parametrize("name", ["manifest.json", "event.json", "lock"])
def test_no_file_of_the_tables_is_written_through_a_symbolic_link(root, rows, outside, name):
    (root / "tables").mkdir()
    for planted in (name, f"{name}.{os.getpid()}.tmp"):
        (root / "tables" / planted).symlink_to(outside / "manifest.json")
    assert rows_of(root) == rows


def test_an_unfinished_table_is_not_written_through_a_symbolic_link(root, outside):
    for relation in ("run", "breakdown"):
        place = root / "tables" / relation
        place.mkdir(parents=True)
        (place / f"part.{os.getpid()}.tmp").symlink_to(outside / "manifest.json")
    assert rows_of(root)


# ---- believing ---------------------------------------------------------------------------------


@pytest.mark.parametrize("named", ["absolute", "relative", "of another relation", "no name"])
def test_a_manifest_names_nothing_but_the_files_of_its_relations(
    with_tables, rows, tmp_path, named
):
    stolen = tmp_path / "stolen"
    stolen.mkdir()
    part = with_tables / "tables" / "breakdown" / "part-0.parquet"
    shutil.copy(part, stolen / "part-0.parquet")
    manifest = with_tables / "tables" / MANIFEST
    content = json.loads(manifest.read_text())
    name = {
        "absolute": str(stolen / "part-0.parquet"),
        "relative": "../../stolen/part-0.parquet",
        "of another relation": "breakdown_by_thread/part-0.parquet",
        "no name": "",
    }[named]
    status = os.stat(with_tables / "tables" / name)
    stamp = [status.st_ino, status.st_ctime_ns, status.st_size]
    content["files"]["breakdown"] = {name: stamp}
    manifest.write_text(json.dumps(content))
    assert rows_of(with_tables) == rows


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("made_from", None),
        ("made_from", []),
        ("files", None),
        ("files", []),
        ("files", {"breakdown": 3}),
        ("files", {"breakdown": "x"}),
        ("files", {"breakdown": {"breakdown/part-0.parquet": []}}),
        ("files", {"breakdown": {"breakdown/part-0.parquet": {}}}),
        ("files", {"breakdown": {"breakdown/none.parquet": []}}),
        ("files", {}),
    ],
)
def test_a_manifest_that_is_not_as_we_write_it_is_made_again(lasting_tables, rows, part, value):
    manifest = lasting_tables / "tables" / MANIFEST
    content = json.loads(manifest.read_text())
    content[part] = value
    manifest.write_text(json.dumps(content))
    assert rows_of(lasting_tables) == rows


def test_a_manifest_of_brackets_is_made_again(lasting_tables, rows):
    for name in (MANIFEST, EVENT_MANIFEST):
        (lasting_tables / "tables" / name).write_text("[" * 100_000)
    assert rows_of(lasting_tables) == rows


def test_a_table_file_that_is_a_symbolic_link_is_not_followed(with_tables, rows, tmp_path):
    part = with_tables / "tables" / "breakdown" / "part-0.parquet"
    part.rename(tmp_path / "part.parquet")
    part.symlink_to(tmp_path / "part.parquet")
    with load(with_tables) as trace:
        assert trace.table("breakdown") == rows["breakdown"]
    assert not part.is_symlink()


def rewrite_table(part, columns):
    unfinished = part.with_suffix(".new")
    duckdb.sql(f"SELECT {columns} FROM '{part}'").write_parquet(str(unfinished))
    unfinished.rename(part)


@pytest.mark.parametrize(
    "columns", ["* REPLACE (name AS os_pid)", "* REPLACE (NULL::BIGINT AS start_ns)", "1 AS one"]
)
def test_a_table_that_was_not_written_here_is_made_again(with_tables, rows, columns):
    rewrite_table(with_tables / "tables" / "process" / "part.parquet", columns)
    assert rows_of(with_tables)["process"] == rows["process"]


def test_tables_that_came_with_a_trace_are_made_again(with_tables, rows, tmp_path):
    for part in (with_tables / "tables" / "operation").rglob("*.parquet"):
        rewrite_table(part, "* REPLACE (operation_id AS parent_operation_id)")
    received = shutil.copytree(with_tables, tmp_path / "received")
    assert rows_of(received)["operation"] == rows["operation"]


def test_tables_that_were_written_here_are_not_made_again(root):
    rows_of(root)
    parts = sorted((root / "tables").rglob("*"))
    stamps = [path.stat().st_ctime_ns for path in parts]
    rows_of(root)
    assert [path.stat().st_ctime_ns for path in sorted((root / "tables").rglob("*"))] == stamps

"""`rlscope runs`: which runs are below a folder, in which state, and where their time went."""

from __future__ import annotations

import json
import os
import re
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from support.files import example_run
from support.files.tiny_traces import write_trace
from support.process.command_line import Terminal, assert_states_failure, rlscope

from rlscope.opening import load
from rlscope.report import headline
from rlscope.rundir import old_run, run_search

NOW = datetime.now(timezone.utc)


def describe(root: Path, name: str, **facts: object) -> Path:
    run = {"format": "rlscope", "name": name, "command": ["python", "train.py", "a b"], **facts}
    (root / "run.json").write_text(json.dumps(run))
    return root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three runs of three days, one of them in a folder of its own, none with tables."""
    runs = tmp_path / "runs"
    for days, (kind, place) in enumerate([("workers", "a"), ("trainer", "b"), ("gpu", "more/c")]):
        root = write_trace(kind, runs / place)
        began = (NOW - timedelta(days=days)).isoformat()
        describe(root, f"seed-{2 - days}", start_time=began, start_ns=days)
    return runs


def listed(*arguments: object) -> list[dict[str, object]]:
    done = rlscope("runs", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def names(*arguments: object) -> list[object]:
    return [run["name"] for run in listed(*arguments)]


def test_runs_are_listed_with_what_is_cheap(folder):
    first, *_ = listed(folder)
    assert first == {
        "directory": str(folder / "a"),
        "name": "seed-2",
        "state": "complete",
        "exit": None,
        "start_time": NOW.isoformat(),
        "duration_ns": 10_000,
        "command": "python train.py 'a b'",
        "headline": None,
        "finding": None,
        "note": "no tables yet",
    }
    assert not list(folder.rglob("tables"))


def test_they_are_sorted(folder):
    assert names(folder) == ["seed-2", "seed-1", "seed-0"]
    assert names(folder, "--sort", "name") == ["seed-0", "seed-1", "seed-2"]
    assert names(folder, "--sort", "directory") == ["seed-2", "seed-1", "seed-0"]
    lengths = [run["duration_ns"] for run in listed(folder, "--sort", "length")]
    assert lengths == sorted(lengths, reverse=True)
    assert len(set(lengths)) > 1


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--name", "seed-[12]"], ["seed-2", "seed-1"]),
        (["--name", "seed"], []),
        (["--since", "36h"], ["seed-2", "seed-1"]),
        (["--since", "1w"], ["seed-2", "seed-1", "seed-0"]),
        (["--since", (NOW - timedelta(hours=1)).isoformat()], ["seed-2"]),
        (["--since", (NOW - timedelta(days=9)).date().isoformat(), "--name", "*0"], ["seed-0"]),
    ],
)
def test_they_are_filtered(folder, options, found):
    assert names(folder, *options) == found


def test_one_with_tables_has_its_headline(folder, monkeypatch):
    with load(folder / "a") as trace:
        sentence = headline.read(trace).sentence
    (run,) = listed(folder / "a")
    assert (run["headline"], run["finding"], run["note"]) == (sentence, "", "")
    # From now on nobody asks the tables for it.
    monkeypatch.setattr(headline, "first_sentence", None)
    assert listed(folder / "a") == [run]
    # A headline that is of other tables is not believed: this one came with the trace.
    known = json.loads((folder / "a/tables/headline.json").read_text())
    known |= {"sentence": "All is well.", "finding": "", "manifest": [0, 0, 0]}
    (folder / "a/tables/headline.json").write_text(json.dumps(known))
    monkeypatch.undo()
    assert listed(folder / "a") == [run]


@pytest.mark.parametrize("verb", ["summary", "report"])
def test_who_looked_at_a_run_left_its_headline(folder, verb, monkeypatch):
    assert rlscope(verb, folder / "a").returncode == 0
    monkeypatch.setattr(headline, "first_sentence", None)
    assert listed(folder / "a")[0]["headline"]


@pytest.mark.parametrize(
    "damage", [b"", b"[]", b"{", b'{"manifest": 1}', b'{"manifest": 1, "sentence": ""}', b"\xff"]
)
def test_a_damaged_headline_is_read_again(folder, damage):
    load(folder / "a").close()
    (run,) = listed(folder / "a")
    (folder / "a/tables/headline.json").write_bytes(damage)
    assert listed(folder / "a") == [run]


def test_a_trace_that_changed_has_no_headline_until_it_is_analysed(folder):
    load(folder / "a").close()
    assert listed(folder / "a")[0]["headline"]
    describe(folder / "a", "renamed")
    assert listed(folder / "a")[0]["note"] == "no tables yet"


def test_the_first_sentence_is_that_of_the_whole_headline(tmp_path):
    example_run_root = tmp_path / "example"
    example_run_root.mkdir()
    example_run.write(example_run_root)
    with load(example_run_root) as trace:
        assert headline.first_sentence(trace) == headline.read(trace).sentence


def test_states(folder):
    (folder / "b/run.json").write_text("{")
    (folder / "more/c/processes.log").write_bytes(b"")
    (trace,) = (folder / "more/c/trace").iterdir()
    trace.write_bytes(trace.read_bytes()[:-40] + bytes(40))
    describe(folder / "a", "imported", imported={"from": ["trace.json"]})
    assert {run["directory"]: (run["state"], run["note"]) for run in listed(folder)} == {
        str(folder / "a"): ("imported", "no tables yet"),
        str(folder / "b"): ("damaged", "run.json is missing or damaged"),
        str(folder / "more/c"): ("damaged", "88 damaged bytes"),
    }


def test_a_run_of_which_nothing_can_be_read_is_listed(folder):
    (folder / "a/processes.log").write_bytes(b"")
    for file in (folder / "a/trace").iterdir():
        file.unlink()
    (run,) = listed(folder / "a")
    assert (run["name"], run["state"], run["duration_ns"]) == ("seed-2", "damaged", None)


def test_a_reader_sees_one_line_for_each(folder):
    load(folder / "a").close()
    done = rlscope("runs", folder, "--long")
    lines = done.stdout.splitlines()
    heads = ["directory", "name", "state", "began", "length", "first finding", "headline"]
    assert re.split("  +", lines[0]) == heads
    began = NOW.astimezone().strftime("%Y-%m-%d %H:%M")
    assert lines[1].split("  ")[0] == str(folder / "a")
    assert f"seed-2  complete  {began}  10.0 µs  " in lines[1]
    assert "completed only 1 iteration " in lines[1] and " Learning takes " in lines[1]
    assert lines[2] == "    python train.py 'a b'"
    assert "rlscope summary DIR" in lines[-1]


def test_a_terminal_gets_no_control_characters_and_no_long_lines(folder):
    load(folder / "a").close()
    describe(folder / "b", "evil\x1b[2J\n")
    done = rlscope("runs", folder, out=Terminal())
    assert all(line.isprintable() for line in done.stdout.split("\n"))
    assert done.stdout.splitlines()[1].endswith("…")


def test_a_folder_without_runs_is_an_empty_list(tmp_path):
    assert listed(tmp_path) == []
    assert_states_failure(rlscope("runs", tmp_path / "missing"), "cannot read", "No such file")


def test_wrong_usage(tmp_path):
    for arguments in (["--since", "yesterday"], ["--since", ""], ["--sort", "size"]):
        assert rlscope("runs", tmp_path, *arguments).returncode == 2


def test_what_is_looked_into(folder, tmp_path):
    find = [str(folder / place) for place in ("a", "b", "more/c")]
    for name in ("deep/1/2/3", "deep/1/2/3/4", ".hidden", "a/iterations-1", "environment"):
        (folder / name / "trace").mkdir(parents=True)
        (folder / name / "run.json").touch()
        (folder / name / "trace/python.1.2.3.rls").touch()
    (folder / "environment/inner").mkdir()
    (folder / "environment").rename(folder / "venv")
    (folder / "venv/pyvenv.cfg").touch()
    (folder / "venv/run.json").unlink()
    (folder / "venv/inner/processes.log").touch()
    (folder / "other").mkdir()
    (folder / "other/trace").mkdir()
    (folder / "other/run.json").touch()  # somebody else's
    (folder / "log").mkdir()
    (folder / "log/processes.log").touch()  # the same
    os.symlink(folder, folder / "loop")
    assert run_search.find(folder) == sorted([*find, str(folder / "deep/1/2/3")])


def test_a_headline_goes_with_its_run(folder):
    load(folder / "a").close()
    listed(folder / "a")
    assert (folder / "a/tables/headline.json").exists()
    old_run.remove_run(str(folder / "a"))
    assert not (folder / "a/tables").exists()

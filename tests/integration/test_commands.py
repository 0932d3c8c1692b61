"""Verbs that read a trace, as a user runs them; bad input is one line and exit 1."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.files.tiny_traces import load_checked, write_trace
from support.process.command_line import RLSCOPE, Done, Terminal, assert_states_failure, rlscope
from support.process.process_records import crc32c

from rlscope import registry

VERBS = (["query", "SELECT 1"], ["summary"], ["advise"], ["info"])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_trace("workers", tmp_path / "run")


@pytest.fixture
def locked(root: Path) -> Iterator[Path]:
    """The trace; the test may take away permissions."""
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("setpriv is needed to give up root's privileges")
    yield root
    root.chmod(0o755)


def ask(verb: list[str], root: Path) -> Done:
    return rlscope(verb[0], root, *verb[1:])


def ask_without_privilege(verb: list[str], root: Path) -> Done:
    """As a user to whom permissions apply: root passes over them, so it gives that right up."""
    drop = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    command = [*(drop if os.geteuid() == 0 else []), *RLSCOPE, verb[0], str(root), *verb[1:]]
    return subprocess.run(command, capture_output=True, text=True)


# ---- good input --------------------------------------------------------------------------------

STATEMENT = "SELECT operation, sum(duration_ns) AS ns FROM breakdown GROUP BY ALL ORDER BY ALL"
ANSWER = [
    ("(none)", 5_500),
    ("update", 8_000),
    ("update/backprop", 2_000),
    (r"update/step\/a", 500),
]


def test_query_prints_a_table(root):
    done = subprocess.run([*RLSCOPE, "query", root, STATEMENT], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    words = [line.split() for line in done.stdout.splitlines()]
    assert words[0] == ["operation", "ns"]
    assert words[2:] == [[path, str(ns)] for path, ns in ANSWER]


def test_query_prints_csv(root):
    done = rlscope("query", root, STATEMENT, "--format", "csv")
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows == [["operation", "ns"], *([path, str(ns)] for path, ns in ANSWER)]


@pytest.mark.parametrize("place", range(3))
def test_options_stand_anywhere(root, place):
    arguments = [root, "SELECT 7 AS n"]
    arguments[place:place] = ["--format", "csv"]
    done = rlscope("query", *arguments)
    assert (done.returncode, done.stdout) == (0, "n\n7\n"), done.stderr


def test_query_prints_json(root):
    done = rlscope("query", root, STATEMENT, "--format", "json")
    assert json.loads(done.stdout) == [{"operation": path, "ns": ns} for path, ns in ANSWER]


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.parquet"])
def test_query_writes_what_the_name_of_the_file_says(root, tmp_path, name):
    import duckdb

    done = rlscope("query", root, STATEMENT, "-o", tmp_path / name)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert duckdb.sql(f"FROM '{tmp_path / name}'").fetchall() == ANSWER


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_terminal_gets_no_control_characters(root, form):
    statement = "SELECT chr(27) || '[2J' || chr(155) AS a, 7 AS b"
    piped = rlscope("query", root, statement, "--format", form)
    shown = rlscope("query", root, statement, "--format", form, out=Terminal())
    assert (piped.returncode, shown.returncode) == (0, 0)
    assert all(line.isprintable() for line in shown.stdout.split("\n"))
    said = "(1 row)\n" if form == "table" else ""
    assert (f"{piped.stdout}{said}" == shown.stdout) == (form == "table")


def test_a_failure_is_told_without_control_characters(root):
    done = rlscope("query", root, "SELECT '\x1b[2J' FROM \"\x1b[2J\"")
    assert_states_failure(done, "\\x1b[2J")
    assert done.stderr.rstrip("\n").isprintable()


def test_query_reads_outside_of_the_trace_only_when_it_may(root, tmp_path):
    (tmp_path / "secret.txt").write_text("hush")
    statement = f"SELECT content FROM read_text('{tmp_path / 'secret.txt'}')"
    refused = rlscope("query", root, statement, "--format", "csv")
    assert_states_failure(refused, "only relations can be read", "--unrestricted")
    done = rlscope("query", root, statement, "--format", "csv", "--unrestricted")
    assert (done.returncode, done.stdout) == (0, "content\nhush\n")


def test_query_reads_the_statement_from_stdin(root):
    done = rlscope("query", root, "-", "--format", "csv", input="SELECT 7 AS n")
    assert done.stdout == "n\n7\n"


def test_schema_lists_relations_and_describes_columns():
    listed = rlscope("query", "anywhere", "--schema").stdout
    assert "Where the wall time of a process went" in listed
    described = rlscope("query", "anywhere", "--schema", "breakdown").stdout
    lines = [line.split(None, 2) for line in described.splitlines() if line.startswith("  ")]
    assert ["gpu_busy", "BOOLEAN"] in [line[:2] for line in lines]
    assert all(len(line) == 3 for line in lines)


def test_info_names_processes_sizes_and_what_is_unknown(root):
    done = rlscope("info", root)
    assert (done.returncode, done.stderr) == (0, "")
    for part in ("processes", "4243", "file_bytes", "lost or mended", "too few probes ran"):
        assert part in done.stdout


def test_summary_names_the_operations(root):
    done = rlscope("summary", root)
    assert (done.returncode, done.stderr) == (0, "")
    for part in ("update", "backprop", "python", "framework"):
        assert part in done.stdout


def test_a_summary_may_have_no_lines(root):
    assert rlscope("summary", root, "--lines=0").returncode == 0


@pytest.mark.parametrize("wrong", ["-1", "101", "ten", "1" * 5000])
def test_summary_refuses_what_is_no_number_of_lines(root, wrong):
    done = rlscope("summary", root, f"--lines={wrong}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected 0 to 100 lines, got" in done.stderr


def test_a_reader_that_goes_away_is_no_failure_of_ours(root):
    statement = "SELECT * FROM range(200000)"
    query = subprocess.Popen(
        [*RLSCOPE, "query", root, statement, "--format", "csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"},
    )
    query.stdout.read(10)
    query.stdout.close()
    assert query.stderr.read() == b""
    assert query.wait(60) == 128 + signal.SIGPIPE
    query.stderr.close()


# ---- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_no_such_directory(tmp_path, verb):
    assert_states_failure(ask(verb, tmp_path / "nothing"), "nothing")


@pytest.mark.parametrize("verb", [*VERBS, ["report"], ["export"]], ids=lambda verb: verb[0])
def test_a_path_that_no_directory_can_have(verb):
    assert_states_failure(rlscope(verb[0], "", *verb[1:]), "its path is empty")
    assert_states_failure(rlscope(verb[0], "a" * 300, *verb[1:]), "File name too long")
    assert_states_failure(rlscope(verb[0], "caf\udce9", *verb[1:]), "not UTF-8")


@pytest.mark.parametrize(
    "facts",
    [
        {"options": 3, "version": 4, "start_time": [], "host": {"cores": "many", "name": 5}},
        {"options": [], "host": {"cores": 10**30}, "name": "half \ud800"},
        {"command": ["train.py", "\udce9"], "host": 3, "environment": 4},
        {"environment": {"CUDA_INJECTION64_PATH": 5}, "host": {"cuda_driver": 6}},
    ],
)
def test_run_json_that_is_not_as_we_write_it_costs_its_facts_only(root, facts):
    described = {"format": "rlscope", "command": ["train.py"], **facts}
    (root / "run.json").write_text(json.dumps(described))
    (root / "machine.jsonl").write_text('{"time_ns": 1e999, "pid": {}, "metric": 3, "value": 1}\n')
    done = rlscope("info", root)
    assert (done.returncode, done.stderr) == (0, "")
    assert "train.py" in done.stdout


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_not_a_trace(tmp_path, verb):
    (tmp_path / "notes.txt").write_text("no trace")
    assert_states_failure(ask(verb, tmp_path), str(tmp_path))
    assert_states_failure(ask(verb, tmp_path / "notes.txt"), "notes.txt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt"]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_empty_files(root, verb):
    for path in [root / "processes.log", *(root / "trace").iterdir()]:
        path.write_bytes(b"")
    assert_states_failure(ask(verb, root), str(root))


def set_version(content: bytearray, version: int) -> None:
    """Gives every frame another version, and its CRC: csrc/trace/format/trace.proto."""
    start = 0
    while start < len(content):
        size, _, _ = struct.unpack_from("<III", content, start + 4)
        struct.pack_into("<H", content, start + 14, version)
        end = start + 16 + size
        struct.pack_into("<I", content, start + 8, crc32c(content[start + 12 : end]))
        start = end


def test_a_wrong_version_says_so(root):
    for path in (root / "trace").iterdir():
        content = bytearray(path.read_bytes())
        set_version(content, 0x7FFF)
        path.write_bytes(content)
    assert_states_failure(rlscope("info", root), "version 32767")


@pytest.mark.parametrize("kept", [0.3, 0.5, 0.9])
def test_truncated_files_show_what_is_left(root, kept):
    for path in (root / "trace").iterdir():
        content = path.read_bytes()
        path.write_bytes(content[: int(kept * len(content))])
    done = rlscope("info", root)
    assert (done.returncode, done.stderr) == (0, "")
    load_checked(root).close()


def test_files_without_an_intact_frame_are_no_trace(root):
    for path in (root / "trace").iterdir():
        path.write_bytes(path.read_bytes()[:20])
    assert_states_failure(rlscope("info", root), "no intact frame")


def test_a_flipped_bit_is_told(root):
    path = next((root / "trace").glob("*4243*"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)
    done = rlscope("info", root)
    assert (done.returncode, done.stderr) == (0, "")
    assert "damaged_bytes" in done.stdout


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_no_permission(locked, verb):
    locked.chmod(0)
    assert_states_failure(ask_without_privilege(verb, locked), str(locked), "ermission denied")


def test_a_trace_that_cannot_be_written_is_read(locked):
    query = ["query", "FROM breakdown", "--format", "csv"]
    locked.chmod(0o555)
    done = ask_without_privilege(query, locked)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (locked / "tables").exists()
    locked.chmod(0o755)
    assert done.stdout == ask(query, locked).stdout
    assert (locked / "tables").exists()


def test_one_process_that_cannot_be_read_is_told_and_the_others_are_shown(locked):
    file = next((locked / "trace").glob("*4243*"))
    file.chmod(0)
    done = ask_without_privilege(["info"], locked)
    assert (done.returncode, done.stderr) == (0, "")
    assert "4242" in done.stdout
    assert "ermission denied" in done.stdout


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("SELEC 1", "syntax error"),
        ("SELECT nothing FROM breakdown", "nothing"),
        ("SELECT * FROM nothing", "does not exist"),
        ("SELECT 'é' FROM \"", "unterminated"),
        ("", "empty"),
        ("-- nothing ;", "empty"),
        ("SELECT '\udce9'", "can't encode"),
    ],
)
def test_bad_sql(root, statement, part):
    assert_states_failure(rlscope("query", root, statement), part)
    failed = rlscope("query", root, statement, "--format", "parquet", "-o", root / "x.parquet")
    assert_states_failure(failed, "" if part == "empty" else part)
    assert not list(root.glob("x.parquet*"))


def test_an_output_that_cannot_be_written(root):
    for name in ("a.csv", "a.parquet"):
        path = root / "missing" / name
        assert_states_failure(rlscope("query", root, "SELECT 1", "-o", path), str(path))
    for path in (".", "/", "", root / "run.json" / "x", "a" * 255):
        failed = rlscope("query", root, "SELECT 1", "--format", "parquet", "-o", path)
        assert_states_failure(failed, "annot")
        assert_states_failure(rlscope("report", root, "-o", path), "cannot write ")


@pytest.mark.parametrize(
    "arguments",
    [["nothing"], ["--nothing", "info", "x"], ["info"], ["summary", "a", "b"], ["query"],
     ["query", "x"], ["query", "x", "y", "--schema"], ["query", "x", "y", "--format", "parquet"]],
)  # fmt: skip
def test_wrong_usage_is_exit_2_with_the_usage(arguments):
    done = rlscope(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: rlscope" in done.stderr


def test_alone_it_prints_its_help():
    done = rlscope()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == rlscope("--help").stdout
    assert "rlscope summary runs/ppo" in done.stdout


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        ("sumary", "no verb 'sumary'; did you mean summary?"),
        ("reports", "no verb 'reports'; did you mean report?"),
        ("zzz", f"no verb 'zzz'; there are: {', '.join(registry.names(registry.COMMANDS))}"),
    ],
)
def test_a_wrong_verb_names_the_one_that_was_meant(verb, said):
    done = rlscope(verb, "runs/ppo")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"rlscope: error: {said}\n")


def test_a_trace_without_a_verb_names_the_summary(root):
    assert rlscope(root).stderr.endswith(f"; did you mean rlscope summary {root}?\n")


def test_an_unknown_relation_of_the_schema():
    assert_states_failure(rlscope("query", "x", "--schema", "nothing"), "there are: run, host")


@pytest.mark.parametrize("moment", ["while it reads", "while it queries"])
def test_control_c_is_130_without_a_word(root, moment):
    code = f"""
import signal, sys, threading, time
from rlscope.commands import main

def press():  # again and again, as a user does who sees no effect: on a busy machine the first
    while True:  # one may come before the query runs
        time.sleep(2)
        signal.raise_signal(signal.SIGINT)

class Stdin:
    def read(self):
        if {moment!r} == "while it reads":
            signal.raise_signal(signal.SIGINT)
        threading.Thread(target=press, daemon=True).start()
        return "SELECT sum((a.range * b.range) % 7) FROM range(1000000) a, range(1000000) b"

sys.stdin = Stdin()
sys.exit(main(["query", {str(root)!r}, "-"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_command_does_not_import_pandas(root):
    """DuckDB would, for the parameter of a statement, wherever it is installed."""
    pytest.importorskip("pandas")
    code = "import sys; from rlscope.commands import main; main(); print(sys.modules['pandas'])"
    done = subprocess.run(
        [sys.executable, "-c", code, "summary", root], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "None")

"""`rlscope query`: how many rows it prints, statements of a file, the prompt, and several runs."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest
from support.files.facts import assert_says
from support.files.tiny_traces import write_trace
from support.process.command_line import Terminal, assert_states_failure, rlscope


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_trace("workers", tmp_path / "run")


@pytest.fixture(autouse=True)
def own_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state/rlscope/query_history"


# ---- how many rows -----------------------------------------------------------------------------

MANY = "SELECT range AS n FROM range(1000) ORDER BY n"


def numbers(text: str) -> list[int]:
    return [int(line) for line in text.split() if line.isdigit()]


def test_a_terminal_gets_the_first_rows_and_how_many_there_are(root):
    done = rlscope("query", root, MANY, out=Terminal())
    assert_says(done.stdout.splitlines()[-1], "1,000 rows", "first 40", "--limit 0")
    assert numbers(done.stdout.rpartition("(")[0]) == [*range(40)]


def test_who_reads_no_terminal_gets_every_row(root):
    done = rlscope("query", root, MANY)
    assert (numbers(done.stdout), done.stderr) == ([*range(1000)], "")


@pytest.mark.parametrize(("limit", "rows"), [(3, 3), (0, 1000), (1000, 1000), (5000, 1000)])
def test_a_limit_is_obeyed_everywhere(root, limit, rows):
    shown = rlscope("query", root, MANY, "--limit", limit, out=Terminal())
    piped = rlscope("query", root, MANY, "--limit", limit, "--format", "csv")
    assert numbers(piped.stdout) == [*range(rows)]
    assert shown.stdout.splitlines()[2:-1] == [f"{n:>{len(str(rows - 1))}}" for n in range(rows)]
    said = shown.stdout.splitlines()[-1]
    assert piped.stderr == (f"{said}\n" if rows == 3 else "")
    assert_says(said, "1,000 rows", *(("first 3", "--limit 0") if rows == 3 else ()))


def test_a_limit_leaves_csv_and_json_readable(root):
    done = rlscope("query", root, MANY, "--format", "json", "--limit", 2, out=Terminal())
    assert json.loads(done.stdout) == [{"n": 0}, {"n": 1}]
    assert "1,000 rows" in done.stderr


@pytest.mark.parametrize(
    "statement", ["DESCRIBE breakdown", "SHOW TABLES", "PIVOT process ON ended USING count(*)"]
)
def test_what_is_no_select_has_a_limit_too(root, statement):
    done = rlscope("query", root, statement, "--limit", 1)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 3), done.stderr


# ---- several statements ------------------------------------------------------------------------

STATEMENTS = """\
-- how many processes; and threads
SELECT count(*) AS processes FROM process;

SELECT ';' AS mark;
SELECT count(*) AS threads FROM thread -- the end
"""


def test_the_statements_of_a_file_are_answered_in_order(root, tmp_path):
    (tmp_path / "questions.sql").write_text(STATEMENTS)
    done = rlscope("query", root, "--file", tmp_path / "questions.sql")
    assert [each.split() for each in done.stdout.split("\n\n")] == [
        ["processes", "---------", "3"],
        ["mark", "----", ";"],
        ["threads", "-------", "3"],
    ]
    assert rlscope("query", root, STATEMENTS).stdout == done.stdout
    assert rlscope("query", root, "-", input=STATEMENTS).stdout == done.stdout
    written = rlscope("query", root, STATEMENTS, "-o", tmp_path / "answers.txt")
    assert written.returncode == 0
    assert (tmp_path / "answers.txt").read_text() == done.stdout


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_a_file_of_rows_has_those_of_one_statement(root, tmp_path, form):
    done = rlscope("query", root, STATEMENTS, "-o", tmp_path / f"x.{form}")
    assert_states_failure(done, f"{form} takes the rows of one statement, not of 3")
    assert not (tmp_path / f"x.{form}").exists()


def test_a_file_that_cannot_be_read(root, tmp_path):
    (tmp_path / "bytes.sql").write_bytes(b"SELECT '\xff'")
    (tmp_path / "empty.sql").write_text("-- nothing\n;")
    for name, said in [("none.sql", "No such file"), ("bytes.sql", "not text"), ("", "directory")]:
        assert_states_failure(rlscope("query", root, "--file", tmp_path / name), said)
    assert_states_failure(rlscope("query", root, "--file", tmp_path / "empty.sql"), "is empty")


@pytest.mark.parametrize(
    "arguments",
    [["SELECT 1", "--file", "x"], ["--file", "x", "--schema"], ["SELECT 1", "--limit", "-1"], []],
)
def test_wrong_usage(root, arguments):
    done = rlscope("query", root, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: rlscope query" in done.stderr


# ---- the prompt --------------------------------------------------------------------------------


def type_in(root: Path, *lines: str, runs: tuple[Path, ...] = ()) -> subprocess.CompletedProcess:
    typed = Terminal("".join(f"{line}\n" for line in lines))
    return rlscope("query", root, *runs, input=typed, out=Terminal())


def test_without_a_statement_a_prompt_answers_them(root):
    done = type_in(
        root, "", "SELECT ';' AS mark,", "  count(*) AS n", "FROM process; SELECT 8 AS n;"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("rlscope> ") == 3  # the first, after the blank line, after the answer
    assert done.stdout.count("    ...> ") == 2
    assert [line.split() for line in done.stdout.splitlines() if ";  " in line] == [[";", "3"]]
    assert done.stdout.count("(1 row)") == 2


def test_a_failure_at_the_prompt_is_one_line_and_it_goes_on(root):
    done = type_in(root, "SELEC 1;", "COPY process TO 'x.csv';", ".nothing", "SELECT 7 AS n;")
    assert done.returncode == 0
    assert [line.partition(": ")[0] for line in done.stderr.splitlines()] == ["rlscope"] * 3
    assert "syntax error" in done.stderr
    assert "COPY is not run" in done.stderr
    assert "no command .nothing; there are .tables" in done.stderr
    assert "7" in done.stdout


def test_the_prompt_describes_relations_and_ends(root):
    done = type_in(root, ".tables", ".schema breakdown", ".help", ".quit", "SELECT 7 AS n;")
    assert rlscope("query", root, "--schema").stdout in done.stdout
    assert rlscope("query", root, "--schema", "breakdown").stdout in done.stdout
    assert "Ctrl-D does the same" in done.stdout
    assert "(1 row)" not in done.stdout


PATIENCE = 24  # times that a terminal is silent, for five seconds each
# Its standard streams are its terminal, whose Ctrl-C it gets.
IN_TERMINAL = """
import fcntl, os, sys, termios
from rlscope.commands import main
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
sys.exit(main(sys.argv[1:]))
"""


def test_a_terminal_has_history_and_completion_and_control_c_drops_a_statement(root, own_history):
    terminal, child = pty.openpty()
    command = [sys.executable, "-c", IN_TERMINAL, "query", root]
    environ = {**os.environ, "TERM": "dumb"}
    with subprocess.Popen(command, stdin=child, stdout=child, stderr=child, env=environ) as shell:
        os.close(child)
        try:
            until(terminal, b"rlscope> ")
            os.write(terminal, b"SELECT 1 AS dropped\n")
            until(terminal, b"...> ")
            os.write(terminal, b"\x03")
            # Between a prompt and the wait for keys Python sees no signal until the next one.
            until(terminal, b"rlscope> ", again=b"\x03")
            os.write(terminal, b"SELECT count(*) AS kept FROM iteration_br\t;\n")
            answer = until(terminal, b"(1 row)\r\nrlscope> ")
            os.write(terminal, b"\x04")
            assert shell.wait(60) == 0
        finally:
            shell.kill()
            os.close(terminal)
    assert b"kept" in answer
    assert b"dropped" not in answer
    assert own_history.read_text().splitlines() == [
        "SELECT 1 AS dropped",
        "SELECT count(*) AS kept FROM iteration_breakdown;",
    ]


def until(terminal: int, wanted: bytes, again: bytes = b"") -> bytes:
    """What it shows up to the wanted text; `again` is typed whenever it shows nothing for long."""
    shown, silent = b"", 0
    while wanted not in shown:
        ready, _, _ = select.select([terminal], [], [], 5)
        if ready:
            shown += os.read(terminal, 1024)
            continue
        silent += 1
        assert silent < PATIENCE, shown
        os.write(terminal, again)
    return shown


# ---- several runs ------------------------------------------------------------------------------


@pytest.fixture
def seeds(tmp_path: Path) -> list[Path]:
    """Runs of two seeds, one with a GPU, one whose tables cannot be kept."""
    found = []
    for number, kind in enumerate(["workers", "gpu", "trainer"]):
        root = write_trace(kind, tmp_path / "runs" / f"seed-{number}")
        run = {"format": "rlscope", "name": f"seed {number}", "start_ns": number}
        (root / "run.json").write_text(json.dumps(run))
        found.append(root)
    (found[2] / "tables").write_text("a file where the folder should be")
    return found


def test_one_statement_reads_several_runs(seeds):
    statement = """
        SELECT name, sum(duration_ns) AS ns FROM breakdown JOIN run USING (run_id)
        GROUP BY name ORDER BY name
    """
    done = rlscope("query", *seeds, statement, "--format", "json")
    assert json.loads(done.stdout) == [
        {"name": "seed 0", "ns": 16_000},
        {"name": "seed 1", "ns": 8_000},
        {"name": "seed 2", "ns": 10_000},
    ], done.stderr


def test_several_runs_have_a_prompt_and_a_schema_with_run_id(seeds):
    done = type_in(seeds[0], ".schema run", "FROM run SELECT count(*) AS n;", runs=(*seeds[1:],))
    assert re.search(r"\n  directory +TEXT +trace directory", done.stdout)
    assert "3" in done.stdout.splitlines()[-3]
    described = rlscope("query", *seeds, "--schema", "breakdown").stdout.splitlines()
    assert described[2].split() == ["run_id", "TEXT", "run.run_id"]


def test_a_run_that_is_named_twice_or_is_none(seeds, tmp_path):
    twice = rlscope("query", seeds[0], seeds[1], seeds[0], "FROM run")
    assert_states_failure(twice, "both are traces of one run", str(seeds[0]))
    (tmp_path / "empty").mkdir()
    none = rlscope("query", seeds[0], tmp_path / "empty", "FROM run")
    assert_states_failure(none, str(tmp_path / "empty"))


def test_python_is_not_imported_for_what_a_prompt_needs():
    """--help and usage errors stay quick: readline, DuckDB and numpy come with the first use."""
    code = "import sys; import rlscope.commands.query; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not {"duckdb", "readline", "sqlalchemy", "numpy"} & set(done.stdout.split())

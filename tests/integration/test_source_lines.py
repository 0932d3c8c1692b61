"""Which lines of Python a program was in, against stopwatches inside of it."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from support.process.busy_lines import KINDS, make_program, read_lines, write_package
from support.process.known_lines import KNOWN, STOPWATCHES, check_lines, line_of
from support.process.traced_python import TracedPython, untraced_environment

import rlscope as rls


def test_lines_have_the_times_of_stopwatches(traced: TracedPython, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    printed = traced.record(str(tmp_path / "run"), script, KNOWN)
    check_lines(str(tmp_path / "run"), script, printed)


def test_intervals_hold_what_stopwatches_took(traced: TracedPython, tmp_path: Path) -> None:
    """A line of each kind. One interval in 20 may miss; six of 15 do so once in 20,000 runs."""
    kinds = list(KINDS)
    script = tmp_path / "train.py"
    environment = {**untraced_environment(), "PYTHONPATH": str(write_package(tmp_path))}
    program = make_program(kinds, 6, seed=1)
    directory = str(tmp_path / "run")
    printed = traced.record(directory, script, program, env=environment, timeout=300)
    found = read_lines(directory, script, kinds, printed)
    assert sum(each.is_inside for each in found) >= len(kinds) - 5, found
    assert all(0 < each.low_ns < each.own_ns < each.high_ns < each.whole_ns for each in found)


_FORKS = f"""\
import os
{STOPWATCHES}
import rlscope as rls


def child():
    for _ in range(50):
        with rls.operation("child"):
            spin(0.01)  # child


def parent():
    for _ in range(50):
        with rls.operation("parent"):
            spin(0.01)  # parent


pid = os.fork()
if pid == 0:
    child()
    os._exit(0)
parent()
os.waitpid(pid, 0)
"""


_ALONE = """\
import {library}

for _ in range(50):
    sorted(range(100_000), key=str)  # sorts
"""


@pytest.mark.parametrize("library", ["numpy", "random"])
def test_a_program_without_a_framework_has_lines(
    traced: TracedPython, tmp_path: Path, library: str
) -> None:
    """It makes no record, and reports nothing else."""
    text = _ALONE.format(library=library)
    traced.record(str(tmp_path / "run"), tmp_path / "train.py", text)
    with rls.load(str(tmp_path / "run")) as trace:
        rows = trace.sql("SELECT line, own_ns, operation FROM source_line WHERE is_own").to_dicts()
    hottest = max(rows, key=lambda row: row["own_ns"])
    assert (hottest["line"], hottest["operation"]) == (line_of(text, "sorts"), "(none)")


def test_a_fork_child_has_lines_of_its_own(traced: TracedPython, tmp_path: Path) -> None:
    traced.record(str(tmp_path / "run"), tmp_path / "train.py", _FORKS)
    with rls.load(str(tmp_path / "run")) as trace:
        rows = trace.sql(
            "SELECT process_id, operation, line FROM source_line "
            f"WHERE line IN ({line_of(_FORKS, 'child')}, {line_of(_FORKS, 'parent')}) "
            "AND operation IN ('child', 'parent') GROUP BY ALL"
        )
        found = {(operation, line): process for process, operation, line in rows}
    assert set(found) == {
        ("child", line_of(_FORKS, "child")),
        ("parent", line_of(_FORKS, "parent")),
    }
    assert len(set(found.values())) == 2


_THREADS = f"""\
import os
import sys
import threading
{STOPWATCHES}
import rlscope as rls


def work():
    with rls.operation("beside"):
        time.sleep(0.2)


for _ in range(4):
    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    with rls.operation("main"):
        spin(0.2)  # main
    for thread in threads:
        thread.join()
print("ready", flush=True)
while sys.argv[1:]:
    with rls.operation("main"):
        spin(0.01)  # until killed
"""


def test_threads_that_come_and_go_have_no_line_of_another(
    traced: TracedPython, tmp_path: Path
) -> None:
    traced.record(str(tmp_path / "run"), tmp_path / "train.py", _THREADS)
    with rls.load(str(tmp_path / "run")) as trace:
        ((function_count,),) = trace.sql(
            "SELECT COUNT(*) FROM source_line WHERE operation = 'main' AND function = 'work'"
        )
        ((main_ns, spin_ns),) = trace.sql(
            "SELECT (SELECT SUM(duration_ns) FROM breakdown WHERE operation = 'main'), "
            "SUM(total_ns) FROM source_line WHERE operation = 'main' AND function = 'spin' "
        )
    assert function_count == 0
    assert spin_ns == pytest.approx(main_ns, rel=0.1)


def test_a_program_that_is_killed_has_the_lines_until_then(
    traced: TracedPython, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(_THREADS)
    command = traced.command("-o", str(tmp_path / "run"), traced.python, str(script), "forever")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as prof:
        assert prof.stdout is not None and prof.stdout.readline() == "ready\n"
        (child,) = Path(f"/proc/{prof.pid}/task/{prof.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGKILL)
        prof.communicate(timeout=60)
    with rls.load(str(tmp_path / "run")) as trace:
        ((total_ns,),) = trace.sql(
            f"SELECT SUM(total_ns) FROM source_line WHERE line = {line_of(_THREADS, 'main')}"
        )
    assert total_ns > 0


_SUBINTERPRETER = f"""\
import _xxsubinterpreters
{STOPWATCHES}
import rlscope as rls

other = _xxsubinterpreters.create()
for _ in range(3):
    with rls.operation("work"):
        _xxsubinterpreters.run_string(other, "sum(range(5_000_000))")  # other
        spin(0.1)
_xxsubinterpreters.destroy(other)
"""


def test_code_of_another_interpreter_counts_for_the_line_that_runs_it(
    traced: TracedPython, tmp_path: Path
) -> None:
    pytest.importorskip("_xxsubinterpreters")
    traced.record(str(tmp_path / "run"), tmp_path / "train.py", _SUBINTERPRETER)
    with rls.load(str(tmp_path / "run")) as trace:
        ((total_ns, self_ns),) = trace.sql(
            "SELECT SUM(total_ns), SUM(self_ns) FROM source_line "
            f"WHERE line = {line_of(_SUBINTERPRETER, 'other')} AND operation = 'work'"
        )
    assert total_ns == self_ns > 0


def test_the_programs_own_files_are_kept_as_they_were(traced: TracedPython, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    program = _THREADS + "open(__file__, 'w').write('changed')\n"
    traced.record(str(tmp_path / "run"), script, program)
    assert script.read_text() == "changed"
    with rls.load(str(tmp_path / "run")) as trace:
        rows = trace.sql("SELECT line, text FROM source_text ORDER BY line")
        lines = [text for _, text in rows]
        ((files,),) = trace.sql("SELECT COUNT(DISTINCT file) FROM source_text")
    assert lines == program.splitlines()
    assert files == 1


def test_what_the_switches_leave_out(traced: TracedPython, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(_THREADS)
    for option, has_lines in (("--no-source-text", True), ("--no-stacks", False)):
        directory = str(tmp_path / option)
        result = traced.run(option, "-o", directory, traced.python, str(script))
        assert result.returncode == 0, result.stderr
        with rls.load(directory) as trace:
            ((lines,),) = trace.sql("SELECT COUNT(*) FROM source_line")
            ((texts,),) = trace.sql("SELECT COUNT(*) FROM source_text")
        assert (lines > 0, texts) == (has_lines, 0)

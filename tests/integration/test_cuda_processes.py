"""CUDA in processes that fork, spawn, exec and make threads: each has its own calls and work."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.cuda.runs import check_calls, check_work, record_cuda
from support.cuda.scripts import check_all, compile_library, record_script

FORK_FIRST = """
children = []
for ending in (sys.exit, os._exit):
    child = os.fork()
    if child == 0:
        begin()
        work()
        ending(0)
    children.append(child)
begin()
work()
for child in children:
    assert os.waitpid(child, 0)[1] == 0
"""


def test_forks_before_cuda_begins(tmp_path: Path) -> None:
    check_all(record_script(tmp_path, FORK_FIRST), 3)


CHILD_WITHOUT_CUDA = """
begin()
work()
child = {make_child}
if child == 0:
    status = cuda.cuMemAlloc_v2(byref(c_uint64()), c_size_t(64))
    os._exit(status)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
work()
"""
RAW_CLONE = "ctypes.CDLL(None).syscall(56, 17, 0, 0, 0, 0)"  # SIGCHLD, and no fork handlers


@pytest.mark.parametrize("make_child", ["os.fork()", RAW_CLONE])
def test_a_child_made_after_cuda_began_cannot_use_it(tmp_path: Path, make_child: str) -> None:
    run = record_script(tmp_path, CHILD_WITHOUT_CUDA.format(make_child=make_child))
    parent = run.outcome.calls(name="cuInit")[0]["pid"]
    check_calls(run, parent)
    check_work(run, parent)
    (child,) = {*run.pids()} - {parent}
    assert [call["status"] for call in run.calls(child).values()] == [3]  # not initialised
    assert not run.work(child)
    assert not run.query("SELECT * FROM loss")


FAILED_EXEC = """
import subprocess
begin()
for i in range(5):
    work(4)
    try:
        subprocess.Popen(["/no/such/program"])
        raise SystemExit("it exists")
    except FileNotFoundError:
        pass
"""


def test_children_whose_exec_fails_share_their_parents_memory(tmp_path: Path) -> None:
    check_all(record_script(tmp_path, FAILED_EXEC), 1)


CHILDREN = """
import multiprocessing, subprocess
if __name__ == "__main__":
    begin()
    work()
    spawned = multiprocessing.get_context("spawn")
    children = [spawned.Process(target=train) for _ in range(2)]
    for child in children: child.start()
    for child in children: child.join()
    assert [child.exitcode for child in children] == [0, 0]
    subprocess.run([sys.executable, __file__, "again"], check=True) if len(sys.argv) == 1 else None
"""


def test_spawned_children_and_subprocesses(tmp_path: Path) -> None:
    train = "\ndef train():\n    begin()\n    work()\n"
    check_all(record_script(tmp_path, train + CHILDREN), 6)


SHORT_THREADS = """
begin()
def act():
    primary()
    work(2)
for i in range(50):
    threads = [threading.Thread(target=act) for _ in range(10)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


def test_500_short_threads(tmp_path: Path) -> None:
    run = record_script(tmp_path, SHORT_THREADS)
    check_all(run, 1)
    assert len({row["tid"] for row in run.outcome.calls(name="cuLaunchKernel")}) == 500


LIVING_THREADS = """
begin()
ready = threading.Barrier(5)
def act():
    primary()
    work()
    ready.wait()
    time.sleep(100)
for i in range(4):
    threading.Thread(target=act, daemon=True).start()
ready.wait()
{ending}
"""


@pytest.mark.parametrize(
    "ending", ["sys.exit(0)", "os._exit(0)", "ctypes.CDLL(None).quick_exit(0)"]
)
def test_an_end_while_threads_live(tmp_path: Path, ending: str) -> None:
    run = record_script(tmp_path, LIVING_THREADS.format(ending=ending))
    check_calls(run, run.pids()[0])
    if "quick" not in ending:  # which runs no exit function of CUDA's clients
        check_work(run, run.pids()[0])


# Long enough after its work for it to have been read: five times a second.
KILLED = """
import signal
begin()
work()
time.sleep(1.5)
{death}
time.sleep(10)
"""


@pytest.mark.parametrize(
    ("death", "code"),
    [
        ("os.kill(os.getpid(), signal.SIGTERM)", -15),
        ("os.abort()", -6),
        ("ctypes.string_at(8)", -11),
        ("os.kill(os.getpid(), signal.SIGKILL)", -9),
    ],
)
def test_signals_that_end_a_process_lose_nothing_old(tmp_path: Path, death: str, code: int) -> None:
    run = record_script(tmp_path, KILLED.format(death=death), code=code)
    (pid,) = run.pids()
    check_calls(run, pid)
    check_work(run, pid)


def test_a_library_that_the_user_preloads_stays_first(tmp_path: Path) -> None:
    library = compile_library(tmp_path, "mine", "int mine(void) { return 42; }")
    script = """
begin()
work()
print(ctypes.CDLL(None).mine(), os.environ["LD_PRELOAD"].split(":")[0])
"""
    run = record_script(tmp_path, script, LD_PRELOAD=str(library))
    assert run.outcome.out == f"42 {library}\n"
    check_all(run, 1)


def test_an_unused_cuda_is_not_loaded(tmp_path: Path) -> None:
    script = """
maps = open("/proc/self/maps").read()
print("libcupti" in maps, "librlscope" in maps)
"""
    run = record_script(tmp_path, script)
    assert run.outcome.out == "False True\n"


@pytest.mark.parametrize("compiler", [["musl-gcc"], ["gcc", "-static"]])
def test_programs_without_glibc_run_unharmed(tmp_path: Path, compiler: list[str]) -> None:
    source, program = tmp_path / "plain.c", tmp_path / "plain"
    source.write_text('#include <stdio.h>\nint main(void) { puts("unharmed"); return 0; }')
    subprocess.run([*compiler, str(source), "-o", str(program)], check=True)
    run = record_cuda(tmp_path, [str(program)])
    assert run.outcome.out == "unharmed\n"


def test_a_setuid_program_runs_unharmed(tmp_path: Path) -> None:
    program = tmp_path / "setuid"
    program.write_bytes(Path("/bin/true").read_bytes())
    program.chmod(0o4755)
    assert record_cuda(tmp_path, [str(program)]).outcome.out == ""

"""Children of a traced program: each way to start one is in the trace, linked to its parent."""

import json
from typing import Any

import pytest
from support.process.traced_python import TracedPython

pytestmark = pytest.mark.usefixtures("clean_environment")

_BEGIN = """
import json, os, subprocess, sys, time
import rlscope as rls
def work(name):
    with rls.operation(name):
        time.sleep(0.001)
    return os.getpid(), os.getppid()
"""

_MULTIPROCESSING = (
    _BEGIN
    + """
import multiprocessing
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with rls.operation("parent"), context.Pool(2) as pool:
        told = pool.map(work, ["child_a", "child_b", "child_a", "child_b"], chunksize=1)
        pool.close()
        pool.join()
    print(json.dumps(sorted(set(map(tuple, told)))))
"""
)

_SUBPROCESS = (
    _BEGIN
    + """
if len(sys.argv) > 1:
    print(*work("child"))
else:
    work("parent")
    out = subprocess.run([sys.executable, __file__, "x"], capture_output=True, text=True).stdout
    print(json.dumps([[int(word) for word in out.split()]]))
"""
)

_FORK = (
    _BEGIN
    + """
work("parent")
pid = os.fork()
if pid == 0:
    work("child")
    os._exit(0)
os.waitpid(pid, 0)
print(json.dumps([[pid, os.getpid()]]))
"""
)

_POSIX_SPAWN = (
    _BEGIN
    + """
if len(sys.argv) > 1:
    work("child")
else:
    work("parent")
    pid = os.posix_spawn(sys.executable, [sys.executable, __file__, "x"], os.environ)
    os.waitpid(pid, 0)
    print(json.dumps([[pid, os.getpid()]]))
"""
)

_SHELL = (
    _BEGIN
    + """
if len(sys.argv) > 1:
    print(*work("child"))
else:
    work("parent")
    command = f"{sys.executable} {__file__} x; true"
    out = subprocess.run(["sh", "-c", command], capture_output=True, text=True).stdout
    print(json.dumps([[int(word) for word in out.split()]]))
"""
)

_EXEC = (
    _BEGIN
    + """
if len(sys.argv) > 1:
    pid, parent = work("after")
    print(json.dumps([[pid, parent]]))
else:
    work("before")
    os.execv(sys.executable, [sys.executable, __file__, "x"])
"""
)


def _run(
    traced: TracedPython, directory: str, program: str, path: Any, *arguments: str
) -> tuple[list[dict[str, Any]], list[list[int]], dict[int, set[str]]]:
    """Processes of the trace, the program's own pairs (pid, parent), operations by process."""
    said = traced.record(directory, path / "program.py", program, *arguments)
    from rlscope._trace import Directory

    trace = Directory(directory)
    operations = {
        process["index"]: set(trace.sweep(process["index"])["operation"]["name"]) - {"(none)"}
        for process in trace.processes
    }
    return trace.processes, json.loads(said), operations


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(traced: TracedPython, directory: str, tmp_path: Any, method: str) -> None:
    processes, told, operations = _run(traced, directory, _MULTIPROCESSING, tmp_path, method)
    by_pid = {process["os_pid"]: process for process in processes}
    assert told
    for pid, parent in told:
        child = by_pid[pid]
        assert processes[child["parent_index"]]["os_pid"] == parent
        assert operations[child["index"]] & {"child_a", "child_b"}
        assert child["python"]
    root = processes[0]
    assert root["parent_index"] is None
    assert operations[0] == {"parent"}
    assert all(process["parent_index"] is not None for process in processes[1:])


@pytest.mark.parametrize(
    ("program", "child_operations"),
    [
        (_SUBPROCESS, {"child"}),
        (_FORK, {"child"}),
        (_POSIX_SPAWN, {"child"}),
    ],
    ids=["subprocess", "fork", "posix_spawn"],
)
def test_child(
    traced: TracedPython,
    directory: str,
    tmp_path: Any,
    program: str,
    child_operations: set[str],
) -> None:
    processes, ((pid, parent),), operations = _run(traced, directory, program, tmp_path)
    root, child = processes
    assert (root["os_pid"], child["os_pid"]) == (parent, pid)
    assert (root["parent_index"], child["parent_index"]) == (None, 0)
    assert operations == {0: {"parent"}, 1: child_operations}


def test_grandchild_through_a_shell(traced: TracedPython, directory: str, tmp_path: Any) -> None:
    processes, ((pid, parent),), operations = _run(traced, directory, _SHELL, tmp_path)
    root, shell, child = processes
    assert (shell["os_pid"], child["os_pid"]) == (parent, pid)
    assert [process["parent_index"] for process in processes] == [None, 0, 1]
    assert operations == {0: {"parent"}, 1: set(), 2: {"child"}}
    assert (root["python"], shell["python"]) == (child["python"], None) or not shell["python"]


def test_exec_begins_another_image(traced: TracedPython, directory: str, tmp_path: Any) -> None:
    processes, ((pid, _),), operations = _run(traced, directory, _EXEC, tmp_path)
    assert [process["os_pid"] for process in processes] == [pid, pid]
    assert operations == {0: {"before"}, 1: {"after"}}


def test_program_without_annotations_has_its_row(traced: TracedPython, directory: str) -> None:
    traced.run("-o", directory, "sh", "-c", "true; /bin/echo x")
    from rlscope._trace import Directory

    shell, echo = Directory(directory).processes
    assert (shell["comm"], echo["comm"]) == ("sh", "echo")
    assert (shell["parent_index"], echo["parent_index"]) == (None, 0)
    assert (shell["ended"], echo["ended"]) == ("exit", "exit")

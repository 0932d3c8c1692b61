"""GPU time of lines of Python, on the simulated CUDA: kernels of known length."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.cuda.runs import CudaRun
from support.cuda.scripts import compile_library, record_script
from support.cuda.simcuda_runs import DECLARATIONS

from rlscope.opening import load

MS = 1_000_000
_CLOCK_NS = 500

# A library, by its place: the kernel is launched two of its frames below the program's line.
LIBRARY = (
    DECLARATIONS
    + """
def begin():
    check(cuda.cuInit(0))
    primary()
    global spin, own
    spin, own = kernel("sim_spin"), stream()

def run(milliseconds):
    enqueue(round(milliseconds * 1e6))

def enqueue(nanoseconds):
    launch(spin, on=own, argument=nanoseconds)

def finish():
    check(cuda.cuStreamSynchronize(own))
"""
)

PROGRAM = """
import os, sys, threading
import gpu_library as gpu
import rlscope as rls
gpu.begin()

def helper():
    gpu.run(2)  # helper

def recurse(depth):
    if depth:
        recurse(depth - 1)
    gpu.run(0.5)  # recursion

def generate():
    while True:
        gpu.run(0.25)  # generator
        yield

class Key:
    def __lt__(self, other):
        gpu.run(0.75)  # callback
        return False

def made(number):
    code = compile("gpu.run(0.5)", f"{sys.argv[0]}.{number}", "exec")
    exec(code, {"gpu": gpu})

generator = generate()
for _ in range(4):
    with rls.operation("train"):
        gpu.run(1)  # direct
        helper()  # calls helper
        recurse(3)
        next(generator)
        sorted([Key(), Key()])
        gpu.run(1); gpu.run(3)  # twice
        thread = threading.Thread(target=lambda: gpu.run(1.5))  # thread
        thread.start()
        thread.join()
for number in range(6):
    made(number)
gpu.finish()
"""
LAUNCHED = {
    "direct": 4 * 1, "helper": 4 * 2, "recursion": 4 * 4 * 0.5, "generator": 4 * 0.25,
    "callback": 4 * 0.75, "twice": 4 * 4, "thread": 4 * 1.5,
}  # fmt: skip


def record(folder: Path, program: str, **options: Any) -> CudaRun:
    packages = folder / "site-packages"
    packages.mkdir()
    (packages / "gpu_library.py").write_text(LIBRARY)
    path = f"import sys\nsys.path.insert(0, {str(packages)!r})\n"
    return record_script(folder, path + program, **options)


def line_of(folder: Path, mark: str) -> int:
    lines = (folder / "script.py").read_text().splitlines()
    (line,) = (number for number, text in enumerate(lines, 1) if text.endswith(f"  # {mark}"))
    return line


def by_line(run: CudaRun, column: str = "gpu_ns") -> Counter[tuple[str | None, int | None]]:
    with load(run.directory) as trace:
        rows = trace.sql(
            f"SELECT file, line, SUM({column}) FROM source_line WHERE layer = 'gpu' GROUP BY ALL"
        )
        return Counter({(file, line): total for file, line, total in rows})


def is_about(found_ns: int, milliseconds: float) -> bool:
    """Whether it is that time, but for the conversion of the clock of some kernels."""
    return abs(found_ns - milliseconds * MS) <= _CLOCK_NS


def check_sums(run: CudaRun) -> None:
    """Lines and stacks have together what the breakdown and the calls have."""
    with load(run.directory) as trace:
        ((busy_ns,),) = trace.sql("SELECT SUM(duration_ns) FROM breakdown WHERE gpu_busy")
        ((calls,),) = trace.sql("SELECT SUM(calls) FROM api_call")
        for relation in ("source_line", "stack_time"):
            rows = trace.sql(f"SELECT SUM(gpu_ns), SUM(calls) FROM {relation}")
            assert list(rows) == [(busy_ns, calls)], relation
        ((wait_ns,),) = trace.sql("SELECT SUM(wait_ns) FROM source_line")
        ((waited_ns,),) = trace.sql("SELECT SUM(duration_ns) FROM breakdown WHERE layer = 'wait'")
        assert wait_ns == (waited_ns or 0)


def test_kernels_belong_to_the_lines_that_launched_them(tmp_path: Path) -> None:
    run = record(tmp_path, PROGRAM)
    script = str(tmp_path / "script.py")
    found = by_line(run)
    for mark, milliseconds in LAUNCHED.items():
        assert is_about(found.pop((script, line_of(tmp_path, mark))), milliseconds), mark
    # Each of the code objects lies, perhaps, where the one before was.
    for number in range(6):
        assert is_about(found.pop((f"{script}.{number}", 1)), 0.5)
    assert not +found
    check_sums(run)
    assert not run.query("SELECT * FROM loss")


def test_a_line_has_all_that_was_launched_below_it_once(tmp_path: Path) -> None:
    run = record(tmp_path, PROGRAM)
    found = by_line(run, "total_gpu_ns")
    script, library = str(tmp_path / "script.py"), str(tmp_path / "site-packages/gpu_library.py")
    assert is_about(found[script, line_of(tmp_path, "calls helper")], 8)
    assert is_about(found[script, line_of(tmp_path, "recursion")], 8)
    launch = LIBRARY.splitlines().index("    launch(spin, on=own, argument=nanoseconds)") + 1
    assert is_about(found[library, launch], sum(LAUNCHED.values()) + 3)


def test_operation_and_stage_are_those_of_the_call(tmp_path: Path) -> None:
    run = record(tmp_path, PROGRAM)
    with load(run.directory) as trace:
        rows = trace.sql(
            "SELECT DISTINCT stage, operation FROM source_line"
            " WHERE layer = 'gpu' AND file = $script AND gpu_ns > 0",
            {"script": str(tmp_path / "script.py")},
        )
        assert list(rows) == [("loop", "train")]


WORKER = """
#include <pthread.h>
#include <stddef.h>
static void* run(void* call) { ((void (*)(void))call)(); return NULL; }
void in_thread(void (*call)(void)) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, (void*)call);
  pthread_join(thread, NULL);
}
typedef int (*Launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      void*, void**, void**);
typedef int (*Bind)(void*);
static Launch launch; static Bind bind; static void *kernel, *stream, *context;
static unsigned long long nanoseconds;
void prepare(Launch launches, Bind binds, void* function, void* on, void* within) {
  launch = launches, bind = binds, kernel = function, stream = on, context = within;
}
static void once(void) {
  void* arguments[] = {&nanoseconds};
  bind(context);
  launch(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
}
void launch_in_thread(unsigned long long duration) { nanoseconds = duration; in_thread(once); }
"""

NO_PYTHON = """
import ctypes, sys
import gpu_library as gpu
gpu.begin()
worker = ctypes.CDLL({library!r})
context = ctypes.c_void_p()
gpu.check(gpu.cuda.cuCtxGetCurrent(ctypes.byref(context)))
address = lambda function: ctypes.cast(function, ctypes.c_void_p)
worker.prepare(address(gpu.cuda.cuLaunchKernel), address(gpu.cuda.cuCtxSetCurrent), gpu.spin,
               gpu.own, context)
worker.launch_in_thread.argtypes = [ctypes.c_uint64]

def backward(*outputs):
    worker.launch_in_thread(2_000_000)

def other(*outputs):
    worker.launch_in_thread(3_000_000)

from rlscope.auto.calls import watch_global
watch_global("backward", backward, sys.modules["__main__"])
backward()  # backward
other()
gpu.run(1)  # own
backward()  # again
gpu.finish()
"""


def test_a_thread_without_python_works_for_the_line_of_the_backward(tmp_path: Path) -> None:
    library = str(compile_library(tmp_path, "worker", WORKER))
    run = record(tmp_path, NO_PYTHON.format(library=library))
    found = +by_line(run)
    script = str(tmp_path / "script.py")
    # Of a backward the line is that of its first frame in Python, or of its caller.
    assert is_about(found.pop((script, line_of(tmp_path, "own"))), 1)
    assert is_about(found.pop((None, None)), 3)
    assert is_about(sum(found.values()), 4)
    lines = {line_of(tmp_path, mark) for mark in ("backward", "again")}
    assert {line for file, line in found} == lines
    check_sums(run)


FORKS = """
import os
import gpu_library as gpu
import rlscope as rls

def child():
    gpu.begin()
    gpu.run(2)  # child
    gpu.finish()

if os.fork() == 0:
    child()
    os._exit(0)
os.wait()
gpu.begin()
gpu.run(1)  # parent
gpu.finish()
pid = os.fork()
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
"""


def test_fork_children_have_lines_of_their_own(tmp_path: Path) -> None:
    run = record(tmp_path, FORKS)
    found = +by_line(run)
    script = str(tmp_path / "script.py")
    assert is_about(found.pop((script, line_of(tmp_path, "child"))), 2)
    assert is_about(found.pop((script, line_of(tmp_path, "parent"))), 1)
    assert not found
    check_sums(run)


def test_work_that_runs_at_once_is_of_what_began_first(tmp_path: Path) -> None:
    program = """
import gpu_library as gpu
gpu.begin()
other = gpu.stream()
gpu.run(300)  # first
gpu.own = other
gpu.run(400)  # second
gpu.finish()
"""
    run = record(tmp_path, program)
    with load(run.directory) as trace:
        rows = trace.sql(
            "SELECT start_ns, start_ns + duration_ns FROM event"
            " WHERE layer = 'gpu' AND name = 'sim_spin' ORDER BY start_ns"
        )
        (first, first_ends), (second, second_ends) = rows
    found = by_line(run)
    script = str(tmp_path / "script.py")
    assert found[script, line_of(tmp_path, "first")] == first_ends - first
    assert found[script, line_of(tmp_path, "second")] == second_ends - max(second, first_ends)
    check_sums(run)


CALLS = """
static volatile long made;
long so_far(void) { return made; }
void query(int (*call)(void*), void* event, long times) {
  for (long i = 0; i < times; i++) call(event), made++;
}
"""

ENDS = """
import ctypes, threading
import gpu_library as gpu
gpu.begin()
calls = ctypes.CDLL({library!r})
event = gpu.event()
function = ctypes.cast(gpu.cuda.cuEventQuery, ctypes.c_void_p)

def ask():
    calls.query(function, event, ctypes.c_long(400_000))  # asks

for _ in range(4):
    threading.Thread(target=ask, daemon=True).start()
while calls.so_far() < 1000:
    pass
"""


def test_threads_that_call_while_python_ends_do_no_harm(tmp_path: Path) -> None:
    """Their frames are freed while they are in C code that calls CUDA."""
    library = str(compile_library(tmp_path, "calls", CALLS))
    run = record(tmp_path, ENDS.format(library=library))
    lines = by_line(run, "calls")
    assert lines[str(tmp_path / "script.py"), line_of(tmp_path, "asks")] > 0
    with load(run.directory) as trace:
        ((calls,),) = trace.sql("SELECT SUM(calls) FROM api_call")
    assert sum(lines.values()) == calls


@pytest.mark.parametrize("option", ["--no-stacks", "--cuda=off"])
def test_what_the_switches_leave_out(tmp_path: Path, option: str) -> None:
    run = record(tmp_path, PROGRAM, prof=(option,))
    assert not by_line(run, "calls")


def test_a_call_below_too_many_frames_is_a_loss(tmp_path: Path) -> None:
    program = """
import sys
import gpu_library as gpu
gpu.begin()
sys.setrecursionlimit(5000)

def dive(depth):
    if depth:
        dive(depth - 1)
    else:
        gpu.run(2)

dive(500)
dive(1100)
gpu.finish()
"""
    run = record(tmp_path, program)
    found = +by_line(run)
    assert is_about(found.pop((None, None)), 2)
    assert is_about(sum(found.values()), 2)
    (loss,) = run.query("SELECT kind, count FROM loss")
    assert loss == {"kind": "call_site", "count": 1}
    check_sums(run)


def test_a_killed_process_keeps_its_lines(tmp_path: Path) -> None:
    program = """
import os, signal, time
import gpu_library as gpu
gpu.begin()
for _ in range(50):
    gpu.run(0.1)  # line
gpu.finish()
time.sleep(1.5)
os.kill(os.getpid(), signal.SIGKILL)
"""
    run = record(tmp_path, program, code=-9)
    found = +by_line(run)
    assert set(found) == {(str(tmp_path / "script.py"), line_of(tmp_path, "line"))}
    check_sums(run)


def test_programs_without_cuda_have_no_rows(tmp_path: Path) -> None:
    run = record(tmp_path, "print(1)\n")
    assert not by_line(run, "calls")

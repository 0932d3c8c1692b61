"""Tables of some rows per operation, event or iteration are streamed: memory does not grow with
their number."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.files.dense_run import write

# Most memory that is no page of a file, in KiB, at the end of each step.
PROGRAM = """
import sys, threading
from rlscope.opening import load

def anonymous():
    with open("/proc/self/status") as status:
        fields = dict(line.split(":", 1) for line in status)
    return sum(int(fields[name].split()[0]) for name in ("RssAnon", "RssShmem"))

def watch(done, most):
    while not done.wait(0.002):
        most[0] = max(most[0], anonymous())

most, done = [0], threading.Event()
watcher = threading.Thread(target=watch, args=(done, most))
watcher.start()
with load(sys.argv[1]) as trace:
    trace.sql("SELECT count(*) FROM event")
done.set()
watcher.join()
print(most[0])
"""
# From some 100,000 passes on, all buffers are full; before, not in each run.
FEW, MANY = 100_000, 250_000
# A pass of the loop is four events; held at once they took 1,400 bytes, and the rows of
# iteration_breakdown another 400. Its iteration and its report of progress are held: 100 bytes.
MOST_BYTES_A_PASS = 250


def most_memory(folder: Path, passes: int) -> int:
    write(folder, passes)
    (folder / "machine.jsonl").unlink()  # a sample each pass, where a run has one a second
    program = folder / "program.py"  # with -c, DuckDB takes its user for an interactive one
    program.write_text(PROGRAM)
    command = [sys.executable, str(program), str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return int(done.stdout) * 1024


def test_memory_does_not_grow_with_the_trace(tmp_path: Path) -> None:
    few, many = (most_memory(tmp_path / str(passes), passes) for passes in (FEW, MANY))
    assert (many - few) / (MANY - FEW) < MOST_BYTES_A_PASS, (few, many)

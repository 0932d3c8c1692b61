"""What a real interpreter runs as it ends."""

from __future__ import annotations

import json

from support.process.automatic_programs import ENVIRONMENT
from support.process.recorded_child import record

from rlscope.opening import load

_PROGRAM = """
import atexit, functools, threading, time
import rlscope.auto
rlscope.auto.begin()

def flush(seconds):
    time.sleep(seconds)

def forgotten():
    print("ran")

atexit.register(functools.partial(flush, 0.05))
assert atexit.register(forgotten) is forgotten
atexit.unregister(forgotten)

@atexit.register
def last():
    time.sleep(0.02)

def rest():
    threading.main_thread().join()  # it ends where the interpreter begins to
    time.sleep(0.1)

threading.Thread(target=rest).start()
"""


def test_the_end_says_which_functions_ran_and_that_threads_were_joined(directory: str) -> None:
    recorded = record(directory, _PROGRAM)
    assert "ran" not in recorded.output
    parts = json.loads(recorded.process()["metadata"]["rlscope.ending"])
    least = {("threads", ""): 100_000_000, ("exit function", "__main__.flush"): 50_000_000,
             ("exit function", "__main__.last"): 20_000_000}  # fmt: skip
    found = {(what, function): ns for what, function, _, ns in parts}
    assert found.keys() == least.keys()
    assert all(found[part] >= ns for part, ns in least.items())
    begins = [begin for _, _, begin, _ in sorted(parts, key=lambda part: part[2])]
    assert begins[0] == next(begin for what, _, begin, _ in parts if what == "threads")


_FAILS = """
import atexit

def fails():
    raise ValueError("as it should")

atexit.register(fails)
try:
    atexit.register(7)
except TypeError as error:
    print(error)
"""


def test_an_exit_function_that_fails_is_named_as_without_rlscope(directory: str) -> None:
    script = _FAILS + "import sys\nsys.unraisablehook = lambda hooked: print(hooked.object)\n"
    output = record(directory, script).output
    assert "must be callable" in output
    assert "<function fails at" in output


_CLOSES = """
class Slow(Env):
    def close(self):
        time.sleep(0.05)

import time
env = Slow()
env.step(0)
forward()
env.step(0)
env.close()
"""


def test_the_close_of_an_environment_is_an_operation_after_the_loop(directory: str) -> None:
    record(directory, ENVIRONMENT + _CLOSES)
    with load(directory) as trace:
        rows = trace.sql("SELECT stage, SUM(duration_ns) FROM breakdown"
                         " WHERE operation = 'closing' GROUP BY ALL")  # fmt: skip
        ((stage, ns),) = rows
    assert stage == "end"
    assert ns >= 50_000_000

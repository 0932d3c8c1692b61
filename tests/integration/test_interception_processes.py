"""Native calls around the making of a process."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.process.recorded_process import difference
from support.process.sample_calls import counts_of_process, run
from support.process.traced_python import TracedPython, untraced_environment

from rlscope.opening import load


@pytest.mark.parametrize("how", ["sample.fork_here()", "os.fork()"])
def test_fork_inside_a_call(directory: str, library: str, how: str) -> None:
    trace = run(
        directory,
        library,
        f"""
        child = None
        def fork():
            global child
            child = {how}
            sample.noargs()
        sample.call_no_arguments(fork)
        sample.one(1)
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        """,
    )
    parent, child = (counts_of_process(trace, number) for number in range(2))
    assert (parent["noargs"], parent["one"], parent["call_no_arguments"]) == (1, 1, 1)
    assert (child["noargs"], child["one"], child["call_no_arguments"]) == (1, 1, 0)
    assert difference(trace, 0) is None
    assert difference(trace, 1) is None


SPAWNING = """
import multiprocessing, sys
sys.path.insert(0, {folder!r})

def work(number):
    import sample
    for _ in range(number):
        sample.noargs()
    sample.call_no_arguments(lambda: sample.one(1))

if __name__ == "__main__":
    import sample
    context = multiprocessing.get_context({method!r})
    children = [context.Process(target=work, args=(number,)) for number in (300, 400)]
    for child in children:
        child.start()
    sample.fast()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0]
"""
CALLS = """
SELECT process_id, array_agg((function, calls::INT) ORDER BY function)
FROM native_call GROUP BY process_id ORDER BY process_id
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing_count_their_own(
    traced: TracedPython, directory: str, library: str, tmp_path: Path, method: str
) -> None:
    program = tmp_path / "program.py"
    program.write_text(SPAWNING.format(folder=str(Path(library).parent), method=method))
    options = ["-o", directory, "--simulator", "sample"]
    environ = untraced_environment() | {"RLSCOPE_GC": "0"}  # collections come when they like
    done = traced.run(*options, traced.python, str(program), env=environ)
    assert done.returncode == 0, done.stderr
    with load(directory) as trace:
        found = [sorted(calls) for _, calls in trace.sql(CALLS)]
    nested = [("sample:call_no_arguments", 1)]
    children = [[*nested, ("sample:noargs", count), ("sample:one", 1)] for count in (300, 400)]
    assert sorted(found) == sorted([[("sample:fast", 1)], *children])

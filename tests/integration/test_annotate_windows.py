"""What phases, iterations and windows leave in the trace, and a program's own metadata."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from textwrap import dedent
from typing import Any

from support.process.recorded_child import PYTHON, environment, read, record

from rlscope import _runtime
from rlscope.record.profile import prepare_directory, traced_environment

IMPORT = "import rlscope as rls\n"


def test_a_phase_brings_back_the_one_before(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls
        training = rls.phase("training")
        with rls.phase("collection"):
            with training:
                with training:
                    pass
        """,
    )
    assert [subject for what, subject in trace.records() if what == "phase"] == [
        "collection", "training", "training", "training", "collection", None,
    ]  # fmt: skip


def test_iterations_of_a_second_thread_are_ignored_and_counted(directory: str) -> None:
    trace = record(
        directory,
        """
        import threading
        import rlscope as rls
        for _ in range(3):
            rls.iteration()
        thread = threading.Thread(target=rls.iteration)
        thread.start()
        thread.join()
        """,
    )
    assert trace.records().count(("iteration", 0)) == 3
    losses = {row["kind"]: row["count"] for row in trace.reader.losses(trace.process()["index"])}
    assert losses["iteration_of_other_thread"] == 1


def test_progress_and_metadata(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls

        class Odd:
            def __repr__(self):
                raise RuntimeError

        rls.progress(50, 200)
        rls.progress(0.5, total=1)
        rls.metadata(env="CartPole-v1", lr=3e-4, layers=[64, 64], nan=float("nan"), odd=Odd())
        rls.metadata(env="Pong")
        """,
    )
    assert trace.records() == [("total", 200.0), ("done", 50.0), ("total", 1.0), ("done", 0.5)]
    metadata = {key: json.loads(text) for key, text in trace.process()["metadata"].items()}
    assert metadata["env"] == "Pong"
    assert metadata["lr"] == 3e-4
    assert metadata["layers"] == [64, 64]
    assert metadata["nan"] == "nan"
    assert metadata["odd"] == "<Odd>"


def test_process_name(directory: str) -> None:
    trace = record(directory, IMPORT + "rls.process('learner')")
    assert trace.process()["name"] == "learner"


def test_stop_and_start_make_windows(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls
        with rls.phase("training"):
            rls.stop()
            with rls.operation("unseen"):
                pass
            rls.start()
            rls.start()
            with rls.operation("seen"):
                pass
        """,
    )
    assert trace.records() == [
        ("phase", "training"),
        ("stop", 0),
        ("start", 0),
        ("phase", "training"),
        ("enter", "seen"),
        ("exit", "seen"),
        ("phase", None),
    ]


def test_a_process_that_is_held_out_records_in_none_of_its_windows(directory: str) -> None:
    """Held out and stopped are reasons beside each other; the phase is known when both are gone."""
    trace = record(
        directory,
        """
        import rlscope as rls
        from rlscope.recorder import runtime
        def work(name):
            with rls.operation(name):
                pass
        work("first")
        runtime.hold(True)
        work("unseen")
        rls.stop()
        with rls.phase("training"):
            runtime.hold(False)
            work("unseen")
            runtime.hold(True)
            rls.start()
            work("unseen")
            runtime.hold(False)
            runtime.hold(False)
            work("second")
        """,
    )
    assert trace.records() == [
        ("enter", "first"),
        ("exit", "first"),
        ("stop", 0),
        ("start", 0),
        ("phase", "training"),
        ("enter", "second"),
        ("exit", "second"),
        ("phase", None),
    ]


def test_iterations_are_followed_by_the_thread_that_counts_them(directory: str) -> None:
    """What the follower raises comes from there: it may be of a signal handler of the program."""
    trace = record(
        directory,
        """
        import threading
        import rlscope as rls
        from rlscope.recorder import runtime
        seen = []
        runtime.follow_iterations(lambda: seen.append(threading.get_ident()))
        rls.iteration()
        rls.iteration()
        thread = threading.Thread(target=rls.iteration)
        thread.start()
        thread.join()
        assert seen == [threading.get_ident()] * 2
        def fails():
            seen.append("fails")
            raise RuntimeError("of a handler")
        runtime.follow_iterations(fails)
        try:
            rls.iteration()
        except RuntimeError as error:
            seen.append(str(error))
        runtime.follow_iterations(None)
        rls.iteration()
        assert seen[2:] == ["fails", "of a handler"]
        """,
    )
    assert trace.records().count(("iteration", 0)) == 4


def test_a_task_that_began_to_run_between_windows_is_known_at_its_next_annotation(
    directory: str,
) -> None:
    trace = record(
        directory,
        """
        import asyncio
        import rlscope as rls

        async def stops(stopped):
            with rls.operation("first"):
                pass
            rls.stop()
            stopped.set()

        async def starts(stopped):
            await stopped.wait()
            with rls.operation("unseen"):
                pass
            rls.start()
            with rls.operation("second"):
                pass

        async def main():
            stopped = asyncio.Event()
            await asyncio.gather(stops(stopped), starts(stopped))

        asyncio.run(main())
        """,
    )
    records = trace.records()
    began = records.index(("start", 0))
    entered = records.index(("enter", "second"))
    tasks = [subject for what, subject in records[:began] if what == "task" and subject]
    behind = [subject for what, subject in records[began:entered] if what == "task"]
    assert behind and behind[-1] not in (0, *tasks)


def test_a_window_of_the_wrapper_knows_its_phase(directory: str) -> None:
    trace = record(
        directory,
        """
        import rlscope as rls
        with rls.phase("training"):
            for number in range(3):
                rls.iteration()
                with rls.operation(f"step {number}"):
                    pass
        """,
        recording=False,
        delay_iterations=1,
        iterations=1,
    )
    assert trace.operations() == ["+step 1", "-step 1"]
    assert ("phase", "training") in trace.records()


# Enters an operation, in the main thread, a thread and a fork child, for each line that it reads.
ASKED = """
    import os, sys, threading
    import rlscope as rls

    def enter(name):
        with rls.operation(name):
            pass

    for line in sys.stdin:
        for _ in range(1000):
            enter("main " + line.strip())
        thread = threading.Thread(target=enter, args=["thread " + line.strip()])
        thread.start()
        thread.join()
        if os.fork() == 0:
            enter("child " + line.strip())
            os._exit(0)
        os.wait()
        print("done", flush=True)
"""


def test_a_window_that_the_wrapper_opens_is_seen_by_the_next_annotation(directory: str) -> None:
    drainer = _runtime.Drainer(prepare_directory(directory))
    drainer.start(recording=False)
    try:
        environ = environment()
        traced = {**environ, **traced_environment(directory, environ)}
        command = [PYTHON, "-c", dedent(ASKED)]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, env=traced, **pipes) as child:
            assert child.stdin is not None and child.stdout is not None
            for number, on in enumerate([False, True, False, True]):
                drainer.set_recording(on)
                print(f"{number} {on}", file=child.stdin, flush=True)
                assert child.stdout.readline() == "done\n"
    finally:
        drainer.stop()
    trace = read(directory)
    entered = Counter(
        subject
        for process, row in enumerate(row for row in trace.reader.processes if row["python"])
        for thread in trace.reader.threads(row["index"])["thread"]
        for what, subject in trace.records(process, int(thread))
        if what == "enter"
    )
    assert entered == {
        f"{where} {number} True": count
        for number in (1, 3)
        for where, count in [("main", 1000), ("thread", 1), ("child", 1)]
    }


def test_exit_after_iterations_raises_in_the_main_thread(directory: str) -> None:
    trace = record(
        directory,
        """
        import sys
        import rlscope as rls
        try:
            for number in range(10):
                rls.iteration()
        except SystemExit as exit:
            print(number, exit.code)
        """,
        exit_after=4,
    )
    assert trace.output == "4 0\n"


def test_exit_after_iterations_of_a_worker_ends_the_program(directory: str) -> None:
    trace = record(
        directory,
        """
        import threading, time
        import rlscope as rls

        def loop():
            for number in range(1_000_000):
                print(number, flush=True)
                rls.iteration()

        worker = threading.Thread(target=loop)
        worker.start()
        worker.join()
        for _ in range(1000):
            time.sleep(0.01)
        print("never")
        """,
        exit_after=2,
    )
    assert trace.output == "0\n1\n2\n"

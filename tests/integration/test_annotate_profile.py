"""`with rls.profile(directory)`: recording without the wrapper."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.process.recorded_child import environment, read, record, run

ROOT = Path(__file__).resolve().parent.parent.parent


def test_a_plain_process_records_the_block(directory: str) -> None:
    run(
        f"""
        import os
        import rlscope as rls
        before = dict(os.environ)
        with rls.operation("outside"):
            pass
        with rls.profile({directory!r}, name="mine"):
            assert os.environ["RLSCOPE_DIR"] == {directory!r}
            with rls.operation("inside"):
                pass
        assert dict(os.environ) == before
        with rls.operation("outside"):
            pass
        """
    )
    assert read(directory).operations() == ["+inside", "-inside"]
    described = json.loads(Path(directory, "run.json").read_text())
    assert described["format"] == "rlscope"
    assert described["name"] == "mine"
    assert described["options"] == {"profile": True}
    assert abs(described["start_ns"] - time.clock_gettime_ns(time.CLOCK_MONOTONIC)) < 60e9


def test_a_program_may_change_its_user_inside_the_block(directory: str) -> None:
    """setuid() waits until every thread has answered a signal of the C library's."""
    run(
        f"""
        import os
        import rlscope as rls
        with rls.profile({directory!r}):
            with rls.operation("inside"):
                os.setuid(os.getuid())
        """
    )
    assert read(directory).operations() == ["+inside", "-inside"]


def test_a_spawned_worker_of_a_notebook_is_recorded(directory: str) -> None:
    """The process has no preload and no script file, and its workers are fresh interpreters."""
    run(
        f"""
        import subprocess, sys
        import rlscope as rls
        worker = (
            "import rlscope as rls\\n"
            "rls.process('worker')\\n"
            "with rls.operation('work'): pass\\n"
        )
        with rls.profile({directory!r}):
            with rls.operation("notebook"):
                subprocess.run([sys.executable, "-c", worker], check=True)
        """
    )
    trace = read(directory)
    by_name = {trace.process(number)["name"]: trace.operations(number) for number in range(2)}
    assert by_name.pop("worker") == ["+work", "-work"]
    assert list(by_name.values()) == [["+notebook", "-notebook"]]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing_workers_are_recorded(tmp_path: Path, directory: str, method: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        f"""
import multiprocessing
import rlscope as rls

def work(number):
    with rls.operation(f"work {{number}}"):
        pass

if __name__ == "__main__":
    with rls.profile({directory!r}):
        context = multiprocessing.get_context({method!r})
        workers = [context.Process(target=work, args=(number,)) for number in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
"""
    )
    subprocess.run([sys.executable, script], env=environment(), check=True, timeout=60)
    trace = read(directory)
    recorded = [
        trace.operations(number)
        for number, row in enumerate(row for row in trace.reader.processes if row["python"])
        if trace.threads(number)
    ]
    assert sorted(filter(None, recorded)) == [["+work 0", "-work 0"], ["+work 1", "-work 1"]]


def test_two_sessions_of_one_process(tmp_path: Path) -> None:
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    run(
        f"""
        import contextvars, threading
        import rlscope as rls
        step = rls.operation("step")

        def session(directory):
            def work():
                with step:
                    pass
            with rls.profile(directory):
                work()
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()

        context = contextvars.copy_context()
        context.run(session, {first!r})
        context.run(session, {second!r})
        """
    )
    for directory in (first, second):
        trace = read(directory)
        what = [record for record, _ in trace.records()]
        assert what == ["task", "enter", "exit"]
        assert len(trace.threads()) == 2


def test_a_block_inside_a_block_of_the_same_object(tmp_path: Path, directory: str) -> None:
    run(
        f"""
        import contextlib, io
        import rlscope as rls
        from rlscope import _runtime
        session = rls.profile({directory!r})
        with contextlib.redirect_stderr(io.StringIO()) as said:
            with session:
                with session:
                    with rls.operation("inner"):
                        pass
                with rls.operation("outer"):
                    pass
                rls.stop()
                with session:
                    with rls.operation("window"):
                        pass
                assert not _runtime.is_recording()
        assert _runtime.state() == "off"
        assert said.getvalue().count("already recording") == 2
        """
    )
    assert read(directory).operations() == [
        "+inner", "-inner", "+outer", "-outer", "+window", "-window",
    ]  # fmt: skip


def test_an_exception_ends_the_session(directory: str) -> None:
    run(
        f"""
        import os
        import rlscope as rls
        from rlscope import _runtime
        try:
            with rls.profile({directory!r}):
                with rls.operation("failing"):
                    raise KeyError
        except KeyError:
            pass
        assert _runtime.state() == "off"
        assert "RLSCOPE_DIR" not in os.environ and "LD_PRELOAD" not in os.environ
        """
    )
    assert read(directory).operations() == ["+failing", "-failing"]


def test_under_the_wrapper_the_block_is_a_window(directory: str, tmp_path: Path) -> None:
    trace = record(
        directory,
        f"""
        import contextlib, io, os
        import rlscope as rls
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            with rls.operation("before"):
                pass
            with rls.profile({str(tmp_path / "ignored")!r}):
                with rls.operation("recorded already"):
                    pass
            rls.stop()
            with rls.profile({str(tmp_path / "ignored")!r}):
                with rls.operation("window"):
                    pass
            with rls.operation("after"):
                pass
        lines = said.getvalue().splitlines()
        assert len(lines) == 2, lines
        assert all({directory!r} in line and "is ignored" in line for line in lines), lines
        assert not os.path.exists({str(tmp_path / "ignored")!r})
        """,
    )
    assert trace.operations() == [
        "+before", "-before", "+recorded already", "-recorded already", "+window", "-window",
    ]  # fmt: skip


def test_a_directory_with_a_run_is_refused_without_force(directory: str) -> None:
    script = f"""
    import rlscope as rls
    with rls.profile({directory!r}, force={{force}}):
        with rls.operation("{{name}}"):
            pass
    """
    run(script.format(force=False, name="first"))
    Path(directory, "model.pt").write_text("keep me")
    run(
        f"""
        import rlscope as rls
        try:
            with rls.profile({directory!r}):
                raise AssertionError("recorded over a run")
        except rls.RlscopeError as error:
            assert str(error).endswith({directory!r}) and "force" in str(error), error
        """
    )
    assert read(directory).operations() == ["+first", "-first"]
    run(script.format(force=True, name="second"))
    assert read(directory).operations() == ["+second", "-second"]
    assert Path(directory, "model.pt").read_text() == "keep me"


def test_force_refuses_while_a_process_of_the_run_lives(directory: str) -> None:
    script = f"import rlscope as rls\nwith rls.profile({directory!r}): input()"
    child = subprocess.Popen(
        [sys.executable, "-c", script], env=environment(), stdin=subprocess.PIPE, text=True
    )
    try:
        control = Path(directory, "processes.log")
        deadline = time.monotonic() + 30
        while not (control.exists() and control.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.01)
        run(
            f"""
            import rlscope as rls
            try:
                with rls.profile({directory!r}, force=True):
                    raise AssertionError("recorded over a living run")
            except rls.RlscopeError as error:
                assert "still going (pid {child.pid})" in str(error), error
            """
        )
    finally:
        child.communicate("\n", timeout=30)
    assert child.returncode == 0


def test_a_directory_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    run(
        f"""
        import os
        import rlscope as rls
        before = dict(os.environ)
        try:
            with rls.profile({str(blocked / "run")!r}):
                raise AssertionError
        except rls.RlscopeError as error:
            assert str(error) == "cannot record into {blocked}/run: Not a directory", error
        assert dict(os.environ) == before
        """
    )


def test_a_library_below_a_path_with_blanks_is_preloaded_through_a_link(
    tmp_path: Path, directory: str
) -> None:
    """The package is used from a folder that LD_PRELOAD cannot name."""
    folder = tmp_path / "a folder: mine"
    folder.mkdir()
    (folder / "rlscope").symlink_to(ROOT / "rlscope", target_is_directory=True)
    private = tmp_path / "private"
    private.mkdir()
    add = f"import sys; sys.path.insert(0, {str(folder)!r})"  # PYTHONPATH cannot hold a colon
    worker = f"{add}\nimport rlscope as rls\nwith rls.operation('work'): pass"
    script = f"""{add}
import os, subprocess
import rlscope as rls
with rls.profile({directory!r}):
    assert os.path.islink(os.environ["LD_PRELOAD"])
    subprocess.run([sys.executable, "-c", {worker!r}], check=True)
"""
    variables = environment(TMPDIR=str(private))
    del variables["PYTHONPATH"]
    done = subprocess.run(
        [sys.executable, "-c", script], env=variables, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert os.listdir(private) == [f"rlscope-{os.getuid()}"]
    assert read(directory).operations(1) == ["+work", "-work"]

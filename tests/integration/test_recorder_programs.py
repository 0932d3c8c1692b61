"""The recorder as a guest: nothing of it shows in programs of any kind."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.process.recorder_programs import (
    LIBRARY,
    compile_program,
    count_enters,
    drained,
    traced_environment,
)

from rlscope import _trace


def run(program: Path, directory: Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [program],
        env=traced_environment(directory),
        capture_output=True,
        text=True,
        timeout=60,
        **options,
    )


def test_exports_nothing_but_its_own_names() -> None:
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True
    ).stdout
    names = {line.split()[-1].split("@")[0] for line in listing.splitlines()}
    assert {name for name in names if not name.startswith("rlscope_")} == {
        "_exit",
        "_Exit",
        "InitializeInjection",
    }


def test_needs_libc_only_and_at_most_64_bytes_of_tls() -> None:
    dynamic = subprocess.run(["readelf", "-dW", LIBRARY], capture_output=True, text=True).stdout
    needed = [line for line in dynamic.splitlines() if "NEEDED" in line]
    assert len(needed) == 1 and "libc.so" in needed[0]
    segments = subprocess.run(["readelf", "-lW", LIBRARY], capture_output=True, text=True).stdout
    tls = next(line.split() for line in segments.splitlines() if line.split()[:1] == ["TLS"])
    assert int(tls[5], 16) <= 64


def test_a_reader_sees_end_of_file_when_the_program_closes_its_output(tmp_path: Path) -> None:
    program = compile_program(
        tmp_path,
        """
        #include <stdio.h>
        #include <unistd.h>
        int main(void) {
          record(1000);
          printf("last words\\n");
          fflush(stdout);
          close(1);
          char byte;
          return read(0, &byte, 1) == 1 ? 5 : 6;
        }
        """,
    )
    with drained(tmp_path / "run"):
        child = subprocess.Popen(
            [program],
            env=traced_environment(tmp_path / "run"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert child.stdin is not None and child.stdout is not None
        # Returns only at end of file, while the program still runs.
        assert child.stdout.read() == b"last words\n"
        assert child.poll() is None
        child.stdin.write(b"x")
        child.stdin.close()
        assert child.wait(30) == 5


def test_a_program_that_closes_and_reopens_everything_finds_no_byte_of_ours(
    tmp_path: Path,
) -> None:
    program = compile_program(
        tmp_path,
        """
        #include <fcntl.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        int main(void) {
          record(100);
          for (int i = 3; i < 4096; i++)
            if (close(i) == 0) return 1;            /* a descriptor of ours */
          int first = open("mine", O_RDWR | O_CREAT | O_TRUNC, 0600);
          if (first != 3) return 2;
          record(400000);                           /* larger rings, chunks, names */
          for (int i = 0; i < 200; i++) {
            char name[32];
            int length = sprintf(name, "name %d", i);
            rlscope_intern_name(1, 0, name, (uint64_t)length);
          }
          if (write(first, "only this", 9) != 9) return 3;
          for (int i = 4; i < 4096; i++)
            if (close(i) == 0) return 4;
          return 0;
        }
        """,
    )
    with drained(tmp_path / "run"):
        assert run(program, tmp_path / "run", cwd=tmp_path).returncode == 0
    assert (tmp_path / "mine").read_bytes() == b"only this"
    trace = _trace.Directory(str(tmp_path / "run"))
    assert count_enters(trace, 0) == 400100


def test_no_thread_of_ours_is_left_while_a_wrapper_drains(tmp_path: Path) -> None:
    program = compile_program(
        tmp_path,
        """
        #include <dirent.h>
        int main(void) {
          record(100000);
          int threads = 0;
          DIR *tasks = opendir("/proc/self/task");
          for (struct dirent *entry; (entry = readdir(tasks));) threads += entry->d_name[0] != '.';
          return threads;
        }
        """,
    )
    with drained(tmp_path / "run"):
        assert run(program, tmp_path / "run").returncode == 1


@pytest.mark.skipif(shutil.which("musl-gcc") is None, reason="musl-gcc is not installed")
def test_a_musl_program_runs_under_the_preload(tmp_path: Path) -> None:
    program = compile_program(
        tmp_path,
        """
        #include <stdio.h>
        int main(void) { record(1000); printf("hello\\n"); return 3; }
        """,
        compiler="musl-gcc",
    )
    with drained(tmp_path / "run"):
        result = run(program, tmp_path / "run")
    assert (result.returncode, result.stdout, result.stderr) == (3, "hello\n", "")
    trace = _trace.Directory(str(tmp_path / "run"))
    assert [process["exit_code"] for process in trace.processes] in ([3], [None])
    assert count_enters(trace, 0) == 1000


def test_a_static_program_runs_untraced(tmp_path: Path) -> None:
    program = compile_program(
        tmp_path, "int main(void) { record(1000); return 3; }", options=["-static"]
    )
    with drained(tmp_path / "run"):
        assert run(program, tmp_path / "run").returncode == 3


def test_a_directory_that_cannot_be_written_is_ignored(tmp_path: Path) -> None:
    program = compile_program(
        tmp_path,
        """
        #include <stdio.h>
        int main(void) { record(1000); printf("hello\\n"); return 3; }
        """,
    )
    for directory in (tmp_path / "absent", Path("/proc/1"), Path("relative")):
        result = run(program, directory, cwd=tmp_path)
        assert (result.returncode, result.stdout, result.stderr) == (3, "hello\n", "")
    assert not (tmp_path / "absent").exists()
    assert not (tmp_path / "relative").exists()


@pytest.mark.parametrize("name", ["processes.log", "rings/control"])
def test_a_fifo_in_the_directory_does_not_hold_a_program_up(tmp_path: Path, name: str) -> None:
    program = compile_program(tmp_path, "int main(void) { record(1000); return 3; }")
    directory = tmp_path / "run"
    (directory / "rings").mkdir(parents=True)
    os.mkfifo(directory / name)
    assert run(program, directory).returncode == 3


def test_nothing_is_written_to_a_fifo_whose_reader_may_go(tmp_path: Path) -> None:
    program = compile_program(tmp_path, "int main(void) { record(1000); return 3; }")
    directory = tmp_path / "run"
    (directory / "rings").mkdir(parents=True)
    os.mkfifo(directory / "processes.log")
    reader = os.open(directory / "processes.log", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run(program, directory).returncode == 3
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)


def test_rings_on_a_full_file_system_are_a_counted_loss(tmp_path: Path) -> None:
    rings = tmp_path / "small"
    rings.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", rings], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("this user may not mount a tmpfs")
    program = compile_program(
        tmp_path,
        """
        #include <pthread.h>
        static void *work(void *argument) { record(3000); return argument; }
        int main(void) {
          pthread_t threads[40];
          for (int i = 0; i < 40; i++) pthread_create(&threads[i], 0, work, 0);
          for (int i = 0; i < 40; i++) pthread_join(threads[i], 0);
          return 7;
        }
        """,
    )
    try:
        with drained(tmp_path / "run", rings):
            assert run(program, tmp_path / "run").returncode == 7
        trace = _trace.Directory(str(tmp_path / "run"))
        losses = {loss["kind"]: loss["count"] for loss in trace.losses(0)}
        kept = count_enters(trace, 0)
        assert 0 < kept <= 40 * 3000
        assert kept == 40 * 3000 or losses.get("no_ring", 0) + losses.get("ring_full", 0) > 0
    finally:
        subprocess.run(["umount", "-l", rings], check=True)


def test_a_small_program_costs_the_log_records_only(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    with drained(directory):
        subprocess.run(["/bin/true"], env=traced_environment(directory), check=True)
        assert os.listdir(directory / "rings") == ["control"]
    assert (directory / "processes.log").stat().st_size == 2 * 128

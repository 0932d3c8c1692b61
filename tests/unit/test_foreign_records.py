"""Intact records of a stranger may hold any text and any number: the trace is read all the same."""

from __future__ import annotations

import errno
import io
import struct
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from support.process.process_records import crc32c

from rlscope import _trace
from rlscope.commands import main
from rlscope.opening import load

KERNEL, OPERATION, KERNEL_NAME = 1, 1, 5
ENTER, EXIT, CALL = 1, 2, 15


def write_process(root: Path, pid: int = 77, *, end_ns: int = 9_000, **losses: int) -> Path:
    """Writes a process that is in an operation until its end, and returns its file."""
    (root / "trace").mkdir(parents=True, exist_ok=True)
    (root / "rings").mkdir(exist_ok=True)
    path = root / "trace" / f"box.{pid}.5.0.rls"
    writer = _trace.Writer(
        str(path), os_pid=pid, began_ns=pid, start_time=5, host="box", main_thread=pid
    )
    writer.thread(1, pid, "main")
    operation = writer.name(OPERATION, "update")
    items = np.array([ENTER, EXIT], dtype=np.uint32), np.full(2, operation, dtype=np.uint32)
    writer.items(1, np.array([1_000, end_ns - 1_000]), *items)
    writer.end(end_ns, losses=losses)
    writer.close()
    return path


def replace_text(path: Path, old: bytes, new: bytes) -> None:
    """Replaces bytes in the frames of a file, and gives each the checksum that it then has."""
    content = bytearray(path.read_bytes().replace(old, new.ljust(len(old), b".")))
    start = 0
    while start < len(content):
        (length,) = struct.unpack_from("<I", content, start + 4)
        end = start + 16 + length
        struct.pack_into("<I", content, start + 8, crc32c(bytes(content[start + 12 : end])))
        start = end
    path.write_bytes(content)


def ask(*arguments: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("what", ["update", "main", "box", "lost_records"])
def test_a_text_of_a_file_need_not_be_text(tmp_path: Path, what: str) -> None:
    path = write_process(tmp_path, lost_records=3)
    replace_text(path, what.encode(), b"\xff\x1b[")
    for verb in ("info", "summary"):
        code, out, _ = ask(verb, tmp_path)
        assert code == 0
        assert all(line.isprintable() for line in out.split("\n"))


def test_a_text_that_is_none_is_the_same_in_all_relations(tmp_path: Path) -> None:
    replace_text(write_process(tmp_path), b"update", b"\xff\xffab\xe2\x82")
    with load(tmp_path) as trace:
        for question in (
            "SELECT operation FROM breakdown WHERE operation <> '(none)'",
            "SELECT operation FROM iteration_breakdown WHERE operation <> '(none)'",
            "SELECT path FROM operation_instance JOIN operation USING (operation_id)",
            "SELECT name FROM event WHERE kind = 'operation'",
        ):
            assert list(trace.sql(question)) == [("??ab??",)], question


def test_losses_of_any_count_add_up(tmp_path: Path) -> None:
    for pid in range(100):
        write_process(tmp_path, pid, lost_records=(1 << 64) - 1)
    for verb in ("info", "summary"):
        code, out, _ = ask(verb, tmp_path)
        assert (code, "lost_records" in out) == (0, True)


@pytest.mark.parametrize("error", [MemoryError("std::bad_alloc"), OSError(errno.ENOMEM, "none")])
def test_a_trace_that_does_not_fit_into_memory_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def run_out(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("rlscope.relations.tables.build", run_out)
    write_process(tmp_path)
    assert ask("info", tmp_path) == (1, "", "rlscope: not enough memory for this trace\n")


def test_an_event_may_name_what_has_no_name(tmp_path: Path) -> None:
    path = tmp_path / "trace" / "box.77.5.0.rls"
    (tmp_path / "rings").mkdir()
    path.parent.mkdir()
    writer = _trace.Writer(str(path), os_pid=77, began_ns=1, start_time=5, main_thread=77)
    writer.thread(1, 77)
    at, five, nameless = np.array([1_000]), np.array([5]), np.array([(1 << 32) - 1], np.uint32)
    call = np.array([CALL], dtype=np.uint32), np.array([70_000], dtype=np.uint32)
    writer.items(1, at, *call, durations=five)
    writer.cuda_calls(1, at, five, nameless, at)
    writer.gpu(0, 1, 7, at, five, np.array([KERNEL], dtype=np.uint32), nameless, at)
    writer.end(9_000)
    writer.close()
    with load(tmp_path) as trace:
        events = trace.sql("SELECT kind, name FROM event ORDER BY kind")
    assert list(events) == [("call", ""), ("cuda_call", ""), ("kernel", "")]


def test_gpu_work_of_a_kind_that_no_version_has_is_unknown(tmp_path: Path) -> None:
    path = write_process(tmp_path)
    path.unlink()
    writer = _trace.Writer(str(path), os_pid=77, began_ns=1, start_time=5, main_thread=77)
    kinds = np.array([0, KERNEL, 7, 32, 33, (1 << 32) - 1], dtype=np.uint32)
    at = np.arange(1_000, 1_000 + 10 * len(kinds), 10)
    writer.gpu(0, 1, 7, at, np.full(len(kinds), 5), kinds, np.zeros_like(kinds), np.zeros_like(at))
    writer.end(9_000)
    writer.close()
    with load(tmp_path) as trace:
        events = list(trace.sql("SELECT kind, count(*) FROM event GROUP BY kind ORDER BY kind"))
        (busy_ns,) = next(iter(trace.sql("SELECT sum(launched_ns) FROM gpu_time")))
    assert events == [("kernel", 1), ("unknown", 5)]
    assert busy_ns == 5


# ---- names of kernels --------------------------------------------------------------------------


def mangled_list(depth: int) -> str:
    """f(A<int>, A<that, that>, A<that, that>...): each parameter is twice as long as the last."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    references = ("S" + digits[at % 36] + "_" for at in range(depth))
    return "_Z1f1AIiE" + "".join(f"S_I{each}{each}E" for each in references)


READ = """
import sys
from rlscope.opening import load
with load(sys.argv[1]) as trace:
    for name, function in sorted(trace.sql("SELECT name, function FROM kernel")):
        print(name == function, len(function))
"""


def write_kernels(root: Path, names: list[str]) -> None:
    (root / "rings").mkdir(parents=True)
    (root / "trace").mkdir()
    writer = _trace.Writer(
        str(root / "trace" / "box.77.5.0.rls"), os_pid=77, began_ns=1, start_time=5, main_thread=77
    )
    ids = [writer.name(KERNEL_NAME, name) for name in names]
    count = len(ids)
    writer.gpu(
        0,
        1,
        7,
        np.arange(1_000, 1_000 + 10 * count, 10),
        np.full(count, 5),
        np.full(count, KERNEL, dtype=np.uint32),
        np.array(ids, dtype=np.uint32),
        np.arange(count),
    )
    writer.end(9_000)
    writer.close()


def test_a_short_name_that_stands_for_gigabytes_stays_mangled(tmp_path: Path) -> None:
    bomb, other = mangled_list(30), mangled_list(30).replace("1A", "1B")
    write_kernels(tmp_path, [bomb, "_Z4copyPfi", mangled_list(6), other, "_ZN9TTTTTTTTT1SEv" * 2])
    done = subprocess.run(
        [sys.executable, "-c", READ, tmp_path], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    with load(tmp_path) as trace:
        functions = dict(trace.sql("SELECT name, function FROM kernel"))
    assert functions.pop("_Z4copyPfi") == "copy(float*, int)"
    assert len(functions.pop(mangled_list(6))) > 1_000
    assert all(name == function for name, function in functions.items())


def test_names_of_many_references_are_demangled(tmp_path: Path) -> None:
    names = [f"_ZN9SSSSSSSSS9TTTTTTTTT{len(str(at)) + 1}k{at}Ev" for at in range(300)]
    write_kernels(tmp_path, names)
    with load(tmp_path) as trace:
        functions = dict(trace.sql("SELECT name, function FROM kernel"))
    assert functions == {name: f"SSSSSSSSS::TTTTTTTTT::k{at}()" for at, name in enumerate(names)}

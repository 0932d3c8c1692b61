"""Rings of a killed run, a word of each process damaged: the trace is read, the damage is a loss.

tests/fuzz/rings_replay.cc damages every byte, and looks at what is read; here the relations are
made of it.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from support.files.tiny_traces import load_checked
from support.process.recorder_programs import compile_program, traced_environment

from rlscope.recorder import runtime
from rlscope.relations.schema import store
from rlscope.rundir.process_log import Event

WRAPPER = """
import signal, sys
from rlscope import _runtime
drainer = _runtime.Drainer(sys.argv[1], sys.argv[1] + "/rings")
drainer.start(min_free_bytes=0)
print("drains", flush=True)
signal.pause()
"""
PROGRAM = """
#include <stdio.h>
#include <unistd.h>
int main(void) {
  record(100);
  printf("recorded\\n");
  fflush(stdout);
  pause();
}
"""
# Words of the pages: csrc/trace/layout/shared_pages.h.
LOSSES = range(104, 232, 8)
PAGES = {
    "*.process": [offset for offset in range(0, 520, 8) if offset not in LOSSES],
    "*.ring": range(0, 192, 16),
    "control": range(0, 360, 40),
}
TRACE_RINGS = 104


PROCESSES = max(len(PAGES["*.process"]), len(PAGES["*.ring"]))


@pytest.fixture(scope="module")
def killed_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run that was killed, program first: its rings hold all there is."""
    return kill(tmp_path_factory.mktemp("killed"), processes=1)


@pytest.fixture(scope="module")
def killed_processes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of a run with a process for each word of their pages."""
    return kill(tmp_path_factory.mktemp("processes"), processes=PROCESSES)


def kill(folder: Path, processes: int) -> Path:
    directory = folder / "run"
    (directory / "rings").mkdir(parents=True)
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", WRAPPER, directory], stdout=pipe) as wrapper:
        assert wrapper.stdout is not None
        assert wrapper.stdout.readline() == b"drains\n"
        wrapper.send_signal(signal.SIGSTOP)
        program = [compile_program(folder, PROGRAM)]
        environ = traced_environment(directory)
        for _ in range(processes):
            with subprocess.Popen(program, env=environ, stdout=pipe) as process:
                assert process.stdout is not None
                assert process.stdout.readline() == b"recorded\n"
                process.kill()
        wrapper.kill()
    forget_folder(directory)
    return directory


def forget_folder(directory: Path) -> None:
    """As if no record said where the rings lie: the directory will be copied."""
    log = directory / "processes.log"
    records, _ = runtime.process_records(log.read_bytes())
    kept = (each for each in records if each[10] != Event.RINGS)
    log.write_bytes(b"".join(kept))
    control = directory / "rings" / "control"
    content = control.read_bytes()
    control.write_bytes(content[:TRACE_RINGS].ljust(len(content), b"\0"))


def damage(path: Path, offset: int) -> None:
    """Turns a word of a file over."""
    content = bytearray(path.read_bytes())
    content[offset : offset + 8] = bytes(byte ^ 0xFF for byte in content[offset : offset + 8])
    path.write_bytes(content)


def damaged_copy(run: Path, root: Path, pattern: str, offsets: Iterable[int]) -> Path:
    """The run with one word turned over in each of some files of its rings, each another one."""
    shutil.copytree(run, root, ignore=shutil.ignore_patterns("tables"))
    for path, offset in zip(sorted((root / "rings").glob(pattern)), offsets, strict=False):
        damage(path, offset)
    return root


def read_all(root: Path) -> int:
    """Makes every relation, and counts the processes."""
    with load_checked(root) as trace:
        for relation in store.relations():
            trace.table(relation)
        return len(trace.table("process"))


@pytest.mark.parametrize("pattern", ["*.process", "*.ring"])
def test_every_relation_is_made_whatever_word_of_a_process_is_damaged(
    killed_processes: Path, tmp_path: Path, pattern: str
) -> None:
    root = damaged_copy(killed_processes, tmp_path / "run", pattern, PAGES[pattern])
    assert read_all(root) == PROCESSES


def test_every_relation_is_made_whatever_word_of_the_run_is_damaged(
    killed_run: Path, tmp_path: Path
) -> None:
    for offset in PAGES["control"]:
        assert read_all(damaged_copy(killed_run, tmp_path / str(offset), "control", [offset])) == 1


def test_a_loss_counter_beyond_any_count_is_damage_and_the_rest_is_read(
    killed_processes: Path, tmp_path: Path
) -> None:
    with load_checked(killed_processes) as trace:
        expected = trace.table("breakdown")
        assert sum(trace.table("operation_instance")["self_ns"]) > 0
    root = damaged_copy(killed_processes, tmp_path / "run", "*.process", LOSSES)
    with load_checked(root) as trace:
        assert trace.table("breakdown") == expected
        losses = trace.sql("SELECT process_id, kind, count FROM loss ORDER BY process_id")
        assert len(set(losses["process_id"])) == len(LOSSES)
        assert list(zip(losses["kind"], losses["count"], strict=True)) == [
            ("damaged_bytes", 8)
        ] * len(LOSSES)


def test_a_damaged_ring_is_a_loss(killed_run: Path, tmp_path: Path) -> None:
    with load_checked(damaged_copy(killed_run, tmp_path / "run", "*.ring", [0])) as trace:
        losses = trace.sql("SELECT kind, count, detail FROM loss")
        assert list(losses) == [("unreadable_file", 1, "found in its rings")]

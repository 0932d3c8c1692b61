"""Rings of a killed run, damaged a word at a time: the trace is read, the damage is a loss.

tests/fuzz/rings_replay.cc damages every byte, and looks at what is read; here the relations are
made of it.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
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


@pytest.fixture(scope="module")
def killed_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run that was killed, program first: its rings hold all there is."""
    folder = tmp_path_factory.mktemp("killed")
    directory = folder / "run"
    (directory / "rings").mkdir(parents=True)
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", WRAPPER, directory], stdout=pipe) as wrapper:
        assert wrapper.stdout is not None
        assert wrapper.stdout.readline() == b"drains\n"
        wrapper.send_signal(signal.SIGSTOP)
        program = [compile_program(folder, PROGRAM)]
        with subprocess.Popen(program, env=traced_environment(directory), stdout=pipe) as process:
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


def copies(
    run: Path, folder: Path, pattern: str, offsets: Iterable[int]
) -> Iterator[tuple[int, Path]]:
    """The run with one word of a file of its rings turned over."""
    for offset in offsets:
        root = folder / f"{pattern.strip('*.')}-{offset}"
        shutil.copytree(run, root, ignore=shutil.ignore_patterns("tables"))
        (damaged,) = (root / "rings").glob(pattern)
        content = bytearray(damaged.read_bytes())
        content[offset : offset + 8] = bytes(byte ^ 0xFF for byte in content[offset : offset + 8])
        damaged.write_bytes(content)
        yield offset, root


@pytest.mark.parametrize("pattern", PAGES)
def test_every_relation_is_made_whatever_word_is_damaged(
    killed_run: Path, tmp_path: Path, pattern: str
) -> None:
    for _, root in copies(killed_run, tmp_path, pattern, PAGES[pattern]):
        with load_checked(root) as trace:
            for relation in store.relations():
                trace.table(relation)
        shutil.rmtree(root)


def test_a_loss_counter_beyond_any_count_is_damage_and_the_rest_is_read(
    killed_run: Path, tmp_path: Path
) -> None:
    with load_checked(killed_run) as trace:
        expected = trace.table("breakdown")
        assert sum(trace.table("operation_instance")["self_ns"]) > 0
    for offset, root in copies(killed_run, tmp_path, "*.process", LOSSES):
        with load_checked(root) as trace:
            assert trace.table("breakdown") == expected, offset
            losses = trace.sql("SELECT kind, count FROM loss WHERE kind = 'damaged_bytes'")
            assert list(losses) == [("damaged_bytes", 8)], offset


def test_a_damaged_ring_is_a_loss(killed_run: Path, tmp_path: Path) -> None:
    ((_, root),) = copies(killed_run, tmp_path, "*.ring", [0])
    with load_checked(root) as trace:
        losses = trace.sql("SELECT kind, count, detail FROM loss")
        assert list(losses) == [("unreadable_file", 1, "found in its rings")]

"""Small C programs that run with librlscope.so preloaded, and a drainer beside them."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import rlscope
from rlscope import _runtime, _trace

LIBRARY = Path(rlscope.__file__).parent / "librlscope.so"

# Records through the C ABI where it is there (weak: the program also runs without the preload).
RECORDING = """
#include <stdint.h>
extern uint32_t rlscope_intern_name(uint32_t, uint32_t, const char *, uint64_t)
    __attribute__((weak));
extern void rlscope_record(uint32_t, uint32_t) __attribute__((weak));
static void record(int times) {
  if (!rlscope_record) return;
  uint32_t id = rlscope_intern_name(1, 0, "work", 4);
  for (int i = 0; i < times; i++) { rlscope_record(1, id); rlscope_record(2, id); }
}
"""
OPERATION_ENTER = 1


def compile_program(
    folder: Path, source: str, compiler: str = "gcc", options: Sequence[str] = ()
) -> Path:
    """Compiles a C program that may call record(times); returns its path."""
    program = folder / "program"
    text = folder / "program.c"
    text.write_text(RECORDING + source)
    subprocess.run([compiler, "-O1", "-o", program, text, "-pthread", *options], check=True)
    return program


def traced_environment(directory: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "LD_PRELOAD": str(LIBRARY),
        "RLSCOPE_DIR": str(directory),
    }


@contextmanager
def drained(directory: Path, rings: Path | None = None) -> Iterator[_runtime.Drainer]:
    """A drainer of the run in `directory`, stopped at the end."""
    directory.mkdir(exist_ok=True)
    drainer = _runtime.Drainer(str(directory), None if rings is None else str(rings))
    drainer.start(min_free_bytes=0)
    try:
        yield drainer
    finally:
        drainer.stop()


def count_enters(trace: _trace.Directory, process: int) -> int:
    """Operations entered in all threads of a process."""
    threads = trace.threads(process)["thread"]
    return sum(
        int((trace.items(process, int(thread))["kind"] == OPERATION_ENTER).sum())
        for thread in threads
    )

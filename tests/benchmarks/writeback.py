"""How long a record can take while another process writes to the disk that holds the rings.

    python tests/benchmarks/writeback.py [--seconds 40] [--megabytes 2048] [--output FILE]

The kernel write-protects the pages of a mapped file while it writes them back, and the next store
into one waits. A program records 50,000 enters and as many exits a second; beside it a process
writes a file with fsync after each 64 MB. Rings on the disk's file system are compared with rings
in /dev/shm, both with and without the writer. Only records with a page fault count: without one, a
long record is a thread that lost its CPU. Dirty pages are 30 s old when the kernel writes them back
by itself, so less than 40 seconds show little.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from paired import write_result  # noqa: E402
from support.process.recorder_programs import LIBRARY, drained, traced_environment  # noqa: E402

_WRITER = """
import os, sys
path, blocks = sys.argv[1], int(sys.argv[2]) // 64
block = os.urandom(1 << 20) * 64
while True:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for _ in range(blocks):
        os.write(descriptor, block)
        os.fsync(descriptor)
    os.close(descriptor)
"""
LIMIT_NS = 1_000_000


def compiled(folder: Path) -> Path:
    program = folder / "program"
    source = HERE / "writeback_program.c"
    library = ["-L", str(LIBRARY.parent), f"-l:{LIBRARY.name}", f"-Wl,-rpath,{LIBRARY.parent}"]
    subprocess.run(["cc", "-O2", "-o", program, source, *library], check=True)
    return program


@contextmanager
def writing(folder: Path, megabytes: int) -> Iterator[None]:
    """A process that writes and syncs a file in `folder`, again and again."""
    path = folder / "written"
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, path, str(megabytes)])
    try:
        yield
    finally:
        writer.kill()
        writer.wait()
        path.unlink(missing_ok=True)


def measure(program: Path, directory: Path, rings: Path | None, seconds: float) -> dict[str, float]:
    with drained(directory, rings):
        lines = subprocess.run(
            [program, str(seconds)],
            env=traced_environment(directory),
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()
    slow = [[int(word) for word in line.split()] for line in lines[:-1]]
    faulted = [ns for ns, faults, _ in slow if faults]
    waited = [ns for ns, faults, switches in slow if faults and switches]
    return {
        "records": int(lines[-1]),
        "longest_fault_us": max(faulted, default=0) / 1000,
        "faults_above_20_us": len(faulted),
        "waits": len(waited),
        "above_1_ms": sum(ns > LIMIT_NS for ns in faulted),
        "waited_ms": sum(waited) / 1e6,
        "longest_of_all_us": max((ns for ns, *_ in slow), default=0) / 1000,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=40.0, help="of each measurement")
    parser.add_argument("--only", default="", help="the measurements whose name holds this")
    parser.add_argument("--megabytes", type=int, default=2048, help="of the file that is written")
    parser.add_argument(
        "--folder", default=None, help="on the disk to measure (default: a new one)"
    )
    parser.add_argument("--output", default="build/benchmarks/writeback.json")
    options = parser.parse_args()
    result = {}
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as disk,
        tempfile.TemporaryDirectory(dir="/dev/shm") as memory,
    ):
        program = compiled(Path(disk))
        for name, rings, busy in (
            ("disk, quiet", None, False),
            ("disk, writer", None, True),
            ("/dev/shm, writer", Path(memory) / "rings", True),
        ):
            if options.only not in name:
                continue
            run = Path(disk) / name.replace("/", "").replace(", ", "-")
            if busy:
                with writing(Path(disk), options.megabytes):
                    result[name] = measure(program, run, rings, options.seconds)
            else:
                result[name] = measure(program, run, rings, options.seconds)
            print(f"{name}: {result[name]}", flush=True)
        file_system = os.statvfs(disk)
    write_result(options.output, {"records": result, "block_bytes": file_system.f_bsize})
    return 0


if __name__ == "__main__":
    sys.exit(main())

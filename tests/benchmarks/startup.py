"""What being traced adds to the start and end of programs, and what rls-prof adds of its own.

    python tests/benchmarks/startup.py [--runs 200] [--output FILE]

Each round starts every program once plain and once traced, in random order, and pairs the two:

    /bin/true, git       wall time from posix_spawn to wait, no record is made in them
    python -c pass       the same with a Python that carries the bootstrap
    rls-prof             from its start to the program's constructor, plus from the program's exit
                         record to the first line on stderr, as the run's own processes.log and
                         the reader of the pipe saw them; nothing to pair it with
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from paired import median_interval, show_verdicts, verdict, write_result  # noqa: E402
from support.process.traced_python import TracedPython, make_traced_python, untraced_environment  # noqa: E402

TARGETS_MS = {"/bin/true": 0.5, "git --version": 0.5, "python -c pass": 10.0, "rls-prof": 200.0}
_RECORD_BYTES = 128
_BEGAN, _ENDED = 1, 4


def environment() -> dict[str, str]:
    """Every command runs with it: Python keeps bytecode files, as for any installed package."""
    environ = untraced_environment()
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    return environ


def wall_ns(command: list[str], environ: dict[str, str]) -> int:
    """From the spawn of a command to its end."""
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, descriptor) for descriptor in (0, 1, 2)]
    start = time.monotonic_ns()
    pid = os.posix_spawn(command[0], command, environ, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    elapsed = time.monotonic_ns() - start
    os.close(null)
    assert status == 0, command
    return elapsed


def prof_ns(traced: TracedPython, folder: str) -> int:
    """What rls-prof adds before the program's first and after its last instruction."""
    directory = os.path.join(folder, "prof")
    shutil.rmtree(directory, ignore_errors=True)
    start = time.monotonic_ns()
    with subprocess.Popen(
        traced.command("-o", directory, "/bin/true"),
        stderr=subprocess.PIPE,
        env=environment(),
    ) as wrapper:
        assert wrapper.stderr is not None
        wrapper.stderr.readline()
        first_line = time.monotonic_ns()
        wrapper.stderr.read()
    times = record_times(os.path.join(directory, "processes.log"))
    return (times[_BEGAN] - start) + (first_line - times[_ENDED])


def record_times(log: str) -> dict[int, int]:
    """time_ns of the last record of each kind: csrc/trace/layout/shared_pages.h, ProcessRecord."""
    data = Path(log).read_bytes()
    records = [data[at : at + _RECORD_BYTES] for at in range(0, len(data), _RECORD_BYTES)]
    return {
        int.from_bytes(record[10:12], "little"): int.from_bytes(record[48:56], "little")
        for record in records
    }


def measure(runs: int, traced: TracedPython, folder: str) -> dict[str, list[float]]:
    """Milliseconds that each program's traced run took more than its plain run of that round."""
    from rlscope._runtime import Drainer
    from rlscope.record.profile import traced_environment
    from rlscope.rundir.new_run import prepare_directory

    plain = environment()
    directory = prepare_directory(os.path.join(folder, "run")).path
    recorded = {**plain, **traced_environment(directory, plain)}
    drainer = Drainer(directory)
    drainer.start()
    commands = {
        "/bin/true": ["/bin/true"],
        "git --version": [shutil.which("git") or "/usr/bin/git", "--version"],
        "python -c pass": [traced.python, "-c", "pass"],
    }
    cases = [(name, environ) for name in commands for environ in (plain, recorded)]
    added: dict[str, list[float]] = {name: [] for name in TARGETS_MS}
    for number in range(-2, runs):  # two rounds to warm up
        random.shuffle(cases)
        spent = {
            (name, environ is recorded): wall_ns(commands[name], environ) for name, environ in cases
        }
        own = prof_ns(traced, folder)
        if number >= 0:
            for name in commands:
                added[name].append((spent[name, True] - spent[name, False]) / 1e6)
            added["rls-prof"].append(own / 1e6)
    drainer.stop()
    return added


def main() -> int:
    """Measures, prints and writes the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--output", default="build/benchmarks/startup.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="startup-") as folder:
        traced = make_traced_python(Path(folder) / "venv")
        added = measure(options.runs, traced, folder)
    rows = [
        verdict(name, "ms", TARGETS_MS[name], median_interval(values))
        for name, values in added.items()
    ]
    write_result(options.output, {"targets": rows, "runs": options.runs})
    return show_verdicts(rows)


if __name__ == "__main__":
    sys.exit(main())

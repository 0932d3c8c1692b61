"""Source lines against py-spy's: both read the same run of programs that nobody changed.

    python tests/benchmarks/line_peers.py --sources DIR [--py-spy FILE] [--rate 100] [PROGRAM ...]

DIR has a checkout of vwxyzjn/cleanrl as `cleanrl`, and one of pytorch/rl as `rl`. The interpreter
that runs this has the programs' libraries. A program whose file or library is missing is named and
left out.

A share is of the time in which a line is the innermost one of the program's own code, while nothing
is being imported. py-spy reads the main thread, asleep or not, while it stops the process: with
--nonblocking it misses many stacks that change fast. It stops one thread after the other, so
PyTorch gets no team of threads, which would wait for each other. Target: the same five lines lead,
and their shares differ by 3 points at most. Two readers that are both right
differ by chance: what is printed as `chance` is two standard errors of the largest difference. A
line that leads for one reader alone is a tie if it is that close to the fifth line of the other.

py-spy gets the short time slices that rlscope's drainer asks for (Linux 6.12). Otherwise it finds
threads where they give up a core, if all are busy.
"""

import argparse
import ctypes
import math
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT)]

from paired import write_result  # noqa: E402
from support.process.traced_python import (  # noqa: E402
    TracedPython,
    make_traced_python,
    untraced_environment,
)

TARGET_POINTS = 3.0
LEADING = 5
_START_S = 60
_SLICE_NS = 100_000
_FRAME = re.compile(r"(.*) \((.*):(\d+)\)")
_IMPORTING = "<frozen importlib."

Line = tuple[str, int]
Lines = Mapping[Line, float]


@dataclass(frozen=True)
class Program:
    """An unchanged program, and for how long it trains: about a minute."""

    script: str
    """Below the folder of sources, or below tests/ of this checkout."""
    arguments: str
    library: str
    """What it cannot do without."""
    own: str = ""
    """A package whose lines are the program's own, too."""
    path: str = ""
    """A folder of sources from which it imports, too."""


PROGRAMS = {
    "cleanrl_ppo": Program(
        "cleanrl/cleanrl/ppo.py", "--total-timesteps 60000", "tyro", path="cleanrl"
    ),
    "sb3_quick_start": Program(
        "benchmarks/programs/sb3_quick_start.py", "", "stable_baselines3", own="stable_baselines3"
    ),
    "torchrl_dqn": Program(
        "rl/sota-implementations/dqn/dqn_cartpole.py",
        "collector.total_frames=60000 logger.backend=null device=cpu",
        "hydra",
    ),
    "keras_dqn": Program("stopwatches/programs/keras_dqn.py", "40000", "keras"),
    "cleanrl_dqn_jax": Program(
        "cleanrl/cleanrl/dqn_jax.py", "--total-timesteps 120000 --end-e 0.9", "flax", path="cleanrl"
    ),
}


@dataclass(frozen=True)
class Agreement:
    """What two readers say of one run."""

    program: str
    same: int
    """Lines that are among the five leading ones of both."""
    ties: int
    """Lines of the first reader's five that are as good as among the other's, and the reverse."""
    points: float
    """The largest difference among the leading lines of either."""
    chance: float
    readings: tuple[int, int]
    lines: Sequence[tuple[str, float, float]]
    """Name and both shares, in percent."""

    @property
    def is_met(self) -> bool:
        return self.same + self.ties == LEADING and self.points <= TARGET_POINTS


def compare(name: str, ours: Lines, theirs: Lines, readings: tuple[int, int]) -> Agreement:
    """Compares the leading lines of both readers."""
    shares = [{line: each / sum(of.values()) for line, each in of.items()} for of in (ours, theirs)]
    ranked = [sorted(of, key=of.__getitem__, reverse=True)[:LEADING] for of in shares]
    both = set(ranked[0]) & set(ranked[1])
    either = dict.fromkeys([*ranked[0], *ranked[1]])
    pairs = {line: (shares[0].get(line, 0.0), shares[1].get(line, 0.0)) for line in either}
    worst = max(pairs.values(), key=lambda pair: abs(pair[0] - pair[1]))
    ties = [
        _ties([pairs[line] for line in set(ranked[1 - reader]) - both], fifth, reader, readings)
        for reader, fifth in enumerate(pairs[lines[-1]] for lines in ranked)
    ]
    return Agreement(
        name,
        len(both),
        min(ties),
        100 * abs(worst[0] - worst[1]),
        100 * _chance(worst, readings),
        readings,
        [
            (f"{Path(file).name}:{line}", *(100 * each for each in pair))
            for (file, line), pair in pairs.items()
        ],
    )


def _ties(
    others: Sequence[tuple[float, float]],
    fifth: tuple[float, float],
    reader: int,
    readings: tuple[int, int],
) -> int:
    """How many leading lines of the other reader could be the fifth of this one by chance."""
    return sum(each[reader] + _chance(each, readings) >= fifth[reader] for each in others)


def _chance(shares: tuple[float, float], readings: tuple[int, int]) -> float:
    """Two standard errors of the difference of two shares that are one in truth."""
    middle = sum(shares) / 2
    return 2 * math.sqrt(middle * (1 - middle) * sum(1 / count for count in readings))


def own_line(stack: Sequence[Line], folders: Sequence[str]) -> "Line | None":
    """Of a stack, the innermost line first; None: it imports, or has no line of the program."""
    from rlscope.rundir.own_code import is_own

    if any(file.startswith(_IMPORTING) for file, _ in stack):
        return None
    return next((line for line in stack if is_own(line[0], folders)), None)


def our_lines(directory: Path, folders: Sequence[str]) -> tuple[Lines, int]:
    """Time by own line, and the readings in them, of a trace."""
    from rlscope.opening import load

    times: Counter[Line] = Counter()
    readings = 0
    with load(directory) as trace:
        rows = trace.table("stack").to_dicts()
        calls = {(row["process_id"], row["stack_id"]): row for row in rows}
        for row in trace.table("stack_time").to_dicts():
            process, number, stack = row["process_id"], row["stack_id"], []
            while number is not None:
                call = calls[process, number]
                stack.append((call["file"], call["line"] or 0))
                number = call["parent_id"]
            line = own_line(stack, folders)
            if line is not None:
                times[line] += row["self_ns"]
                readings += row["readings"]
    return times, readings


def their_lines(output: str, folders: Sequence[str]) -> tuple[Lines, int]:
    """Readings by own line of what `py-spy record --format raw --threads` wrote."""
    found: Counter[Line] = Counter()
    for line, count in _main_thread(output):
        own = own_line(line, folders)
        if own is not None:
            found[own] += count
    return found, sum(found.values())


def _main_thread(output: str) -> Iterator[tuple[list[Line], int]]:
    for row in output.splitlines():
        text, _, count = row.rpartition(" ")
        thread, *frames = text.split(";")
        if "MainThread" in thread:
            found = filter(None, map(_FRAME.fullmatch, reversed(frames)))
            yield [(each[2], int(each[3])) for each in found], int(count)


def run(
    traced: TracedPython, spy: str, rate: int, name: str, sources: Path, folder: Path
) -> Agreement:
    """Runs one program below both readers.

    Raises:
        RuntimeError: one of the three failed.
    """
    program = PROGRAMS[name]
    own = [str(Path(_package(program.own)))] if program.own else []
    options = [word for each in own for word in ("--source", each)]
    directory, log = folder / name, folder / f"{name}.log"
    command = [traced.python, str(script_of(program, sources)), *program.arguments.split()]
    with log.open("w") as output:
        prof = subprocess.Popen(
            traced.command("--quiet", "--force", "-o", str(directory), *options, "--", *command),
            cwd=folder,
            env=_environment(program, sources),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        written = _watch(prof, spy, rate, folder / f"{name}.txt")
        if prof.wait() != 0:
            raise RuntimeError(f"{name} failed: {log.read_text()[-2000:]}")
    ours, theirs = our_lines(directory, own), their_lines(written, own)
    return compare(name, ours[0], theirs[0], (ours[1], theirs[1]))


def _environment(program: Program, sources: Path) -> dict[str, str]:
    folders = [
        str(HERE.parent / "stopwatches"),
        *([str(sources / program.path)] * bool(program.path)),
    ]
    return untraced_environment() | {
        "PYTHONPATH": os.pathsep.join(folders),
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
        "WANDB_MODE": "disabled",
    }


def _watch(prof: "subprocess.Popen[bytes]", spy: str, rate: int, target: Path) -> str:
    """What py-spy wrote of the program that rls-prof runs, until that ends."""
    options = ["--format", "raw", "--rate", str(rate), "--threads", "--full-filenames"]
    deadline = time.monotonic() + _START_S
    while prof.poll() is None and time.monotonic() < deadline:
        pid = _child(prof.pid)
        if pid:
            command = [spy, "record", "--pid", pid, *options, "--idle"]
            done = subprocess.run(
                [*command, "-o", str(target)],
                capture_output=True,
                text=True,
                check=False,
                preexec_fn=_take_short_slices,
            )
            if target.exists():
                return target.read_text()
            said = done.stderr
        time.sleep(0.05)  # Python has not begun
    prof.send_signal(signal.SIGTERM)
    raise RuntimeError(f"py-spy found no Python: {said if pid else 'rls-prof ran nothing'}")


def _take_short_slices() -> None:
    """Of this thread, as WakeOwnThreadSoon does; older kernels do not know them."""
    number = {"x86_64": 314, "aarch64": 274}[os.uname().machine]
    attributes = struct.pack("=IIQiIQQQ", 48, 0, 0, 0, 0, _SLICE_NS, 0, 0)
    ctypes.CDLL(None).syscall(number, 0, attributes, 0)


def _child(pid: int) -> str:
    """The first child of a process; empty: it has none."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        children = (task / "children").read_text().split()
        if children:
            return children[0]
    return ""


def _package(name: str) -> str:
    found = find_spec(name)
    assert found is not None and found.origin is not None
    return os.path.dirname(found.origin)


def script_of(program: Program, sources: Path) -> Path:
    below_tests = HERE.parent / program.script
    return below_tests if below_tests.exists() else sources / program.script


def missing(program: Program, sources: Path) -> str:
    """What a program lacks here; empty: nothing."""
    script = script_of(program, sources)
    if not script.exists():
        return str(script)
    return "" if find_spec(program.library) else f"library {program.library}"


def show(found: Agreement) -> None:
    said = "met   " if found.is_met else "MISSED"
    ours, theirs = found.readings
    print(
        f"{said} {found.program}: {found.same} of {LEADING} lines and {found.ties} tied, "
        f"{found.points:.1f} points apart "
        f"(chance {found.chance:.1f}); {ours} and {theirs} readings",
        flush=True,
    )
    for line, one, other in found.lines:
        print(f"         {line:32s} rlscope {one:5.1f} %   py-spy {other:5.1f} %", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--sources", type=Path, required=True, help="folder of checkouts")
    parser.add_argument("--py-spy", default="py-spy", metavar="FILE", help="the program of py-spy")
    parser.add_argument("--rate", type=int, default=100, help="of py-spy, in Hz")
    parser.add_argument("--output", default="build/benchmarks/line_peers.json")
    options = parser.parse_args()
    for unknown in set(options.programs) - set(PROGRAMS):
        parser.error(f"no program {unknown!r}; there are {', '.join(PROGRAMS)}")
    sources, found = options.sources.resolve(), []
    with tempfile.TemporaryDirectory(prefix="rlscope-bench-") as folder:
        traced = make_traced_python(Path(folder, "venv"))
        for name in options.programs or PROGRAMS:
            if lacks := missing(PROGRAMS[name], sources):
                print(f"{name}: left out, {lacks} is missing", flush=True)
                continue
            each = run(traced, options.py_spy, options.rate, name, sources, Path(folder))
            show(each)
            found.append(each)
    result = [asdict(each) | {"met": each.is_met} for each in found]
    write_result(options.output, {"benchmark": "line_peers", "programs": result})
    return int(not found or not all(each.is_met for each in found))


if __name__ == "__main__":
    sys.exit(main())

"""Automatic operations against annotations made by hand, in training programs.

    python tests/benchmarks/automatic_truth.py [--runs N] [--output FILE] [PROGRAM ...]

Both look at the same run: the program's annotations add up their own time, by name, while the
recorder finds the operations by itself. An annotation around `env.step(action)` also holds the
look-up of `step` and the call; a second clock, in the outermost wrapper's `step`, begins and ends
inside of it. The operation lies between the two. Target: within 5 % of the time of each operation,
of simulation by either clock, in the median of the runs.
"""

import argparse
import importlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]

from paired import median_interval, write_result  # noqa: E402
from support.process.automatic_records import read_track, total  # noqa: E402

PROGRAMS = {
    "dqn": 2000, "sac": 300, "c51": 2500, "ddpg": 600, "td3": 500, "ppo": 6, "ppo_continuous": 6,
    "reinforce": 40, "a2c": 250, "keras_actor_critic": 15,
}  # fmt: skip
"""Name of each program, and for how long it trains: a few seconds."""
TARGET_PERCENT = 5.0
INSIDE = "simulation, clock inside"
WARM_UP = "warm-up"
"""A block that is no operation: first calls of compiled functions."""
Measured = tuple[dict[str, int], dict[str, float]]


class Truth:
    """In the place of rls.operation: notes when each block begins and ends. Blocks do not nest.

    What of the annotation itself lies inside a block, from one clock reading in C code to the next,
    is measured by an empty block behind each one, and taken out.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.times: deque[int] = deque()
        self.empty: deque[int] = deque()
        mark, mark_empty = clock_into(self.times), clock_into(self.empty)

        class Empty:
            __enter__ = mark_empty

            def __exit__(self, *exc: object) -> None:
                mark_empty()

        empty = Empty()

        class Block:
            __enter__ = mark

            def __exit__(self, *exc: object) -> None:
                mark()
                with empty:
                    pass

        self._block = Block()

    def __call__(self, name: str) -> Any:
        self.names.append(name)
        return self._block

    def blocks(self) -> list[tuple[str, int, int]]:
        """(name, begin, end) of each block, in nanoseconds of the clock that traces have."""
        own_ns = round(statistics.median(lengths(self.empty)))
        marks = iter(self.times)
        pairs = zip(self.names, zip(marks, marks, strict=True), strict=True)
        return [(name, begin, end - own_ns) for name, (begin, end) in pairs if name != WARM_UP]

    def total(self) -> dict[str, int]:
        """Nanoseconds of each operation."""
        sums = dict.fromkeys((name for name in self.names if name != WARM_UP), 0)
        for name, begin, end in self.blocks():
            sums[name] += end - begin
        return sums


class Inside:
    """Clocks just inside of what a program calls of its environment: it gets a wrapper, which is
    the outermost of them, and reads the clock at the begin and the end of its methods."""

    def __init__(self) -> None:
        self.times: deque[int] = deque()
        self._mark = clock_into(self.times)

    def wrap(self, make: Callable[..., Any], kind: Any) -> Callable[..., Any]:
        mark = self._mark

        class Clocked(kind):  # type: ignore[misc]
            def step(self, action: Any) -> Any:
                mark()
                result = self.env.step(action)
                mark()
                return result

            def reset(self, **options: Any) -> Any:
                mark()
                result = self.env.reset(**options)
                mark()
                return result

        return lambda *arguments, **options: Clocked(make(*arguments, **options))

    def begin(self, name: str) -> None:
        """Wraps what the program makes its environment with."""
        import gymnasium

        source = Path(HERE, "automatic", f"{name}.py").read_text()
        vectors = gymnasium.vector
        if "SyncVectorEnv(" in source:
            vectors.SyncVectorEnv = self.wrap(  # type: ignore[misc,assignment]
                vectors.SyncVectorEnv, vectors.VectorWrapper
            )
        elif "make_vec(" in source:
            gymnasium.make_vec = self.wrap(gymnasium.make_vec, vectors.VectorWrapper)
        else:
            gymnasium.make = self.wrap(gymnasium.make, gymnasium.Wrapper)

    def total(self) -> int:
        return sum(lengths(self.times))


def lengths(times: Iterable[int]) -> list[int]:
    """From each begin to its end, which follows it."""
    marks = iter(times)
    return [end - begin for begin, end in zip(marks, marks, strict=True)]


def clock_into(times: deque[int]) -> Callable[[], None]:
    """Reads the clock and keeps its value, in one call of C code.

    A list would have to be moved now and then, which takes 100 us inside of a block.
    """
    marks = map(times.append, iter(time.monotonic_ns, None))
    return marks.__next__


def train(name: str, directory: str) -> None:
    """Runs one program, recorded; prints what its annotations say."""
    import rlscope as rls
    from rlscope import auto

    truth, inside = Truth(), Inside()
    with rls.profile(directory):
        auto.begin()
        rls.progress(0, 1)  # the ring is made here, not inside the first annotation
        inside.begin(name)
        program = importlib.import_module(f"automatic.{name}")
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)
        program.operation = truth  # type: ignore[attr-defined]
        program.train(PROGRAMS[name])
    total = truth.total() | {INSIDE: inside.total()}
    print(json.dumps({"total": total, "blocks": truth.blocks()}))


def found(directory: str) -> dict[str, float]:
    """Nanoseconds of each automatic operation of the process."""
    from rlscope import _trace

    reader = _trace.Directory(directory)
    (process,) = (row for row in reader.processes if row["python"])
    sums: dict[str, float] = {}
    texts = reader.names(process["index"])
    names = dict(zip((int(id_) for id_ in texts["id"]), texts["text"], strict=True))
    for thread in reader.threads(process["index"])["thread"]:
        items = reader.items(process["index"], int(thread))
        rows = list(zip(items["time_ns"], items["kind"], items["id"], strict=True))
        if rows:
            for name, spent in total(read_track(rows, process["end_ns"], names)).items():
                sums[name] = sums.get(name, 0.0) + float(spent)
    return sums


def compare(name: str, runs: int) -> list[dict[str, Any]]:
    """A row for each operation of a program."""
    measured = [measure(name) for _ in range(runs)]
    return [
        {"program": name, "operation": operation, **differ(operation, measured)}
        for operation in sorted(measured[0][0])
    ]


def is_met(row: dict[str, Any], rows: list[dict[str, Any]]) -> bool:
    """Whether the operation, by whichever of its clocks, is within the target."""
    clocks = [each for each in rows if each["program"] == row["program"]]
    name = row["operation"].partition(",")[0]
    return any(
        abs(each["difference_percent"]["median"]) <= TARGET_PERCENT
        for each in clocks
        if each["operation"].partition(",")[0] == name
    )


def differ(operation: str, measured: list[Measured]) -> dict[str, Any]:
    by_hand = [truth[operation] for truth, _ in measured]
    percent = [
        round(100 * (found.get(operation.partition(",")[0], 0.0) / truth[operation] - 1), 2)
        for truth, found in measured
    ]
    return {
        "by_hand_ms": round(statistics.median(by_hand) / 1e6, 2),
        "difference_percent": median_interval(percent),
    }


def measure(name: str) -> Measured:
    """Nanoseconds of each operation in one run: by hand, automatic."""
    with tempfile.TemporaryDirectory(prefix="rlscope-bench-") as folder:
        directory = str(Path(folder, "run"))
        command = [sys.executable, __file__, "--train", name, directory]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return json.loads(done.stdout.splitlines()[-1])["total"], found(directory)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", default="build/benchmarks/automatic_truth.json")
    parser.add_argument("--train", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        train(*options.train)
        return 0
    names = options.programs or PROGRAMS
    rows = [row for name in names for row in compare(name, options.runs)]
    met = [is_met(row, rows) for row in rows]
    for row, met_it in zip(rows, met, strict=True):
        difference = row["difference_percent"]
        print(
            f"{'met   ' if met_it else 'MISSED'} {row['program']:15} {row['operation']:24} by hand "
            f"{row['by_hand_ms']:9.2f} ms, automatic {difference['median']:+6.2f} % "
            f"[{difference['low']:+.2f}, {difference['high']:+.2f}]"
        )
    write_result(options.output, {"rows": rows, "target_percent": TARGET_PERCENT})
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())

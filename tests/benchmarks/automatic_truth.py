"""Automatic operations against annotations made by hand, in five training programs.

    python tests/benchmarks/automatic_truth.py [--output FILE] [PROGRAM ...]

Both look at the same run: the program's annotations add up their own time, by name, while the
recorder finds the operations by itself. Target: within 5 % of the time of each operation.
"""

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]

from automatic_records import read_track, total  # noqa: E402
from paired import write_result  # noqa: E402

PROGRAMS = {"dqn": 2000, "ppo_continuous": 6, "sac": 300, "reinforce": 40, "a2c": 250}
"""Name of each program, and for how long it trains: a few seconds."""
TARGET_PERCENT = 5.0


class Truth:
    """In the place of rls.operation: notes when each block begins and ends. Blocks do not nest.

    Reading the clock and keeping its value is one call of C code, so that nearly nothing of the
    annotation lies inside the block.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.times: list[int] = []
        clock = map(self.times.append, iter(time.monotonic_ns, None))
        mark = clock.__next__

        class Block:
            __enter__ = mark

            def __exit__(self, *exc: object) -> None:
                mark()

        self._block = Block()

    def __call__(self, name: str) -> Any:
        self.names.append(name)
        return self._block

    def total(self) -> dict[str, int]:
        """Nanoseconds of each operation."""
        sums = dict.fromkeys(self.names, 0)
        ends = zip(self.names, self.times[::2], self.times[1::2], strict=True)
        for name, begin, end in ends:
            sums[name] += end - begin
        return sums


def train(name: str, directory: str) -> None:
    """Runs one program, recorded; prints what its annotations say."""
    import rlscope as rls
    from rlscope import auto

    truth = Truth()
    with rls.profile(directory):
        auto.begin()
        rls.progress(0, 1)  # the ring is made here, not inside the first annotation
        program = importlib.import_module(f"automatic.{name}")
        importlib.import_module("torch").set_num_threads(1)
        program.operation = truth  # type: ignore[attr-defined]
        program.train(PROGRAMS[name])
    print(json.dumps(truth.total()))


def found(directory: str) -> dict[str, float]:
    """Nanoseconds of each automatic operation of the process."""
    from rlscope import _trace

    reader = _trace.Directory(directory)
    (process,) = (row for row in reader.processes if row["python"])
    sums: dict[str, float] = {}
    for thread in reader.threads(process["index"])["thread"]:
        items = reader.items(process["index"], int(thread))
        rows = list(zip(items["time_ns"], items["kind"], items["id"], strict=True))
        if rows:
            for name, spent in total(read_track(rows, process["end_ns"])).items():
                sums[name] = sums.get(name, 0.0) + float(spent)
    return sums


def compare(name: str) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="rlscope-bench-") as folder:
        directory = str(Path(folder, "run"))
        command = [sys.executable, __file__, "--train", name, directory]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr)
        truth = json.loads(done.stdout.splitlines()[-1])
        automatic = found(directory)
    return [
        {
            "program": name,
            "operation": operation,
            "by_hand_ms": round(by_hand / 1e6, 2),
            "automatic_ms": round(automatic.get(operation, 0.0) / 1e6, 2),
            "difference_percent": round(100 * (automatic.get(operation, 0.0) / by_hand - 1), 2),
        }
        for operation, by_hand in sorted(truth.items())
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--output", default="build/benchmarks/automatic_truth.json")
    parser.add_argument("--train", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        train(*options.train)
        return 0
    rows = [row for name in options.programs or PROGRAMS for row in compare(name)]
    for row in rows:
        verdict = "met   " if abs(row["difference_percent"]) <= TARGET_PERCENT else "MISSED"
        print(
            f"{verdict} {row['program']:15} {row['operation']:11} by hand {row['by_hand_ms']:9.2f} "
            f"ms, automatic {row['automatic_ms']:9.2f} ms, {row['difference_percent']:+6.2f} %"
        )
    write_result(options.output, {"rows": rows, "target_percent": TARGET_PERCENT})
    return 0 if all(abs(row["difference_percent"]) <= TARGET_PERCENT for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

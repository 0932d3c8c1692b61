"""64 processes at once: one drainer for all, against a helper thread in each.

    python tests/benchmarks/processes.py [--processes 64] [--seconds 8] [--burst 20] [--output FILE]

Every process records BURST enters and as many exits each 10 ms. It prints the CPU time of the
drainer, of the programs with it, the records that were lost, and how often a producer waited.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from paired import write_result  # noqa: E402
from support.process.recorder_programs import LIBRARY, OPERATION_ENTER, drained, traced_environment  # noqa: E402

from rlscope import _trace  # noqa: E402

_OPERATION_EXIT, _GAP, _WAIT = 2, 13, 14


def compiled(folder: Path) -> Path:
    program = folder / "program"
    library = ["-L", str(LIBRARY.parent), f"-l:{LIBRARY.name}", f"-Wl,-rpath,{LIBRARY.parent}"]
    source = HERE / "processes_program.c"
    subprocess.run(["cc", "-O2", "-o", program, source, *library], check=True)
    return program


def run_all(commands: Sequence[Sequence[str]], environ: dict[str, str]) -> float:
    """Runs all at once; CPU seconds of them together."""
    before = os.times()
    children = [subprocess.Popen(command, env=environ) for command in commands]
    failed = sum(child.wait() != 0 for child in children)
    after = os.times()
    if failed:
        raise SystemExit(f"{failed} programs failed")
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )


def counted(directories: Sequence[Path]) -> dict[str, int]:
    """Records kept and lost, and waits, over all processes of all traces."""
    sums = dict.fromkeys(("kept", "lost", "gaps", "waits", "helper_cpu_ns"), 0)
    for directory in directories:
        trace = _trace.Directory(str(directory))
        for process in trace.processes:
            index = process["index"]
            sums["lost"] += sum(
                loss["count"] for loss in trace.losses(index) if loss["kind"] != "late_attach"
            )
            sums["helper_cpu_ns"] += process["profiler_cpu_ns"] or 0
            for thread in trace.threads(index)["thread"]:
                kind = trace.items(index, int(thread))["kind"]
                sums["kept"] += int(((kind == OPERATION_ENTER) | (kind == _OPERATION_EXIT)).sum())
                sums["gaps"] += int((kind == _GAP).sum())
                sums["waits"] += int((kind == _WAIT).sum())
    return sums


def one_drainer(program: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    directory = folder / "wrapper"
    command = [str(program), str(options.seconds), str(options.burst)]
    with drained(directory) as drainer:
        cpu = run_all([command] * options.processes, traced_environment(directory))
    drainer_ms = drainer.stats()["cpu_ns"] / 1e6
    return {"programs_cpu_ms": cpu * 1e3, "drainer_cpu_ms": drainer_ms, **counted([directory])}


def own_helpers(program: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    directories = [folder / f"helper-{i}" for i in range(options.processes)]
    for directory in directories:
        directory.mkdir()
    base = [str(program), str(options.seconds), str(options.burst)]
    cpu = run_all([[*base, str(one)] for one in directories], {"PATH": os.environ["PATH"]})
    return {"programs_cpu_ms": cpu * 1e3, **counted(directories)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--burst", type=int, default=20)
    parser.add_argument("--output", default="build/benchmarks/processes.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = compiled(folder)
        command = [str(program), str(options.seconds), str(options.burst)]
        plain = run_all([command] * options.processes, {"PATH": os.environ["PATH"]})
        result = {
            "records": 2 * options.burst * int(options.seconds * 100) * options.processes,
            "not traced": {"programs_cpu_ms": plain * 1e3},
            "one drainer": one_drainer(program, folder, options),
            "own helpers": own_helpers(program, folder, options),
        }
    for key, value in result.items():
        print(f"{key}: {value}")
    write_result(options.output, {**result, "options": vars(options)})
    return 0


if __name__ == "__main__":
    sys.exit(main())

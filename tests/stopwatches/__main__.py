"""Automatic operations against stopwatches, in programs of public libraries.

    make stopwatches                            docs/reference/stopwatches.md, anew
    python tests/stopwatches skrl_ppo           some programs; the others keep their rows

Each program runs once under rls-prof, without annotations. Its stopwatch and its page look at the
same run. A share of the page is a hit if it is at most 5 points off the stopwatch's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "benchmarks")]

from validation_page import this_machine  # noqa: E402

from stopwatches.page import Row, renewed  # noqa: E402
from stopwatches.programs import LIBRARIES  # noqa: E402
from stopwatches.stopwatch import MARK  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "stopwatches.md"
_LIMIT_S = 300
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


def measure(script: Path, library: str, folder: Path) -> Row:
    """Runs a program under rls-prof, in `folder`.

    Raises:
        subprocess.CalledProcessError: it failed; its output is on stderr.
    """
    from rlscope.analysis.groups import group_time
    from rlscope.opening import load
    from rlscope.report.headline import first_sentence

    directory = folder / script.stem
    path = os.pathsep.join(filter(None, [str(ROOT), str(HERE), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "rlscope", "prof", "--quiet", "--no-report"),
            *("-o", str(directory), sys.executable, str(script)),
        ],
        cwd=folder,
        env=os.environ | _ENVIRONMENT | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=_LIMIT_S,
    )
    said = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    result = json.loads(said[-1].removeprefix(MARK))
    trace = load(directory)
    times, sentence = group_time(trace).to_dicts(), first_sentence(trace)
    return Row.of(script.stem, library, result, times, sentence)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(LIBRARIES))
    parser.add_argument("--page", type=Path, default=PAGE, help="the page that gets the rows")
    parser.add_argument("--keep", type=Path, help="keep the traces in this folder")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="rlscope-stopwatches-") as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for program in options.programs or LIBRARIES:
            try:
                script = HERE / "programs" / f"{program}.py"
                row = measure(script, LIBRARIES[program], folder)
            except (subprocess.SubprocessError, IndexError) as error:
                print(f"FAILED {program}: {error}", flush=True)
                failed += 1
                continue
            print(row.line(), flush=True)
            text = options.page.read_text()
            options.page.write_text(renewed(text, [row], _conditions(), LIBRARIES))
    return min(failed, 1)


def _conditions() -> str:
    machine = this_machine()
    return f"The latest row is of {date.today()}: {machine.kind}; {machine.software}."


if __name__ == "__main__":
    sys.exit(main())

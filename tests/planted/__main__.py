"""Advice against the truth: small programs with one known bottleneck, and twins without it.

    python tests/planted                        docs/reference/planted.md, anew
    python tests/planted step_journal           some programs; the others keep their rows

Both twins run in turn, as they are, and then each under rls-prof. The table compares what the first
finding promises with the difference of the twins. If --keep names a folder with runs of a program,
they are not made again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "benchmarks")]

from validation_page import this_machine  # noqa: E402

from planted.page import renewed, row  # noqa: E402
from planted.programs import PLANTED  # noqa: E402
from planted.twins import measure  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "planted.md"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PLANTED))
    parser.add_argument("--rounds", type=int, default=3, help="plain runs of each twin, at least")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page that gets the rows")
    parser.add_argument("--keep", type=Path, help="keep the runs in this folder")
    parser.add_argument("--note", default="", help="a sentence on the machine, for the page")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="rlscope-planted-") as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for program in options.programs or PLANTED:
            try:
                line = row(measure(program, folder, options.rounds))
            except subprocess.SubprocessError as error:
                print(f"FAILED {program}: {error}", flush=True)
                failed += 1
                continue
            print(line, flush=True)
            text = options.page.read_text()
            options.page.write_text(renewed(text, [line], _conditions(options.note)))
    return min(failed, 1)


def _conditions(note: str) -> str:
    machine = this_machine()
    said = f"The latest row is of {date.today()}: {machine.kind}; {machine.software}."
    return f"{said} {note}".strip()


if __name__ == "__main__":
    sys.exit(main())

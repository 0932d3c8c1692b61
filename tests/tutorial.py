"""The figures of docs/tutorial.md, from runs of the programs in docs/tutorial.

python tests/tutorial.py        records them, and writes the page anew (6 minutes)

Each block of the page lies between two comments, of which the first says what it is.
"""

from __future__ import annotations

import difflib
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / "benchmarks")]

from validation_page import this_machine  # noqa: E402

PAGE = Path(__file__).parents[1] / "docs/tutorial.md"
PROGRAMS = PAGE.parent / "tutorial"
STEPS = ("slow", "batched", "arrays", "unchecked")
RUNS, PLAIN_RUNS, UPDATES = 3, 5, 30
_BLOCK = re.compile(r"(?<=<!-- )(?P<asked>\w+): (?P<names>[\w ]+) -->\n.*?<!-- end -->", re.DOTALL)
Maker = Callable[..., str]


def renewed(page: str, makers: dict[str, Maker]) -> str:
    """The page with the blocks of these kinds made anew."""

    def block(found: re.Match[str]) -> str:
        maker = makers.get(found["asked"])
        if maker is None:
            return found[0]
        made = maker(*found["names"].split()).rstrip("\n")
        return f"{found['asked']}: {found['names']} -->\n{made}\n<!-- end -->"

    return _BLOCK.sub(block, page)


def change(before: str, after: str) -> str:
    """What differs between two of the programs."""
    texts = [(PROGRAMS / f"{name}.py").read_text().splitlines() for name in (before, after)]
    lines = [*difflib.unified_diff(*texts, before, after, lineterm="", n=1)][2:]
    hunks = [line for line in lines if '"""' not in line]
    return "\n".join(["```diff", *_without_empty_hunks(hunks), "```"])


def _without_empty_hunks(lines: Sequence[str]) -> list[str]:
    """Lines of a hunk that changes nothing but the docstring of the file are left out."""
    hunks: list[list[str]] = []
    for line in lines:
        if line.startswith("@@"):
            hunks.append([])
        hunks[-1].append(line)
    changed = [hunk for hunk in hunks if any(line[0] in "+-" for line in hunk)]
    return [line for hunk in changed for line in ("...", *hunk[1:])][1:]


class Recorded:
    """Runs of all steps, and what rlscope says of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for number in range(RUNS):
            for step in STEPS:
                directory = str(self._run(step, number))
                self._rlscope("prof", "--quiet", "--no-report", "-o", directory, *_program(step))
        times: dict[str, list[float]] = {step: [] for step in STEPS}
        for _ in range(PLAIN_RUNS):
            for step in STEPS:
                times[step].append(float(_output(_program(step)).split()[0]))
        self._times = {step: statistics.median(found) for step, found in times.items()}

    def advice(self, step: str) -> str:
        """The first finding of a step, as a terminal shows it."""
        said = self._rlscope("advise", str(self._run(step, 0)))
        first, *_ = re.split(r"\n\n(?=2 |- |No rule)", said[said.index("\n1 ") + 1 :])
        return f"```text\n{first}\n```"

    def difference(self, before: str, after: str) -> str:
        """The loop and the operations of two steps, as a terminal shows them."""
        sides = [
            [str(self._run(step, number)) for number in range(RUNS)] for step in (before, after)
        ]
        said = self._rlscope("diff", "--base", *sides[0], "--new", *sides[1])
        paragraphs = said.split("\n\n")
        shown = [each for each in paragraphs if each.startswith(("Times", "operation"))]
        loop = next(line for line in shown[0].splitlines() if line.startswith("The loop:"))
        rest = shown[0][shown[0].index(loop) :].splitlines()
        own = [loop, *_continued(rest[1:])]
        return "\n".join(["```text", *own, "", *until_verdict(shown[1].splitlines()), "```"])

    def times(self, *steps: str) -> str:
        """How long the loops take without rlscope, and what it promised."""
        machine = this_machine()
        rows = [
            f"{PLAIN_RUNS} runs of each program in turns without rlscope, and {RUNS} with it, on "
            f"{date.today()}: {machine.kind}; {machine.software}.",
            "",
            "| program | loop, s | time won by the last change | promised |",
            "|---|---|---|---|",
        ]
        for before, step in zip((None, *steps[:-1]), steps, strict=True):
            won = "" if before is None else f"{1 - self._times[step] / self._times[before]:.1%}"
            promised = "" if before is None else self._promised(before)
            rows.append(f"| `{step}.py` | {self._times[step]:.2f} | {won} | {promised} |")
        return "\n".join(rows)

    def _promised(self, step: str) -> str:
        said = self._rlscope("advise", str(self._run(step, 0)), "--format", "json")
        found = json.loads(said)
        first = found["findings"][0]
        ends = (first[f"saving{end}_ns"] / found["loop"]["loop_ns"] for end in ("_low", "_high"))
        low, high = ends
        return f"{first['saving_share']:.1%} ({low:.1%} to {high:.1%})"

    def _run(self, step: str, number: int) -> Path:
        return self._folder / f"{step}-{number}"

    def _rlscope(self, *arguments: str) -> str:
        return _output([sys.executable, "-m", "rlscope", *arguments])


def _continued(lines: Sequence[str]) -> list[str]:
    """The lines that go on with a sentence: they are indented."""
    found = []
    for line in lines:
        if not line.startswith(" "):
            break
        found.append(line)
    return found


def until_verdict(table: Sequence[str]) -> list[str]:
    """The table without the columns right of the verdict: a terminal may leave some of them out."""
    end = table[0].find("of the loop")
    return [line[:end].rstrip() if end >= 0 else line for line in table]


def _program(step: str) -> list[str]:
    return [sys.executable, str(PROGRAMS / f"{step}.py"), str(UPDATES)]


def _output(command: Sequence[str]) -> str:
    print("+", " ".join(command), file=sys.stderr, flush=True)
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="rlscope-tutorial-") as folder:
        found = Recorded(Path(folder))
        makers: dict[str, Maker] = {
            "change": change,
            "advice": found.advice,
            "difference": found.difference,
            "times": found.times,
        }
        PAGE.write_text(renewed(PAGE.read_text(), makers))
    print(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())

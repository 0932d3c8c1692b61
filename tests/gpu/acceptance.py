"""Is what rlscope records of a real GPU right, and what does it cost? Runs steps: PASS, FAIL, SKIP.

    python tests/gpu/acceptance.py                    for nine minutes, in order of worth
    python tests/gpu/acceptance.py --minutes 25       for longer
    python tests/gpu/acceptance.py --list             the steps, and which of them fit
    python tests/gpu/acceptance.py --first cost       what recording costs, before all else
    python tests/gpu/acceptance.py counts million     these steps only

Run it with a Python that has rlscope; a step whose library is missing is a SKIP with its reason.
Every step runs in a process of its own, and writes its line of results.jsonl as soon as it has
ended; what it left (traces, output, CUPTI's own records) is packed beside it. Steps that passed in
the results of an earlier call are not run again: a lease that is too short is used by several
calls. Ends with 1 when a step failed or none passed.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))

import answers
from answers import Answer
from evidence import Evidence
from gpu_runs import Bench
from plan import GROUPS, PLAN, Step, in_order
from step_process import ANSWER, run_alone

RESULTS, LOG = "results.jsonl", "log.txt"
PATIENT_MINUTES = 40
PACKING_SECONDS = 5.0
MOST_SAID = 1500
"""Characters of a step's figures on the terminal; results.jsonl has all."""


@dataclass
class Clock:
    """How long there is."""

    end: float

    def left(self) -> float:
        return self.end - time.monotonic() - PACKING_SECONDS


class Console:
    """Lines for the terminal, and for the file that is brought home."""

    def __init__(self, file: Path) -> None:
        self._stream = open(file, "a")

    def say(self, line: str) -> None:
        for stream in (sys.stdout, self._stream):
            print(line, file=stream, flush=True)


def run_steps(steps: list[Step], options: argparse.Namespace, clock: Clock) -> list[Answer]:
    console, evidence = Console(options.results / LOG), Evidence(options.results)
    found, later = [], []
    with tempfile.TemporaryDirectory(prefix="rlscope-gpu-", ignore_cleanup_errors=True) as place:
        for step in steps:
            if step.expect_s > clock.left():
                later.append(step.name)
                continue
            found.append(run_step(step, Path(place) / step.name, options, clock))
            answers.append(options.results / RESULTS, found[-1])
            evidence.add(step.name, Path(place) / step.name, passed=found[-1].status == "PASS")
            console.say(line_of(found[-1]))  # once all that it left is packed
            shutil.rmtree(Path(place) / step.name, ignore_errors=True)
    if later:
        console.say(f"no time for: {' '.join(later)}")
    for each in evidence.left_out:
        console.say(f"not packed, too large: {each}")
    console.say(summary(found))
    return found


def run_step(step: Step, folder: Path, options: argparse.Namespace, clock: Clock) -> Answer:
    limit_s = min(options.limit or step.limit_s, max(clock.left(), 1.0))
    try:
        return run_alone(step.name, folder, limit_s, patient=options.patient)
    except Exception as error:  # a step never ends the run
        return Answer(step.name, "FAIL", 0.0, f"{type(error).__name__}: {error}")


def alone(name: str, folder: Path, limit_s: float, *, patient: bool) -> int:
    """In the step's own process: its answer goes to a file of its folder."""
    (step,) = (each for each in PLAN if each.name == name)
    bench = Bench(folder, patient=patient, seconds=limit_s)
    found = answers.find_answer(name, step.run, bench)
    (folder / ANSWER).write_text(json.dumps(found.row(), default=str) + "\n")
    if found.status == "FAIL":
        bench.witness_last()
    return 0


def line_of(answer: Answer) -> str:
    words = [answer.reason] if answer.reason else []
    if answer.figures:
        text = json.dumps(answer.figures, default=str)
        words.append(text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]}...")
    return f"{answer.status} {answer.step} ({answer.seconds:.1f} s): {' '.join(words)}"


def summary(found: list[Answer]) -> str:
    statuses = [answer.status for answer in found]
    return ", ".join(f"{statuses.count(each)} {each}" for each in answers.STATUSES)


def listing(steps: list[Step], done: set[str], minutes: float) -> str:
    left, lines = minutes * 60 - PACKING_SECONDS, []
    for step in steps:
        when = "done" if step.name in done else "now" if step.expect_s <= left else "later"
        left -= step.expect_s * (when == "now")
        lines.append(f"{when:5} {step.expect_s:4.0f} s  {step.name:24} {step.question}")
    return "\n".join(lines)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("steps", nargs="*", metavar="STEP", help="all of them by default")
    parser.add_argument("--minutes", type=float, default=9.0, help="how long there is (9)")
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("gpu-results"),
        metavar="DIR",
        help="where answers and evidence go (gpu-results)",
    )
    parser.add_argument(
        "--after",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="results.jsonl of earlier calls, besides the one in --results",
    )
    parser.add_argument("--first", choices=GROUPS, help="the steps of this group before the others")
    parser.add_argument("--limit", type=float, metavar="S", help="of each step, instead of its own")
    parser.add_argument("--list", action="store_true", help="list the steps and what fits")
    parser.add_argument(
        "--patient", action="store_true", help="repeat more often (from 40 minutes)"
    )
    parser.add_argument("--alone", metavar="STEP", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    options = parse()
    options.patient |= options.minutes >= PATIENT_MINUTES
    if options.alone:
        return alone(
            options.alone, options.results, options.limit or math.inf, patient=options.patient
        )
    unknown = sorted(set(options.steps) - {step.name for step in PLAN})
    if unknown:
        print(f"no such step: {', '.join(unknown)}; --list names them", file=sys.stderr)
        return 1
    absent = [file for file in options.after if not file.is_file()]
    if absent:
        print(f"no such file: {', '.join(map(str, absent))}", file=sys.stderr)
        return 1
    own = options.results / RESULTS
    done = answers.finished(answers.read([*options.after, *([own] if own.exists() else [])]))
    plan = in_order(options.first)
    if options.steps:
        chosen, done = [step for step in plan if step.name in options.steps], set()
    else:
        chosen = plan
    if options.list:
        print(listing(chosen, done, options.minutes))
        return 0
    options.results.mkdir(parents=True, exist_ok=True)
    clock = Clock(time.monotonic() + options.minutes * 60)
    found = run_steps([step for step in chosen if step.name not in done], options, clock)
    print(f"results: {options.results.resolve()}")
    statuses = {answer.status for answer in found}
    return 0 if "PASS" in statuses and "FAIL" not in statuses else 1


if __name__ == "__main__":
    raise SystemExit(main())

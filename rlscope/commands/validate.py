"""`rlscope validate -- COMMAND...`: checks how exactly rlscope subtracts what recording costs."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rlscope.commands.options import repeated_program, values
from rlscope.commands.options.repeated_program import percent
from rlscope.record.settings import Settings
from rlscope.terminal import stderr
from rlscope.visible import visible

if TYPE_CHECKING:
    from rlscope.calibration.validation import OperationVerdicts, Round, Verdict
    from rlscope.costs.inflation import Combined

_DESCRIPTION = """\
Checks the correction of a program: how far is its corrected time from the time without recording?
Each round is a run of its own. In it some iterations are recorded and others not, chosen at random.
Nothing that `rlscope calibrate` measured is used again. If a program has no iterations, whole runs
take turns. That takes many rounds.

Each operation that the program annotates is checked too. The time without recording then comes from
iterations in which nothing is recorded and the annotations run a stopwatch.

exit code, for the whole loop:
  0    the bias is inside +-3 %
  1    it is outside, or the program cannot be checked
  3    the rounds cannot tell"""

_EXAMPLES = """\
examples:
  rlscope validate python train.py
  rlscope validate --within 0.5% --limit 3600 -- python train.py --seed 1
  rlscope validate --json python train.py       for scripts
"""
_FEWEST_ROUNDS = 3
_EXIT_CODES = {"inside": 0, "outside": 1, "undecided": 3}


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    repeated_program.prepare(parser, within=0.01, meaning="the bias")
    parser.add_argument(
        "--rounds",
        type=values.rounds,
        metavar="N",
        help="make N rounds, however precise the bias is and however long that takes. A round "
        "takes a sixth of the limit at most",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the result as JSON, and send the program's stdout to stderr",
    )


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Runs rounds until the bias is known well enough, and prints it."""

    def validate(settings: Settings) -> int:
        with _stdout_of_program(to_stderr=options.json):
            verdict, operations = _validate(settings, options.within, options.limit, options.rounds)
        if options.json:
            print(json.dumps(_facts(verdict) | _operation_facts(operations), indent=1))
        else:
            print("\n".join([*_operation_lines(operations), *_lines(verdict)]))
        return _EXIT_CODES[verdict.word]

    return repeated_program.run(parser, options, validate)


@contextlib.contextmanager
def _stdout_of_program(*, to_stderr: bool) -> Iterator[None]:
    """Ours has the JSON alone."""
    if not to_stderr:
        yield
        return
    own = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(own, 1)
        os.close(own)


def _say(line: str) -> None:
    stderr.write(f"rlscope validate: {visible(line)}\n")


def _validate(
    settings: Settings, within: float, limit: float, wanted: int | None
) -> tuple[Verdict, OperationVerdicts]:
    from rlscope.calibration import validation
    from rlscope.calibration.runs_in_turns import RUNS_IN_LIMIT, NoIterations, RunError
    from rlscope.calibration.whole_runs import WholeRuns

    end = time.monotonic() + limit
    rounds: list[Round] = []
    whole: WholeRuns | None = None

    def ends() -> bool:
        if wanted is not None:
            return len(rounds) == wanted
        enough = len(rounds) >= _FEWEST_ROUNDS
        precise = enough and validation.judge(rounds).bias.half_width <= within
        return precise or end - time.monotonic() < limit / RUNS_IN_LIMIT / 2

    while not ends():
        _say(f"round {len(rounds) + 1}: {' '.join(settings.command)}")
        if whole is None:
            try:
                rounds.append(
                    validation.by_iterations(
                        settings,
                        error=within / 3,
                        seconds=limit / RUNS_IN_LIMIT,
                        say=_say,
                    )
                )
            except NoIterations:
                _say("the program counts no iterations, so whole runs take turns")
                whole = WholeRuns(settings, _say)
                continue
        else:
            with whole.pair() as pair:
                rounds.append(validation.of_whole_runs(pair))
        last = rounds[-1]
        _say(
            f"recording adds {percent(last.added)}, and the correction removes "
            f"{percent(last.removed)}"
        )
    if len(rounds) < 2:
        raise RunError(
            f"{len(rounds)} rounds in {limit:g} seconds are too few: give a longer --limit"
        )
    return validation.judge(rounds), validation.judge_operations(rounds)


def _lines(verdict: Verdict) -> list[str]:
    low, high = map(percent, verdict.claimed)
    holds = "is" if verdict.holds else "is not"
    lines = [
        f"recording adds               {_interval(verdict.added)}",
        f"left after the correction    {_interval(verdict.bias)}",
    ]
    if verdict.control is not None:
        lines.append(f"the same without recording   {_interval(verdict.control)}")
    return [
        *lines,
        f"the correction claims to be off by {low} to {high}: 0 {holds} in that interval, and was "
        f"in it in {verdict.held} of {verdict.rounds} rounds",
        f"costs of records: {verdict.method}{_unknown(verdict)}",
        {
            "inside": "verdict: inside +-3 %",
            "outside": "verdict: outside +-3 %",
            "undecided": "verdict: undecided; give a longer --limit for more rounds",
        }[verdict.word],
    ]


def _unknown(verdict: Verdict) -> str:
    if verdict.unknown_costs is None:
        return ""
    return (
        f"; nothing measured what records of {verdict.unknown_costs} cost, and the correction "
        "leaves it in: `rlscope calibrate` of this program measures it"
    )


def _operation_lines(operations: OperationVerdicts) -> list[str]:
    if operations.absent is not None:
        return [f"operations: {visible(operations.absent)}"]
    headings = ("recording adds", "left after the correction", "the same without recording")
    rows = [("operation", *headings, "verdict")]
    rows += [
        (
            visible(path),
            _interval(found.added),
            _interval(found.bias),
            "-" if found.control is None else _interval(found.control),
            found.word,
        )
        for path, found in operations.verdicts.items()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    if operations.left_out:
        lines.append(
            f"not compared: {operations.left_out} operations, which took less than 0.1 % of the "
            "loop, were in too few blocks, or ran on other threads"
        )
    return [*lines, ""]


def _facts(verdict: Verdict) -> dict[str, Any]:
    return {
        **_common_facts(verdict),
        "method": verdict.method,
        "unknown_costs": verdict.unknown_costs,
    }


def _operation_facts(operations: OperationVerdicts) -> dict[str, Any]:
    return {
        "operations": {path: _common_facts(each) for path, each in operations.verdicts.items()},
        "operations_left_out": operations.left_out,
        "operations_absent": operations.absent,
    }


def _common_facts(verdict: Verdict) -> dict[str, Any]:
    return {
        "bias_percent": 100 * verdict.bias.mean,
        "bias_interval": _ends(verdict.bias),
        "inflation_percent": 100 * verdict.added.mean,
        "inflation_interval": _ends(verdict.added),
        "aa_interval": None if verdict.control is None else _ends(verdict.control),
        "claimed_interval": [100 * end for end in verdict.claimed],
        "rounds": verdict.rounds,
        "rounds_held": verdict.held,
        "verdict": verdict.word,
    }


def _ends(found: Combined) -> list[float]:
    return [100 * found.low, 100 * found.high]


def _interval(found: Combined) -> str:
    return f"{percent(found.mean)} ({percent(found.low)} to {percent(found.high)})"

"""Numbers of a survey in words, which the page and the article share. Nothing is computed here that
is no mean over runs."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rlscope.report import units
from rlscope.survey import cells, reasons
from rlscope.survey.claims import Judged, JudgedFinding
from rlscope.survey.pairs import Pair
from rlscope.survey.pictures import UNMEASURED, units_of
from rlscope.survey.results import (
    CellResult,
    Plan,
    Results,
    Value,
    median,
    value_of,
    value_of_amounts,
)
from rlscope.survey.runs import INFERENCE, LEARNING, SIMULATION, STAGES, Process, Run

CELL_COLUMNS = (
    "cell",
    ">runs",
    ">iterations",
    ">time",
    "per",
    ">simulation",
    ">inference",
    ">learning",
    ">transitions, per iteration",
    ">GPU busy",
    ">processes",
    ">recording cost",
    "cost measured by",
    "result",
)
FINDING_COLUMNS = (
    "finding",
    "verdict",
    "here",
    "decided by, and why",
    "definition",
    "paper",
    "made again by",
)
PAIR_COLUMNS = (
    "cell",
    "over",
    ">time of a step",
    ">time in native code",
    ">transitions, per iteration",
)
PROCESS_COLUMNS = (
    "cell",
    "process",
    "role",
    ">polled for",
    ">CPU time meanwhile",
    ">the poller reports",
    ">not waiting meanwhile",
    *(f">{stage}, in the loop" for stage in STAGES),
    ">GPU busy",
)
PROCESSES = (
    "The numbers come from the first repetition. A poller reports the CPU time of a process: "
    "100 % is one core for the whole time. The next column shows for how much of the same time the "
    "process was not waiting. Then it was in Python, a simulator or a framework, even while other "
    "processes had the cores. With more processes than cores, the poller's number is therefore the "
    "smaller one. A process that only steps environments for another one has no training loop of "
    "its own."
)
SHARES = (
    "A stage is - if the training process ran no operation of it in its loop. Then workers ran it, "
    "or it is part of a compiled program."
)
TIMES = (
    "The time of a step or an iteration is wall time of the training process. Workers add nothing "
    "to it. The table of processes has their times. A transition is an entry of the training "
    "process into a framework's native code. Transitions are counted per iteration."
)
STATISTICS = (
    "Brackets hold the 95 % interval of the mean over repetitions, by Student's t. For ratios, the "
    "mean is the geometric one, and the interval is computed from logarithms. Each repetition of "
    "all cells gives each finding one number. A finding holds only if the whole interval lies on "
    'the claimed side. The verdict is "does not hold" only if the whole interval lies on the other '
    "side."
)
_DASH = "-"
_COUNTLESS = 1e6
"""From here on digits say less than their number."""
_STAGES = (SIMULATION, INFERENCE, LEARNING)


def command(plan: Plan, experiment: str) -> str:
    """What makes a figure or a finding again."""
    chosen = [] if experiment == cells.EVERY else ["--experiment", experiment]
    return shlex.join(["rlscope", "survey", *chosen, *plan.arguments, "-o", "survey"])


def conditions(results: Results) -> list[str]:
    """The machine and the scale, a sentence each."""
    machine, plan = results.machine, results.plan
    found = []
    if machine:
        memory = units.size(machine.get("memory_bytes"))
        found.append(
            f"Machine: {machine.get('cpu')}, {units.plural(machine.get('cores') or 0, 'core')}, "
            f"{memory} of memory, Linux {machine.get('kernel')}, Python {machine.get('python')}, "
            f"{'with' if machine.get('cuda_driver') else 'without'} a CUDA driver."
        )
    ran = [each for each in results.cells if each.good]
    found.append(
        f"{len(ran)} of {units.plural(len(results.cells), 'cell')} with numbers, "
        f"{units.plural(plan.repetitions, 'repetition')} each, interleaved. A run was recorded for "
        f"{plan.window:g} s after its warm-up. {_calibration(plan)}"
    )
    found.append(_device(plan))
    if libraries := results.libraries:
        named = ", ".join(f"{name} {version}" for name, version in libraries.items())
        found.append(f"Libraries: {named}.")
    if (cost := _typical_cost(results)) is not None:
        found.append(
            f"Recording cost: {100 * cost:.2f} % of the training loop, the median over "
            f"{units.plural(len([e for e in ran if _costs(e)]), 'cell')}. All times are without it."
        )
    return found


def gpu_absence(results: Results) -> str:
    """Why the columns of a GPU are empty; "" where some run recorded GPU work."""
    good = [run for each in results.cells for run in each.good]
    if any(run.has_gpu for run in good):
        return ""
    reason = good[0].gpu_absence if good else "no run has numbers"
    return (
        f"GPU time is missing: {reason}. On a machine with a GPU, rlscope survey --device cuda "
        "fills the columns and findings of GPU time."
    )


def cell_row(each: CellResult) -> list[str]:
    """The values of CELL_COLUMNS."""
    good = each.good
    if not good:
        return [each.cell.name, _runs(each), *[""] * (len(CELL_COLUMNS) - 3), each.failure]
    measured = all(run.loop for run in good)
    share = [_share(good, stage) for stage in _STAGES]
    entries = [run.entries(None) for run in good]
    return [
        each.cell.name,
        _runs(each),
        units.count(round(_mean(good, lambda run: float(run.iterations)))),
        _time(good) if measured else UNMEASURED,
        "step" if good[0].steps else "iteration" if good[0].iterations else "run",
        *(share if measured else [UNMEASURED] * len(share)),
        number_value(value_of_amounts([rate for rate in entries if rate is not None])),
        _percent_value(value_of_amounts([_gpu_share(run) for run in good if run.has_gpu])),
        units.count(round(_mean(good, lambda run: float(len(run.processes))))),
        _percent_value(_cost(each), of_costs=True),
        good[0].correction or _DASH,
        each.failure or "good",
    ]


def pair_row(pair: Pair) -> list[str]:
    """The values of PAIR_COLUMNS."""
    ratios = (pair.time, pair.backend_time, pair.entries)
    return [pair.first, pair.second, *map(number_value, ratios)]


def process_rows(each: CellResult) -> Iterator[list[str]]:
    """The values of PROCESS_COLUMNS, of the first run with numbers; none where no process of it
    was measured by itself."""
    for run in each.good[:1]:
        if all(process.polled is None for process in run.processes):
            continue
        for place, process in enumerate(run.processes):
            yield [
                each.cell.name,
                process.name,
                process.role,
                *_polled(process),
                *_stages(run, place),
            ]


def _polled(process: Process) -> list[str]:
    polled = process.polled
    if polled is None or not polled.duration_ns:
        return [UNMEASURED] * 4
    busy = None if polled.busy_ns is None else 100 * polled.busy_ns / polled.duration_ns
    return [
        units.duration(polled.duration_ns),
        units.duration(polled.cpu_ns),
        f"{polled.polled_percent:.1f} %",
        UNMEASURED if busy is None else f"{busy:.1f} %",
    ]


def _stages(run: Run, place: int) -> list[str]:
    """The stages of a process, with the time in which the GPU worked."""
    if all(row.process is None for row in run.rows):
        return [UNMEASURED] * (len(STAGES) + 1)
    if all(row.process != place for row in run.rows):
        return [_DASH] * (len(STAGES) + 1)
    times = {
        stage: sum(row.ns for row in run.rows if row.process == place and row.stage == stage)
        for stage in STAGES
    }
    gpu = sum(row.ns for row in run.rows if row.process == place and row.gpu_busy)
    return [*map(units.duration, times.values()), units.duration(gpu) if run.has_gpu else _DASH]


def claim_rows(found: JudgedFinding, results: Results) -> Iterator[list[str]]:
    """The values of FINDING_COLUMNS: a row for each claim, the finding in the first."""
    finding = found.finding
    for place, judged in enumerate(found.judged):
        first = place == 0
        yield [
            f"{finding.key}. {finding.title}" if first else "",
            f"{judged.verdict}: {reasons.verdict(judged, bound(judged))}",
            claim_value(judged),
            _decided(judged, results),
            f"{judged.claim.what}; claimed: {judged.claim.side} {bound(judged)}",
            judged.claim.paper or _DASH,
            command(results.plan, finding.experiment) if first else "",
        ]


def claim_value(judged: Judged) -> str:
    """With its interval."""
    if judged.claim.percent:
        return _percent_value(judged.value)
    return number_value(judged.value)


def bound(judged: Judged) -> str:
    """The bound of a claim."""
    value = judged.claim.bound
    return f"{100 * value:.3g} %" if judged.claim.percent else f"{value:g}"


def headline(results: Results, found: Sequence[JudgedFinding]) -> str:
    """What the survey says, in one line."""
    if found:
        return f"Findings of the RL-Scope paper on this machine: {verdicts(found)}"
    return f"{units.plural(len(results.cells), 'program')}, compared"


def verdicts(found: Sequence[JudgedFinding]) -> str:
    """How many findings have each verdict."""
    counts: dict[str, int] = {}
    for each in found:
        counts[each.verdict] = counts.get(each.verdict, 0) + 1
    return ", ".join(f"{verdict}: {count}" for verdict, count in counts.items())


def number_value(value: Value | None) -> str:
    """ "1.24 (1.10 to 1.38)"."""
    return _interval(value, _digits)


def duration_value(value: Value | None) -> str:
    """ "1.24 ms (1.10 ms to 1.38 ms)"."""
    return _interval(value, units.duration)


def made_again(plan: Plan, experiment: str) -> str:
    """The command beside a figure or a table."""
    return f"Made again by: {command(plan, experiment)}"


def sentence(text: str) -> str:
    """With a capital letter."""
    return text[:1].upper() + text[1:]


def _decided(judged: Judged, results: Results) -> str:
    said = [reasons.deciding(judged), reasons.why(results, judged)]
    return ". ".join(filter(None, said)) or _DASH


def _percent_value(value: Value | None, *, of_costs: bool = False) -> str:
    places = 2 if of_costs else 1
    return _interval(value, lambda number: f"{100 * number:.{places}f} %")


def _interval(value: Value | None, text: Callable[[float], str]) -> str:
    if value is None:
        return _DASH
    if value.low is None or value.high is None:
        return text(value.mean)
    return f"{text(value.mean)} ({text(value.low)} to {text(value.high)})"


def _digits(number: float) -> str:
    if abs(number) >= _COUNTLESS:
        return f"{number:.1e}"
    places = 3 if abs(number) < 10 else 1 if abs(number) < 100 else 0
    return f"{number:,.{places}f}"


def _runs(each: CellResult) -> str:
    return f"{len(each.good)} of {len(each.runs)}" if each.runs else "0"


def _mean(runs: Sequence[Run], of: Callable[[Run], float]) -> float:
    return sum(map(of, runs)) / len(runs)


def _time(good: Sequence[Run]) -> str:
    return duration_value(value_of_amounts([run.ns / units_of(run) for run in good]))


def _share(good: Sequence[Run], stage: str) -> str:
    shares = [run.share(stage) for run in good]
    return _percent_value(value_of_amounts(shares)) if any(shares) else _DASH


def _gpu_share(run: Run) -> float:
    return run.time(lambda row: bool(row.gpu_busy)) / run.ns if run.ns else 0.0


def _cost(each: CellResult) -> Value | None:
    """Its interval has both errors in it: repetitions differ, and a correction may be wrong in all
    of them alike, as that of one calibration is."""
    spread = value_of(_costs(each))
    if spread is None:
        return None
    known = [run.cost for run in each.good if run.cost is not None]
    below = spread.mean - sum(low for _, low, _ in known) / len(known)
    above = sum(high for _, _, high in known) / len(known) - spread.mean
    between = 0.0 if spread.high is None else spread.high - spread.mean
    return replace(
        spread,
        low=spread.mean - math.hypot(below, between),
        high=spread.mean + math.hypot(above, between),
    )


def _costs(each: CellResult) -> list[float]:
    return [run.cost[0] for run in each.good if run.cost is not None]


def _typical_cost(results: Results) -> float | None:
    """The median over cells of the mean over repetitions."""
    means = [value_of(_costs(each)) for each in results.cells]
    return median(value.mean for value in means if value is not None)


def _device(plan: Plan) -> str:
    if plan.device:
        return f"Device: programs that take --device had their networks on {plan.device}."
    return "Device: these results do not say on which one the networks were."


def _calibration(plan: Plan) -> str:
    if plan.calibration:
        seconds = f"{plan.calibration:g} s"
        return f"Before that, rlscope calibrate ran each program for {seconds}."
    return "Probes in the runs measured what recording costs."

"""What to mend first, in words: for the top of the page, the summary, and `rlscope advise`.

    The environment takes 61.2 % of the loop (ppo.py:184). Mending it is worth 30.1 % of the loop
    (28.0 to 31.4 %).

Built from rows of relation `finding`, which have every number.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlscope.analysis import advice, critical_loop, finding_verdicts, lines, own_loops, verdicts
from rlscope.analysis.advice import Advice, Failure
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Measured
from rlscope.analysis.finding_verdicts import Confidence
from rlscope.analysis.groups import BETWEEN_OPERATIONS, GROUPS
from rlscope.analysis.operations import BETWEEN
from rlscope.analysis.worker_loop import WorkerLoop
from rlscope.relations.groups import SIMULATION, group_of
from rlscope.report import headline, limits, source_names, units

if TYPE_CHECKING:
    from rlscope.opening import Trace

Row = dict[str, Any]

_OF_LOOP = " of the loop"
_LAYERS = {
    "simulator": "the simulator's own code",
    "framework": "calls of the framework",
    "python": "Python and NumPy",
    "cuda_api": "CUDA calls",
    "wait": "waiting",
    "none": "other native code",
}


@dataclass(frozen=True)
class CodeLine:
    number: int
    text: str
    is_found: bool
    """The line of the finding; others are near it."""


@dataclass(frozen=True)
class Shown:
    """A finding as people read it."""

    rank: str
    """ "" has none."""
    title: str
    place: str
    """ "ppo.py:184"; "" unknown."""
    price: str
    """In words: "8.1 % of the loop (7.5 to 8.8 %)"."""
    worth: str
    """The same in few: "8.1 % (7.5 to 8.8 %)"."""
    low: float
    share: float
    high: float
    """Ends and middle of the price as parts of the loop."""
    seconds: str
    evidence: str
    fix: str
    no_effect: str
    bound: str
    """What it means for the whole run."""
    code: Sequence[CodeLine]
    sql: str


@dataclass(frozen=True)
class Answer:
    sentence: str
    """What to mend first, where, and what it is worth; or that there is nothing. "": it cannot be
    said of this run."""
    is_first: bool
    """Whether the sentence is about the first finding."""
    findings: Sequence[Shown]
    """All of them, the best first."""
    rest: str
    """What there is beside those that are shown; "" nothing."""
    failures: Sequence[str]
    """Rules that failed, and prices that could not be measured, a sentence each."""


def read(trace: Trace, *, most: int | None = None) -> Answer:
    """The answer with at most so many findings; raises RlscopeError as analysis does."""
    found = advice.advice(trace)
    sound = headline.is_sound(trace)
    if found.loop is None or not sound:
        said = _unmended(trace, found, ()).strip() if sound else ""
        return Answer(said, False, (), "", [*map(_failure, found.failures)])
    rows = found.findings
    shown = rows if most is None else rows[:most]
    names = source_names.short(row["file"] for row in rows if row["file"])
    first = next((row for row in rows if row["rank"] is not None), None)
    is_first = first is not None and finding_verdicts.is_finding_leading(first, found.loop.loop_ns)
    return Answer(
        sentence=_leading(trace, found.loop, first, names) + _beside(trace, found.loop, first, rows)
        if first is not None and is_first
        else _nothing(trace, found, first, rows),
        is_first=is_first,
        findings=[_shown(trace, row, names) for row in shown],
        rest=" ".join(filter(None, [_overlap(shown), _rest(trace, found.loop, shown, rows)])),
        failures=[*map(_failure, found.failures), *_unmeasured(found.experiments)],
    )


def first_finding(trace: Trace) -> str:
    """What to mend first and what it is worth, on a line that can be cut in the middle: "ppo.py:184
    The environment takes 61.2 % of the loop: 30.1 % (28.0 to 31.4 %)". "": nothing surely is."""
    found = read(trace, most=1)
    if not found.is_first:
        return ""
    (first,) = found.findings
    return f"{f'{first.place} ' if first.place else ''}{first.title}: {first.worth}"


def _leading(trace: Trace, loop: Loop, first: Row, names: source_names.Names) -> str:
    place = _place(first, names)
    where = f" ({place})" if place else ""
    own, others = _names(trace, loop)
    title = units.visible(first["title"])
    if others and not any(name in title for name in (own, *others)):
        title = f"in {own}, {title}"
    return f"{_capital(title)}{where}. Mending it is worth {_price(first)}."


def _names(trace: Trace, loop: Loop) -> tuple[str, list[str]]:
    """Of the process that has the loop, and of those whose loops do something else."""
    rows = critical_loop.looping_processes(trace, loop).to_dicts()
    own, *_ = (units.visible(row["name"] or "?") for row in rows if row["is_own"])
    return own, [units.visible(row["name"] or "?") for row in rows if row["is_other"]]


def _beside(trace: Trace, loop: Loop, first: Row, findings: Sequence[Row]) -> str:
    """A line in which Python itself takes more than the first finding wins, if no finding is of
    it. What a library does for a line, as an environment of its own, counts for nothing."""
    found = {(row["file"], row["line"]) for row in findings}
    for row in lines.python_lines(trace, process_id=loop.process_id)[:1]:
        if (row["file"], row["line"]) in found:
            return ""
        low_ns = row["own_ns"] - math.sqrt(row["below_ns2"])
        if finding_verdicts.is_line_larger(low_ns, loop.loop_ns, first["saving_ns"]):
            return _unknown_cause(trace, loop, row, row["operation"], loop.loop_ns)
    return ""


def _unknown_cause(
    trace: Trace, loop: Loop | None, row: Row, operation: str | None, loop_ns: int
) -> str:
    """With the lines that lead there, where several do: a user may see that one is too many."""
    callers = own_loops.parting_callers(trace, loop, row["file"], row["line"]) if loop else []
    names = source_names.short([row["file"], *(each["file"] for each in callers)])
    share = units.share(row["own_ns"], loop_ns)
    place = _place(row, names)
    subject = f"One line takes {share} ({place})"
    if operation and group_of(operation) == SIMULATION:
        subject = f"The environment takes {share} of the loop at one line ({place})"
    elif operation:
        subject += f", most of it {_in_operation(operation)}"
    said = f" {subject}, and no rule knows how to mend it."
    if not callers:
        return said
    whole_ns = sum(each["total_ns"] for each in callers)
    parts = (f"{_place(e, names)} {units.share(e['total_ns'], whole_ns)}" for e in callers)
    return f"{said} {units.plural(len(callers), 'line')} lead there: {', '.join(parts)}."


def _nothing(trace: Trace, asked: Advice, best: Row | None, rows: Sequence[Row]) -> str:
    """That there is nothing to mend, or little, and what the loop does instead."""
    loop, unmended = asked.loop, _unmended(trace, asked, rows)
    if loop is None or not verdicts.are_iterations_enough(loop.iterations):
        return unmended.strip()
    own, others = _names(trace, loop)
    whose = f"the loop of {own}" if others else "the loop"
    spends = _spends(trace, loop)
    if best is not None:
        share, low, high = _shares(best)
        said = f"No large saving is sure: the best finding may win {share} of {whose} "
        said += f"({low.removesuffix(' %')} to {high})."
        return said + (spends and f" The loop {spends}.") + unmended
    none = "No rule found anything that" if unmended else "Nothing here"
    return f"{none} is surely worth your time{spends and f': {whose} {spends}'}." + unmended


def _unmended(trace: Trace, asked: Advice, findings: Sequence[Row]) -> str:
    """The hottest line of the program's own, if it takes much of the loops, and no finding is of
    it. Where it waits for environment workers, that of theirs, too."""
    found = {(row["file"], row["line"]) for row in findings}
    for row in lines.hot_lines(trace, lines=1).to_dicts():
        if (row["file"], row["line"]) in found:
            return ""
        if finding_verdicts.is_line_unmended(row["own_low_ns"], row["loop_ns"]):
            operation = lines.operation_of_hottest_line(trace)
            said = _unknown_cause(trace, asked.loop, row, operation, row["loop_ns"])
            return said + (_of_workers(trace, asked.inside, found) if asked.inside else "")
    return ""


def _of_workers(trace: Trace, inside: WorkerLoop, found: Container[tuple[str, int]]) -> str:
    """The hottest line of environment workers, if it takes much of their work, and no finding is of
    it."""
    row = inside.hottest_line(trace)
    if row is None or (row["file"], row["line"]) in found:
        return ""
    if not finding_verdicts.is_line_unmended(row["own_low_ns"], inside.loop.loop_ns):
        return ""
    place = _place(row, source_names.short([row["file"]]))
    several = inside.workers > 1
    workers = f"{inside.workers:,} environment workers" if several else "environment worker"
    share = units.share(row["own_ns"], inside.loop.loop_ns)
    whose = "their" if several else "its"
    return f" In the {workers}, one line takes {share} of {whose} work ({place})."


def _spends(trace: Trace, loop: Loop) -> str:
    """ "spends 91.0 % in the simulator's own code"; "" it is in nothing for long."""
    state = critical_loop.states(trace, loop).to_dicts()[0]
    if not finding_verdicts.is_state_named(state["duration_ns"], loop.loop_ns):
        return ""
    share = units.share(state["duration_ns"], loop.loop_ns)
    return f"spends {share} in {_state_name(state)}"


def _state_name(state: Row) -> str:
    """ "the simulator's own code", "calls of the framework in inference"."""
    layer = _LAYERS.get(state["layer"], str(state["layer"]))
    if state["layer"] == "simulator":
        return layer
    return f"{layer} {_in_operation(state['operation'])}"


def _in_operation(operation: str) -> str:
    """ "in inference", "between operations"."""
    if operation == BETWEEN:
        return BETWEEN_OPERATIONS
    group = group_of(operation)
    return f"in {group if group in GROUPS else units.label(group)}"


def _shown(trace: Trace, row: Row, names: source_names.Names) -> Shown:
    return Shown(
        rank="" if row["rank"] is None else str(row["rank"]),
        title=_capital(units.visible(row["title"])),
        place=_place(row, names),
        price=_price(row),
        worth=_price(row).replace(_OF_LOOP, "").removeprefix("a look, "),
        low=_part(row, "saving_low_ns"),
        share=row["saving_share"] or 0,
        high=_part(row, "saving_high_ns"),
        seconds=_seconds(row),
        evidence=row["evidence"],
        fix=row["fix"],
        no_effect=row["no_effect"],
        bound=_bound(row),
        code=_code(trace, row),
        sql=row["evidence_sql"],
    )


def _part(row: Row, column: str) -> float:
    """A price as a part of the loop, 0 to 1."""
    if not row["saving_ns"]:
        return 0
    return float(row["saving_share"] * row[column] / row["saving_ns"])


def _price(row: Row) -> str:
    if row["saving_ns"] is None:
        return f"{units.duration(row['once_ns'])}, once"
    share, low, high = _shares(row)
    if row["confidence"] == Confidence.WORTH_A_LOOK.value:
        return f"a look, up to {high}{_OF_LOOP}"
    return f"{share}{_OF_LOOP} ({low.removesuffix(' %')} to {high})"


def _shares(row: Row) -> tuple[str, str, str]:
    """A price as a part of the loop, with the ends of its interval."""
    low, high = _part(row, "saving_low_ns"), _part(row, "saving_high_ns")
    return units.share(row["saving_share"], 1), units.share(low, 1), units.share(high, 1)


def _seconds(row: Row) -> str:
    if row["saving_ns"] is None:
        return units.duration(row["once_ns"])
    if row["confidence"] == Confidence.WORTH_A_LOOK.value:
        return f"up to {units.duration(row['saving_high_ns'])}"
    return units.duration(row["saving_ns"])


def _bound(row: Row) -> str:
    if row["run_speedup"] is None:
        return "It is paid once, however long the loop runs."
    return f"The whole run gets at most {row['run_speedup']:.2f} times as fast."


def _place(row: Row, names: source_names.Names) -> str:
    if row["file"] is None:
        return ""
    line = "" if row["line"] is None else f":{row['line']}"
    return units.visible(f"{names[row['file']]}{line}")


def _code(trace: Trace, row: Row) -> list[CodeLine]:
    if row["file"] is None or row["line"] is None:
        return []
    near = lines.excerpt(
        trace, file=row["file"], line=row["line"], context=limits.FINDING_CONTEXT
    ).to_dicts()
    texts = [each["text"].expandtabs(4) for each in near]
    margin = min((len(each) - len(each.lstrip(" ")) for each in texts if each.strip()), default=0)
    return [
        CodeLine(
            each["line"],
            units.visible(text[margin:])[: limits.LINE_CHARACTERS],
            each["line"] == row["line"],
        )
        for each, text in zip(near, texts, strict=True)
    ]


def _overlap(rows: Sequence[Row]) -> str:
    """Which findings can be about the same time."""
    same = next(iter(advice.overlaps(rows)), None)
    if same is None:
        return ""
    return (
        f"Findings {same[0]} and {same[1]} can be about the same time: their prices do not add up."
    )


def _rest(trace: Trace, loop: Loop, shown: Sequence[Row], rows: Sequence[Row]) -> str:
    """What is not among those that are shown."""
    if hidden := len(rows) - len(shown):
        return f"`rlscope advise` has {units.plural(hidden, 'more finding')}."
    if not rows:
        return ""
    least = units.share(finding_verdicts.NOTABLE_SAVING, 1)
    said = f"No rule found anything else that is worth {least} of the loop"
    own, names = _names(trace, loop)
    if not names:
        return f"{said}."
    others = f"loop of {names[0]}" if len(names) == 1 else f"loops of {len(names)} other processes"
    return f"{said} of {own}. No rule looks at the {others}."


def _failure(failure: Failure) -> str:
    reason = units.label(failure.reason, limits.LINE_CHARACTERS)
    return f"The rule {units.label(failure.rule)} failed, and its findings are missing: {reason}"


def _unmeasured(experiments: Iterable[Measured]) -> Iterator[str]:
    """Experiments that measured nothing, or that the advised way is no faster."""
    for each in experiments:
        if each.left is not None and not finding_verdicts.is_faster(each.left.saving_ns):
            took = units.duration(each.program_s * 1e9), units.duration(each.advised_s * 1e9)
            yield (
                f"The experiment {each.name} found nothing to win on this machine: "
                f"{took[0]} in the program's way, {took[1]} in the advised way."
            )
        elif each.left is None:
            reason = units.label(each.problem, limits.LINE_CHARACTERS)
            yield f"The experiment {each.name} measured nothing, and the price is assumed: {reason}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def texts(found: Iterable[Shown]) -> list[str]:
    """A line each, for a terminal: "1 ppo.py:184 The environment takes ...: 30.1 % of the loop"."""
    return [
        f"{each.rank or '-'} {each.title}{f' ({each.place})' if each.place else ''}: "
        f"{'worth ' if each.share else ''}{each.price}."
        for each in found
    ]

"""What to mend first, in words: for the top of the page, the summary, and `rlscope advise`.

    The environment takes 61.2 % of the loop (ppo.py:184). Mending it is worth 30.1 % of the loop
    (28.0 to 31.4 %).

Built from rows of relation `finding`, which have every number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlscope.analysis import advice, critical_loop, finding_verdicts, lines, prices, verdicts
from rlscope.analysis.advice import Advice, Failure
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Measured
from rlscope.analysis.finding_verdicts import Confidence
from rlscope.report import headline, limits, source_names, units, unmended_sentences

if TYPE_CHECKING:
    from rlscope.opening import Trace

Row = dict[str, Any]

_COMPILED = " with its compilations"
_REST = " Once so much is gone, the rest gets quicker, too: the price has some of that."


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
    whole: str
    """What it is a part of: "loop", or "run" where there is none."""
    worth: str
    """The same in few: "8.1 % (7.5 to 8.8 %)"."""
    low: float
    share: float
    high: float
    """Ends and middle of the price as parts of that."""
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
    leading: str
    """What to mend first, where, and what it is worth; or that there is nothing. "": it cannot be
    said of this run."""
    is_first: bool
    """Whether that is about the first finding."""
    findings: Sequence[Shown]
    """All of them, the best first."""
    rest: str
    """What there is beside those that are shown; "" nothing."""
    failures: Sequence[str]
    """Rules that failed, and prices that could not be measured, a sentence each."""
    beside: str = ""
    """What takes more than the first finding wins, and no rule knows; "" nothing."""
    fix: str = ""
    """How to mend the first finding, where the answer is about it: "Fix: Pass ..."."""
    hidden: int = 0
    """Findings that are not shown."""

    @property
    def sentence(self) -> str:
        """The answer without the fix."""
        return " ".join(filter(None, [self.leading, self.beside]))


def read(trace: Trace, *, most: int | None = None) -> Answer:
    """The answer with at most so many findings; raises RlscopeError as analysis does."""
    found = advice.advice(trace)
    sound = headline.is_sound(trace)
    if found.loop is None or not sound:
        said = unmended_sentences.unmended(trace, found, ()).strip() if sound else ""
        return Answer(said, False, (), "", [*map(_failure, found.failures)])
    rows = found.findings
    shown = rows if most is None else rows[:most]
    names = source_names.short(row["file"] for row in rows if row["file"])
    first = next((row for row in rows if row["rank"] is not None), None)
    is_first = first is not None and finding_verdicts.is_finding_leading(first, found.loop.loop_ns)
    leading, beside, fix = _nothing(trace, found, first, rows), "", ""
    if first is not None and is_first:
        leading = _leading(trace, found.loop, first, names)
        beside = unmended_sentences.beside(trace, found.loop, first, rows)
        fix = f"Fix: {first['fix']}"
    return Answer(
        leading=leading,
        is_first=is_first,
        findings=[_shown(trace, found.loop, row, names) for row in shown],
        rest=" ".join(filter(None, [_overlap(shown), _rest(trace, found.loop, shown, rows)])),
        failures=[*map(_failure, found.failures), *_unmeasured(found.experiments)],
        beside=beside,
        fix=fix,
        hidden=len(rows) - len(shown),
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
    place = source_names.place(first, names)
    where = f" ({place})" if place else ""
    own, others = _names(trace, loop)
    title = units.visible(first["title"])
    looping = critical_loop.looping_processes(trace, loop)["name"]
    if others and not any(units.visible(name) in title for name in looping if name):
        title = f"in {own}, {title}"
    return f"{_capital(title)}{where}. Mending it is worth {_price(first, _whole(loop))}."


def _names(trace: Trace, loop: Loop) -> tuple[str, list[str]]:
    """Of the process that has the loop, and of those that do something else."""
    rows = critical_loop.looping_processes(trace, loop).to_dicts()
    own, *_ = (units.visible(row["name"] or "?") for row in rows if row["is_own"])
    return own, [units.visible(row["name"] or "?") for row in rows if row["is_other"]]


def _nothing(trace: Trace, asked: Advice, best: Row | None, rows: Sequence[Row]) -> str:
    """That there is nothing to mend, or little, and what the loop does instead."""
    loop, unmended = asked.loop, unmended_sentences.unmended(trace, asked, rows)
    if loop is None or not verdicts.are_iterations_enough(loop.iterations):
        return unmended.strip()
    own, others = _names(trace, loop)
    whose = f"the loop of {own}" if others else "the loop"
    spends = unmended_sentences.spends(trace, loop)
    if best is not None:
        share, low, high = _shares(best)
        said = f"No large saving is sure: the best finding may win {share} of {whose} "
        said += f"({low.removesuffix(' %')} to {high})."
        return said + (spends and f" The loop {spends}.") + unmended
    none = "No rule found anything that" if unmended else "Nothing here"
    return f"{none} is surely worth your time{spends and f': {whose} {spends}'}." + unmended


def _whole(loop: Loop) -> str:
    return "run" if loop.is_whole else "loop"


def _shown(trace: Trace, loop: Loop, row: Row, names: source_names.Names) -> Shown:
    return Shown(
        rank="" if row["rank"] is None else str(row["rank"]),
        title=_capital(units.visible(row["title"])),
        place=source_names.place(row, names),
        price=_price(row, _whole(loop)),
        whole=_whole(loop),
        worth=_price(row).removeprefix("a look, "),
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


def _price(row: Row, whole: str = "") -> str:
    """`whole`: what the share is said to be of; "": nothing is said."""
    if row["saving_ns"] is None:
        return f"{units.duration(row['once_ns'])}, once"
    share, low, high = _shares(row)
    of = f" of the {whole}{_COMPILED if row['outside_ns'] else ''}" if whole else ""
    if row["confidence"] == Confidence.WORTH_A_LOOK.value:
        return f"a look, up to {high}{of}"
    return f"{share}{of} ({low.removesuffix(' %')} to {high})"


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
    rest = _REST if prices.is_with_rest(row["saving_share"]) else ""
    if finding_verdicts.is_rest_unknown(row["run_speedup"]):
        return f"Nearly all of the run may be won back.{rest}"
    return f"The whole run gets at most {row['run_speedup']:.2f} times as fast.{rest}"


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
    said = f"No rule found anything else that is worth {least} of the {_whole(loop)}"
    own, names = _names(trace, loop)
    if not names:
        return f"{said}."
    others = names[0] if len(names) == 1 else f"{len(names)} other processes"
    if not loop.is_whole:
        others = f"the loop{'s' * (len(names) > 1)} of {others}"
    return f"{said} of {own}. No rule looks at {others}."


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
    """As a sentence begins, but for the name of a file: "train.py waits"."""
    first = text.partition(" ")[0]
    return text if "." in first.rstrip(".") else text[:1].upper() + text[1:]


def texts(found: Iterable[Shown]) -> list[str]:
    """A line each, for a terminal: "1 ppo.py:184 The environment takes ...: 30.1 % of the loop"."""
    return [
        f"{each.rank or '-'} {each.title}{f' ({each.place})' if each.place else ''}: "
        f"{'worth ' if each.share else ''}{each.price}."
        for each in found
    ]

"""survey.md and its SVG figures: the survey for people who read a repository.

All numbers and verdicts come from the results; the text around them says what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rlscope.report.figures import svg
from rlscope.survey import reasons, wording
from rlscope.survey import results as results_module
from rlscope.survey.claims import FAILS, HOLDS, NEEDS_GPU, UNDECIDED, JudgedFinding
from rlscope.survey.pairs import pairs
from rlscope.survey.pictures import UNMEASURED, Picture, scale_up, shares, times, transitions
from rlscope.survey.results import Results

NAME = "survey.md"
_HEADINGS = {
    HOLDS: "Findings that hold",
    FAILS: "Findings that do not hold",
    UNDECIDED: "Findings that are not decided here",
    NEEDS_GPU: "Findings that need a GPU",
}
_BEGINNING = """\
# Where the time of reinforcement learning goes

The survey of the RL-Scope paper (Gleeson et al., MLSys 2021), repeated with today's libraries.
`rlscope survey` makes this page. It computes every number and verdict from
[{source}]({source}). The same rows are a table in
[{rows}]({rows}). The command below a figure or a finding makes it again.
For charts, and all columns of the tables, open [survey.html](survey.html). The guide explains
how to [run the survey](guide/survey.md), and how to survey your own programs."""
_PICTURES: Sequence[tuple[Callable[[Results], Picture], str]] = (
    (lambda found: shares(found, "algorithm"), "The share of simulation, by algorithm"),
    (lambda found: times(found, "framework"), "What a step costs in each framework, and where"),
    (lambda found: shares(found, "simulator"), "The share of simulation, by simulator"),
    (
        lambda found: transitions(found, "framework"),
        "How often a program enters the framework's native code",
    ),
    (scale_up, "What a poller reports about programs with workers"),
)
_CELL_COLUMNS = (
    "cell",
    "time",
    "per",
    "simulation",
    "inference",
    "learning",
    "recording cost",
    "result",
)
_MARKUP = re.compile(r"((?<!`)`[^`<>]+`(?!`))|[\\`*_<>[\]]")
_SHORT_COLUMNS = ("finding", "in the paper", "here", "verdict")
_PROCESS_COLUMNS = [name.removeprefix(">") for name in wording.PROCESS_COLUMNS]
_PAIR_COLUMNS = [name.removeprefix(">") for name in wording.PAIR_COLUMNS]


def files(
    results: Results,
    found: Sequence[JudgedFinding],
    source: str = results_module.RESULTS,
    rows: str = results_module.ROWS,
) -> dict[str, str]:
    """Name -> text: the page, and its figures. `source` and `rows` are the names of the files with
    the results, which the page links."""
    beginning = _BEGINNING.format(source=source, rows=rows)
    drawn = [(make(results), asked) for make, asked in _PICTURES]
    shown = [(picture, asked) for picture, asked in drawn if not picture.absence]
    texts = {NAME: "\n\n".join([beginning, *_blocks(results, found, shown)]) + "\n"}
    return texts | {
        _file(picture): svg.bars(
            picture.title,
            picture.axis,
            picture.names,
            picture.parts,
            picture.ends,
            picture.intervals,
        )
        for picture, _ in shown
    }


def _blocks(
    results: Results,
    found: Sequence[JudgedFinding],
    drawn: Sequence[tuple[Picture, str]],
) -> Iterator[str]:
    yield "\n".join(f"* {_plain(line)}" for line in _conditions(results))
    yield f"**{wording.headline(results, found)}.**"
    yield wording.STATISTICS
    yield wording.TIMES
    if found:
        yield _table(_SHORT_COLUMNS, list(map(_short_row, found)))
    for picture, asked in drawn:
        yield f"## {asked}"
        yield f"![{picture.title}]({_file(picture)})"
        yield f"`{wording.command(results.plan, picture.experiment)}`"
        if picture.experiment == "scaleup":
            yield from _processes(results)
    for verdict, heading in _HEADINGS.items():
        if chosen := [each for each in found if each.verdict == verdict]:
            yield f"## {heading}"
            yield from (_finding(each, results) for each in chosen)
    if rows := pairs(results):
        yield "## Programs of equal work"
        yield "Each number is the first cell over the second, with its 95 % interval."
        yield _table(_PAIR_COLUMNS, [wording.pair_row(row) for row in rows])
        yield f"`{wording.command(results.plan, 'framework')}`"
    yield "## The cells"
    yield f"Each number is a mean over the repetitions, with its 95 % interval. {wording.SHARES}"
    yield _table(_CELL_COLUMNS, [_cell_row(row) for row in map(wording.cell_row, results.cells)])


def _conditions(results: Results) -> list[str]:
    absence = wording.gpu_absence(results)
    return [*wording.conditions(results), *([absence] if absence else [])]


def _short_row(each: JudgedFinding) -> list[str]:
    papers = "; ".join(filter(None, (judged.claim.paper for judged in each.judged)))
    values = "; ".join(map(wording.claim_value, each.judged))
    return [f"{each.finding.key}. {each.finding.title}", papers or "-", values, each.verdict]


def _finding(each: JudgedFinding, results: Results) -> str:
    finding = each.finding
    lines = [f"**{finding.key}. {_plain(finding.title)}.** {_plain(finding.remark)}".rstrip(), ""]
    for judged in each.judged:
        claim = judged.claim
        reason = _plain(reasons.verdict(judged, wording.bound(judged)))
        paper = f" Paper: {_plain(claim.paper)}." if claim.paper else ""
        lines += [
            f"* {wording.sentence(_plain(claim.what))}: **{wording.claim_value(judged)}**. "
            f"Claimed: {claim.side} {wording.bound(judged)}.{paper}",
            f"  {wording.sentence(judged.verdict)}: {reason}.",
        ]
        if deciding := reasons.deciding(judged):
            why = reasons.why(results, judged)
            lines.append(f"  Decided by {_plain(deciding)}.{f' {_plain(why)}.' if why else ''}")
    return "\n".join([*lines, "", f"`{wording.command(results.plan, finding.experiment)}`"])


def _processes(results: Results) -> Iterator[str]:
    rows = [row for each in results.of("scaleup") for row in wording.process_rows(each)]
    if not rows:
        yield f"The processes, each by itself: {UNMEASURED}."
        return
    yield f"Each row is one process. {wording.PROCESSES}"
    yield _table(_PROCESS_COLUMNS, rows)
    yield f"`{wording.command(results.plan, 'scaleup')}`"


def _cell_row(row: Sequence[str]) -> list[str]:
    by_name = dict(zip((name.removeprefix(">") for name in wording.CELL_COLUMNS), row, strict=True))
    return [by_name[name] for name in _CELL_COLUMNS]


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def _plain(text: str) -> str:
    """Text that Markdown takes for nothing else, but for code without tags: errors hold what
    programs print."""
    escaped = _MARKUP.sub(lambda found: found[1] or f"\\{found[0]}", text)
    return " ".join(escaped.split())


def _file(picture: Picture) -> str:
    return f"survey-{picture.key}.svg"

"""What `rlscope advise` prints: text for a terminal, Markdown to paste, JSON for programs.

docs/reference/advice.md describes the JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.analysis import advice
from rlscope.analysis.finding import Measured
from rlscope.report import answer, headline, markup, screen, units
from rlscope.report.answer import Answer, CodeLine, Shown

if TYPE_CHECKING:
    from rlscope.opening import Trace

SCHEMA = 1
"""The version of the JSON. It changes when a key changes its meaning or goes."""
_NO_ANSWER = "Nothing can be advised about this run."
_TICKS = re.compile("`+")


def text(trace: Trace, *, width: int | None = None, unicode: bool | None = None) -> str:
    """A block of lines for each finding."""
    found = answer.read(trace)
    columns = screen.width_of(width)
    said = [_answer(found), headline.first_sentence(trace)]
    said += [f"! {each}" for each in headline.busy(trace)]
    lines = screen.wrapped([each for each in said if each], columns)
    for each in found.findings:
        lines += ["", *_block(each, columns)]
    lines += ["", *screen.wrapped([each for each in [found.rest] if each], columns)]
    lines += screen.wrapped([f"! {each}" for each in found.failures], columns)
    return screen.shown(lines, columns, unicode).rstrip("\n") + "\n"


def _answer(found: Answer) -> str:
    """Empty if findings follow in a run that is too short to say more."""
    return found.sentence or ("" if found.findings else _NO_ANSWER)


def _block(finding: Shown, width: int) -> list[str]:
    place = f" ({finding.place})" if finding.place else ""
    heading = f"{finding.rank or '-'}  {finding.title}{place}: {_worth(finding)}"
    indented = screen.wrapped(
        [finding.evidence, f"Fix: {finding.fix}", finding.no_effect, finding.bound], width - 3
    )
    numbers = max((len(str(line.number)) for line in finding.code), default=0)
    return [
        *screen.wrapped([heading], width),
        *(f"   {_code_line(each, numbers)}" for each in finding.code),
        *(f"   {line}" for line in indented),
    ]


def _worth(finding: Shown) -> str:
    priced = f", {finding.seconds}" if finding.high else ""
    return f"{'worth ' if finding.high else ''}{finding.price}{priced}."


def markdown(trace: Trace) -> str:
    """A report to paste: names of the program are text, and no marks of it."""
    found = answer.read(trace)
    said = _answer(found)
    parts = [f"**{markup.markdown(said)}**"] if said else []
    parts += map(markup.markdown, [headline.first_sentence(trace), *headline.busy(trace)])
    for each in found.findings:
        parts += _section(each)
    parts += [markup.markdown(each) for each in (found.rest, *found.failures) if each]
    return "\n\n".join(parts) + "\n"


def _section(finding: Shown) -> Iterator[str]:
    place = f" ({markup.markdown(finding.place)})" if finding.place else ""
    number = f"{finding.rank}. " if finding.rank else ""
    yield f"### {number}{markup.markdown(finding.title)}{place}"
    yield markup.markdown(_worth(finding)[:1].upper() + _worth(finding)[1:] + f" {finding.bound}")
    if finding.code:
        yield _fenced("\n".join(map(_code_line, finding.code)), "")
    yield markup.markdown(finding.evidence)
    yield f"**Fix:** {markup.markdown(finding.fix)}"
    yield markup.markdown(finding.no_effect)
    yield _fenced(finding.sql, "sql")


def _code_line(line: CodeLine, width: int = 4) -> str:
    return f"{'>' if line.is_found else ' '} {line.number:{width}}  {line.text}".rstrip()


def _fenced(text: str, language: str) -> str:
    """Code between fences that it cannot end: longer than any row of ticks inside."""
    shown = "\n".join(map(units.visible, text.split("\n")))
    longest = max(map(len, _TICKS.findall(shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def as_json(trace: Trace) -> str:
    """One object: docs/reference/advice.md."""
    return json.dumps(as_object(trace), indent=1, allow_nan=False) + "\n"


def as_object(trace: Trace) -> dict[str, Any]:
    """What as_json() writes."""
    found = advice.advice(trace)
    return {
        "schema": SCHEMA,
        "answer": answer.read(trace, most=0).sentence,
        "loop": None if found.loop is None else vars(found.loop),
        "findings": list(found.findings),
        "overlaps": advice.overlaps(found.findings),
        "failed_rules": [vars(each) for each in found.failures],
        "experiments": [_experiment(each) for each in found.experiments],
    }


def _experiment(measured: Measured) -> dict[str, object]:
    left = measured.left
    return {
        "name": measured.name,
        "program_seconds": measured.program_s,
        "advised_seconds": measured.advised_s,
        "left": None if left is None else left.saving_ns,
        "left_low": None if left is None else left.low_ns,
        "left_high": None if left is None else left.high_ns,
        "problem": measured.problem or None,
    }


FORMATS: Mapping[str, Callable[[Trace], str]] = {
    "text": text,
    "markdown": markdown,
    "json": as_json,
}

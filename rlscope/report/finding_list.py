"""Findings as a part of a page: the first is open, and has its code, evidence and fix."""

from __future__ import annotations

from collections.abc import Sequence

from rlscope.report.answer import CodeLine, Shown
from rlscope.report.markup import escape, prose, sentence

_HIT = ' class="hit"'


_HEAD = (
    '<div class="findings-head"><span>What to mend first</span><span>saves, of the {}</span>'
    '<span><i></i>surely <i class="range"></i>perhaps</span></div>\n'
)


def render(findings: Sequence[Shown], rest: str, *, is_fix_said: bool) -> str:
    """The element; "" without findings.

    Args:
        is_fix_said: how to mend the first one stands above.
    """
    items = "\n".join(
        _item(each, is_first=place == 0, is_fix_said=is_fix_said and place == 0)
        for place, each in enumerate(findings)
    )
    head = _HEAD.format(findings[0].whole) if findings else ""
    listed = f'{head}<ol class="findings">\n{items}\n</ol>' if items else ""
    return f'{listed}<p class="rest">{sentence(rest)}</p>' if rest else listed


def _item(finding: Shown, *, is_first: bool, is_fix_said: bool) -> str:
    shown = " open" if is_first and finding.rank else ""
    head = "".join(
        [
            _span("rank", finding.rank or "–"),
            _span("title", finding.title),
            _span("place", finding.place),
            _span("price", finding.worth),
            _bar(finding),
        ]
    )
    inside = _inside(finding, is_fix_said)
    return f"<li><details{shown}><summary>{head}</summary>{inside}</details></li>"


def _span(kind: str, text: str) -> str:
    return f'<span class="{kind}">{prose(text)}</span>'


def _bar(finding: Shown) -> str:
    """The price on the whole loop: what is sure, and how far its interval goes."""
    if not finding.high:
        return "<span></span>"
    widths = [_percent(each) for each in (finding.high, finding.low)]
    marks = "".join(
        f'<i{kind} style="width:{width:.2f}%"></i>'
        for kind, width in zip((' class="range"', ""), widths, strict=True)
    )
    if finding.rank:
        marks += f'<i class="mark" style="left:{_percent(finding.share):.2f}%"></i>'
    said = escape(finding.price)
    return f'<span class="price-bar" role="img" aria-label="{said}" title="{said}">{marks}</span>'


def _percent(part: float) -> float:
    return min(max(100 * part, 0), 100)


def _inside(finding: Shown, is_fix_said: bool) -> str:
    worth = [f"Worth {finding.seconds} of the {finding.whole}."] if finding.high else []
    evidence = _paragraphs([finding.evidence, " ".join([*worth, finding.bound])])
    parts = [
        _paragraphs([] if is_fix_said else [f"Fix: {finding.fix}"]),
        _code(finding.code),
        _paragraphs([finding.no_effect]),
        f"<details><summary>Evidence</summary>{evidence}{_sql(finding.sql)}</details>",
    ]
    return f'<div class="inside">{"".join(parts)}</div>'


def _paragraphs(texts: Sequence[str]) -> str:
    return "".join(f"<p>{sentence(each)}</p>" for each in texts)


def _code(lines: Sequence[CodeLine]) -> str:
    if not lines:
        return ""
    rows = "".join(
        f'<code data-number="{each.number}"{_HIT if each.is_found else ""}>'
        f"{escape(each.text) or ' '}</code>"
        for each in lines
    )
    return f'<div class="excerpt" tabindex="0" role="group" aria-label="Source">{rows}</div>'


def _sql(text: str) -> str:
    lines = "\n".join(map(escape, text.split("\n")))
    return f'<details><summary>SQL</summary><code class="sql">{lines}</code></details>'

"""Findings as a part of a page: the first is open, and has its code, evidence and fix."""

from __future__ import annotations

from collections.abc import Sequence

from rlscope.report.answer import CodeLine, Shown
from rlscope.report.markup import escape, prose

_HIT = ' class="hit"'


def render(findings: Sequence[Shown], rest: str) -> str:
    """The element; "" without findings."""
    items = "\n".join(_item(each, is_first=place == 0) for place, each in enumerate(findings))
    listed = f'<ol class="findings">\n{items}\n</ol>' if items else ""
    return f'{listed}<p class="rest">{prose(rest)}</p>' if rest else listed


def _item(finding: Shown, *, is_first: bool) -> str:
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
    return f"<li><details{shown}><summary>{head}</summary>{_inside(finding)}</details></li>"


def _span(kind: str, text: str) -> str:
    return f'<span class="{kind}">{prose(text)}</span>'


def _bar(finding: Shown) -> str:
    """The price on the whole loop: what is sure, and how far its interval goes."""
    if not finding.high:
        return "<span></span>"
    widths = [min(max(100 * each, 0), 100) for each in (finding.high, finding.low)]
    marks = "".join(
        f'<i{kind} style="width:{width:.2f}%"></i>'
        for kind, width in zip((' class="range"', ""), widths, strict=True)
    )
    return f'<span class="price-bar" role="img" aria-label="{escape(finding.price)}">{marks}</span>'


def _inside(finding: Shown) -> str:
    texts = [
        finding.evidence,
        f"Fix: {finding.fix}",
        finding.no_effect,
        f"Worth {finding.seconds} of the loop. {finding.bound}" if finding.high else finding.bound,
    ]
    paragraphs = "".join(f"<p>{prose(each)}</p>" for each in texts)
    return f'<div class="inside">{_code(finding.code)}{paragraphs}{_sql(finding.sql)}</div>'


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

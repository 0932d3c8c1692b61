"""The table of docs/reference/stopwatches.md, made of what each run's stopwatch and page say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

KINDS = ("simulation", "inference", "generation", "learning", "replay", "evaluation")
"""Kinds of work that a stopwatch times, by the names that the page has for them."""
BETWEEN = "between operations"
MOST_POINTS = 5.0
"""Percent of the loop by which the page may be off."""

_TABLE = re.compile(r"(?<=<!-- measured: stopwatches -->\n).*?(?=<!-- end -->)", re.DOTALL)
_HEADING = (
    f"| program | library | loop, s | {' | '.join(KINDS)} | {BETWEEN} | other operations | "
    f"first sentence of the page | |\n{'|---' * (len(KINDS) + 7)}|"
)
_LEAST_SHOWN = 0.05
"""Percent of the loop; a smaller share is not in the table."""


@dataclass(frozen=True)
class Row:
    """One run of a program."""

    program: str
    library: str
    loop_s: float
    """By the stopwatch."""
    page_loop_s: float
    truth: Mapping[str, float]
    """Percent of the loop by kind of work, by the stopwatch."""
    page: Mapping[str, float]
    """Percent of the page's loop by group of operations."""
    sentence: str

    @staticmethod
    def of(
        program: str,
        library: str,
        result: Mapping[str, Any],
        groups: Iterable[Mapping[str, Any]],
        sentence: str,
    ) -> Row:
        """`result`: of the stopwatch. `groups`: rows of rlscope's `group_time`."""
        sums: dict[str, int] = {}
        page_ns = 0
        for group in groups:
            sums[group["group"]] = group["group_ns"]
            page_ns = group["whole_ns"]
        loop_ns = result["loop_ns"]
        own = {kind: 100 * ns / loop_ns for kind, ns in result["own_ns"].items() if kind in KINDS}
        page = {group: 100 * ns / page_ns for group, ns in sums.items()}
        return Row(program, library, loop_ns / 1e9, page_ns / 1e9, own, page, sentence)

    def misses(self) -> list[str]:
        """Kinds of work by which the page is off too far."""
        return [
            kind
            for kind in KINDS
            if abs(self.page.get(kind, 0.0) - self.truth.get(kind, 0.0)) > MOST_POINTS
        ]

    def line(self) -> str:
        """Its row of the table."""
        others = sorted(self.page.keys() - {*KINDS, BETWEEN}, key=lambda name: -self.page[name])
        cells = [
            self.program,
            self.library,
            f"{self.loop_s:.1f}, page {self.page_loop_s:.1f}",
            *map(self._cell, KINDS),
            f"{self.page.get(BETWEEN, 0.0):.1f} %",
            ", ".join(f"{name} {self.page[name]:.1f} %" for name in others),
            self.sentence,
            ", ".join(self.misses()) or "hit",
        ]
        return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"

    def _cell(self, kind: str) -> str:
        truth, page = self.truth.get(kind, 0.0), self.page.get(kind, 0.0)
        if max(truth, page) < _LEAST_SHOWN:
            return ""
        said = f"{truth:.1f} %, page {page:.1f} % ({page - truth:+.1f})"
        return f"**{said}**" if kind in self.misses() else said


def renewed(text: str, rows: Iterable[Row], conditions: str, order: Iterable[str]) -> str:
    """The page with these rows in its table. Other programs of `order` keep the rows they have."""
    known = _lines(text) | {row.program: row.line() for row in rows}
    kept = [known[program] for program in order if program in known]
    cells = [_cells(line) for line in kept]
    hits = sum(each[-1] == "hit" for each in cells)
    lines = [
        conditions,
        "",
        _HEADING,
        *kept,
        "",
        f"Hits: {hits} of {len(kept)} programs, of {len({each[1] for each in cells})} libraries.",
    ]
    return _TABLE.sub(lambda _: "\n".join(lines) + "\n", text)


def _lines(text: str) -> dict[str, str]:
    """The rows of the table of a page, by program."""
    table = _TABLE.search(text)
    lines = [line for line in (table[0].splitlines() if table else []) if line.startswith("| ")]
    return {_cells(line)[0]: line for line in lines}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]

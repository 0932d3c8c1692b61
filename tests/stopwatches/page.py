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


def renewed(text: str, rows: Iterable[Row], conditions: str) -> str:
    """The page with a table of these rows."""
    made = list(rows)
    hits = sum(not row.misses() for row in made)
    libraries = len({row.library for row in made})
    lines = [
        conditions,
        "",
        _HEADING,
        *(row.line() for row in made),
        "",
        f"Hits: {hits} of {len(made)} programs, of {libraries} libraries.",
    ]
    return _TABLE.sub(lambda _: "\n".join(lines) + "\n", text)

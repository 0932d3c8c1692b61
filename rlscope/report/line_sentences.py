"""Lines of the program's source in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rlscope.analysis import line_verdicts
from rlscope.report import limits, source_names, units

Rows = Sequence[dict[str, Any]]

_TEXT_CHARACTERS = 60
# Lines between operations that are named.
_BETWEEN = 3


def hottest(rows: Rows, whole: str) -> list[str]:
    """The hottest line, if it is surely hot: one sentence, or none.

    Args:
        rows: rows of `hot_lines`.
        whole: what shares are of, by name.
    """
    if not rows or not line_verdicts.is_line_named(rows[0]["own_low_ns"], rows[0]["loop_ns"]):
        return []
    code = f" (`{text(rows[0])}`)" if text(rows[0]) else ""
    share = units.share(rows[0]["own_ns"], rows[0]["loop_ns"])
    return [f"The hottest line is {_places(rows)[0]}{code}: {share} of {whole}."]


def of_library(rows: Rows) -> list[str]:
    """How to see the lines of a library that does it all for one line of the program: one
    sentence, or none.

    Args:
        rows: rows of `library_line`.
    """
    return [
        f"{_places([row])[0]} calls {units.label(row['library'])} for most of the loop. To see its "
        f"lines, too, record with `rls-prof --source {units.label(row['library'])}`."
        for row in rows
        if line_verdicts.is_line_of_library(row)
    ]


def between(rows: Rows) -> str:
    """Rows of `between_lines`: " The hottest lines there, by share of the loop: train (ppo.py:90)
    4.1 %, ...". Too little is known: "".
    """
    named = [f"{place} {_share(row)}" for row, place in _named_between(rows)]
    return f" The hottest lines there, by share of the loop: {', '.join(named)}." if named else ""


def hottest_between(rows: Rows) -> str:
    """The same in short: " Its hottest lines are in train (ppo.py:90) and ..."."""
    places = [place for _, place in _named_between(rows)]
    if len(places) < 2:
        return f" Its hottest line is in {places[0]}." if places else ""
    return f" Its hottest lines are in {', '.join(places[:-1])} and {places[-1]}."


def _named_between(rows: Rows) -> list[tuple[dict[str, Any], str]]:
    """Rows of `between_lines` that are worth a name, with function and place."""
    return [
        (row, f"{units.label(row['function'])} ({place})")
        for row, place in zip(rows, _places(rows), strict=True)
        if line_verdicts.is_line_between_named(row["own_low_ns"], row["loop_ns"])
    ][:_BETWEEN]


def listed(rows: Rows) -> list[tuple[str, str, str]]:
    """Share, place and text of each line: ("12.3 %", "ppo.py:213", "loss.backward()")."""
    return [
        (_share(row), place, text(row, limits.LINE_CHARACTERS))
        for row, place in zip(rows, _places(rows), strict=True)
    ]


def text(row: dict[str, Any], characters: int = _TEXT_CHARACTERS) -> str:
    """The line without its blanks; "" where it was not kept."""
    return units.label((row["text"] or "").strip(), characters)


def estimates(whole: str) -> str:
    """What the times of a panel are."""
    return (
        f"Shares are of {whole}. Own time is the time in which a line was the innermost one of the "
        "program's own code, so it has the calls of libraries that the line makes. Total has "
        "the calls of the program's own functions, too. The times are estimates: rls-prof reads "
        "the stack of the process some 100 times a second. The table has their 95 % intervals."
    )


def absence(reasons: Iterable[str]) -> str:
    """Why there is nothing to show."""
    return next((f"{reason}." for reason in reasons), "no stack was read in the training loop.")


def _places(rows: Rows) -> list[str]:
    names = source_names.short(row["file"] for row in rows)
    return [units.visible(f"{names[row['file']]}:{row['line']}") for row in rows]


def _share(row: dict[str, Any]) -> str:
    whole = row["loop_ns"]
    share = units.share(row["own_ns"], whole)
    if not line_verdicts.is_interval_wide(row["own_low_ns"], row["own_ns"], row["own_high_ns"]):
        return share
    low, high = (units.share(row[f"own_{end}_ns"], whole) for end in ("low", "high"))
    return f"{share} ({low} to {high})"

"""The table of docs/reference/planted.md, made of what each pair of twins gave."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from planted.programs import PLANTED
from planted.twins import Twins

MOST_OFF = 0.2
"""Part of the measured difference by which a price may be off."""
_TABLE = re.compile(r"(?<=<!-- measured: planted -->\n).*?(?=<!-- end -->)", re.DOTALL)
_HEADING = (
    "| program | cause | first finding | line | promised | measured | price | twin |\n"
    "|---|---|---|---|---|---|---|---|"
)

_PERCENT = re.compile(r"(-?\d+)%")
_HELD_OUT = "Programs that were written after the rules:"


def row(twins: Twins) -> str:
    """The row of a program."""
    plant, first = PLANTED[twins.program], twins.first
    cells = [
        twins.program,
        plant.cause,
        _verdict(twins.is_cause_named, first["rule"] if first else "nothing"),
        _line(twins),
        _promised(twins),
        f"{twins.measured_share:.0%}: {twins.measured_s:.2f} of {min(twins.planted_s):.2f} s",
        _price(twins),
        _twin(twins),
    ]
    return f"| {' | '.join(cells)} |"


def _verdict(right: bool, said: str) -> str:
    return said if right else f"**{said}**"


def _line(twins: Twins) -> str:
    if twins.first is None:
        return ""
    file = twins.first["file"]
    said = f"{Path(file).name}:{twins.first['line']}" if file else "none"
    return _verdict(twins.is_line_right, said)


def _promised(twins: Twins) -> str:
    if twins.first is None:
        return ""
    low, value, high = (
        twins.first["saving_share"] * twins.first[name] / twins.first["saving_ns"]
        for name in ("saving_low_ns", "saving_ns", "saving_high_ns")
    )
    return f"{value:.0%} ({low:.0%} to {high:.0%})"


def off(twins: Twins) -> float | None:
    """By which part of the measured difference the price is off; None: it is of something else."""
    if not PLANTED[twins.program].rules or not twins.is_cause_named or twins.first is None:
        return None
    return twins.first["saving_share"] / twins.measured_share - 1


def _price(twins: Twins) -> str:
    wrong = off(twins)
    return "" if wrong is None else _verdict(abs(wrong) <= MOST_OFF, f"{wrong:+.0%}")


def _twin(twins: Twins) -> str:
    first = twins.twin_first
    said = f"{first['rule']}, {first['saving_share']:.0%}" if first else "silent"
    return _verdict(twins.is_twin_silent, said)


def renewed(text: str, rows: Iterable[str], conditions: str) -> str:
    """The page with these rows in its table. Other programs keep the rows they have."""
    known = _rows(text) | {_program(line): line for line in rows}
    lines = [conditions]
    for held_out, title in ((False, ""), (True, _HELD_OUT)):
        kept = [
            known[program]
            for program, plant in PLANTED.items()
            if program in known and plant.held_out == held_out
        ]
        if kept:
            cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in kept]
            lines += [*([title] if title else []), "", _HEADING, *kept, "", _score(cells), ""]
    lines = lines[:-1] if not lines[-1] else lines
    return _TABLE.sub(lambda _: "\n".join(lines) + "\n", text)


def _score(cells: list[list[str]]) -> str:
    def right(column: int, among: list[list[str]]) -> str:
        wrong = sum(each[column].startswith("**") or not each[column] for each in among)
        return f"{len(among) - wrong} of {len(among)}"

    planted = [each for each in cells if PLANTED[each[0]].rules]
    return (
        f"The cause comes first in {right(2, planted)} programs, at the right line in "
        f"{right(3, planted)}. Its price is within {MOST_OFF:.0%} in {right(6, planted)}. "
        f"{_coverage(planted)} "
        f"The twin is not blamed for it in {right(7, planted)}. Programs without a cause get no "
        f"advice in {right(2, [each for each in cells if each not in planted])}."
    )


def _coverage(cells: list[list[str]]) -> str:
    """How often an interval holds what was measured, to a whole percent as the table shows both."""
    numbers = (_PERCENT.findall(f"{each[4]} {each[5]}") for each in cells if each[6])
    shares = [tuple(map(int, each)) for each in numbers if len(each) == 4]
    held = sum(low <= measured <= high for _, low, high, measured in shares)
    return f"The interval holds what was measured in {held} of {len(shares)}."


def _rows(text: str) -> dict[str, str]:
    table = _TABLE.search(text)
    lines = [line for line in (table[0].splitlines() if table else []) if line.startswith("| ")]
    return {_program(line): line for line in lines}


def _program(line: str) -> str:
    return line.strip("|").split("|")[0].strip()

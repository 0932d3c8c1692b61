"""The planted programs are what their rows say, and their page says what was measured."""

from __future__ import annotations

from typing import Any

import pytest
from planted import page
from planted.programs import HERE, PLANTED, planted_lines, script
from planted.twins import Twins

from rlscope import registry


def test_every_program_has_a_row_and_every_row_a_program():
    programs = {path.stem for path in HERE.glob("*.py")} - {"__init__", "stopwatch"}
    assert programs == PLANTED.keys()


@pytest.mark.parametrize("program", PLANTED)
def test_a_cause_has_a_rule_and_a_line(program: str):
    rules = PLANTED[program].rules
    assert {*rules} <= {*registry.names(registry.FINDINGS)}
    assert bool(rules) == bool(planted_lines(program))


@pytest.mark.parametrize("program", PLANTED)
def test_the_twin_differs_by_an_option_of_the_program(program: str):
    option = PLANTED[program].mended[0]
    assert f'"{option}"' in script(program).read_text()


def finding(
    rule: str, *, line: int = 1, share: float = 0.5, rank: int | None = 1
) -> dict[str, Any]:
    times = {"saving_ns": 5, "saving_low_ns": 4, "saving_high_ns": 6}
    return {
        **times,
        "rank": rank,
        "rule": rule,
        "file": "/x/step_journal.py",
        "line": line,
        "saving_share": share,
    }


def measured(*findings: dict[str, Any], twin: tuple[dict[str, Any], ...] = ()) -> list[str]:
    """The cells of a row, of a program that wins a half of its loop."""
    twins = Twins("step_journal", (2.0, 3.0), (1.4, 1.0), findings, twin)
    return [cell.strip() for cell in page.row(twins).strip("|").split("|")]


LINE = min(planted_lines("step_journal"))


def test_a_hit_is_plain():
    cells = measured(finding("disk_wait", line=LINE), finding("other", rank=2))
    assert cells[2:] == [
        "disk_wait",
        f"step_journal.py:{LINE}",
        "50% (40% to 60%)",
        "50%: 1.00 of 2.00 s",
        "+0%",
        "silent",
    ]


@pytest.mark.parametrize(
    ("findings", "twin", "missed"),
    [
        ([finding("other", line=LINE)], (), {2}),
        ([finding("disk_wait", line=LINE - 1)], (), {3}),
        ([finding("disk_wait", line=LINE, share=0.7)], (), {6}),
        ([finding("disk_wait", line=LINE)], (finding("disk_wait"),), {7}),
        ([finding("disk_wait", line=LINE, rank=None)], (), {2}),
    ],
)
def test_a_miss_is_bold(findings, twin, missed):
    cells = measured(*findings, twin=twin)
    assert {place for place, cell in enumerate(cells) if cell.startswith("**")} == missed


@pytest.mark.parametrize(("share", "held"), [(0.5, 1), (0.8, 0)])
def test_the_page_says_how_often_intervals_hold(share, held):
    twins = Twins(
        "step_journal", (2.0,), (1.0,), (finding("disk_wait", line=LINE, share=share),), ()
    )
    text = "<!-- measured: planted -->\n<!-- end -->\n"
    assert f"was measured in {held} of 1." in page.renewed(text, [page.row(twins)], "")


def test_rows_of_other_programs_stay():
    text = "<!-- measured: planted -->\n<!-- end -->\n"
    first = page.renewed(text, ["| step_journal | a | b | c | d | e | f | g |"], "Then.")
    both = page.renewed(first, ["| td3_targets | a | b | c | d | e | f | g |"], "Now.")
    lines = [line for line in both.splitlines() if line.startswith(("| td3", "| step"))]
    assert [line.split()[1] for line in lines] == ["td3_targets", "step_journal"]
    assert "Now." in both
    assert "Then." not in both

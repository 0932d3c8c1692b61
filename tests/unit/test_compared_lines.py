"""Lines and findings of two sides, on runs made by hand of programs that differ."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rlscope.compare import comparison
from rlscope.compare.comparison import Comparison
from rlscope.compare.measured import Measured
from rlscope.compare.renderers import FORMATS, page, text
from rlscope.compare.rows import Row

US = 1_000
SERIES = 1e6 * np.array([1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.0, 1.0])
FILE = "/base/train.py"
TEXT = ("import torch", "", "batch = sample()", "loss = net(batch)", "loss.backward()", "step()")


def run(
    times: Mapping[int, int],
    text: Sequence[str] | None = TEXT,
    *,
    file: str = FILE,
    findings: Sequence[dict[str, Any]] = (),
) -> Measured:
    """A run whose lines take so many microseconds of each iteration."""
    rows = [
        {"file": file, "line": line, "own_ns": us * US * 8, "own_low_ns": 0, "own_high_ns": 0}
        for line, us in times.items()
    ]
    total = int(SERIES.sum())
    return Measured(
        directory="run",
        facts={"program": "python train.py"},
        loop_ns=total,
        run_ns=total,
        iterations=len(SERIES),
        states={("learning", "python"): total},
        corrected={},
        series={("learning", "python"): SERIES},
        lines=[row | {"own_low_ns": row["own_ns"], "own_high_ns": row["own_ns"]} for row in rows],
        sources={} if text is None else {file: tuple(text)},
        findings=findings,
    )


def compared(base: Sequence[Measured] | Measured, new: Sequence[Measured] | Measured) -> Comparison:
    sides = ([each] if isinstance(each, Measured) else each for each in (base, new))
    return comparison.compare(*sides)


def lines(found: Comparison) -> dict[str, Row]:
    return {row.name: row for row in found.lines}


def times(found: Comparison) -> dict[str, tuple[float, float]]:
    """In microseconds."""
    return {name: (row.base / US, row.new / US) for name, row in lines(found).items()}


def said(found: Comparison, name: str) -> str:
    (line,) = [
        line for line in FORMATS["text"](found, None).splitlines() if line.startswith(f"{name} ")
    ]
    return line


def test_a_line_is_compared_with_the_same_line_after_an_edit_above() -> None:
    new = [*TEXT[:2], "import random", "random.seed(1)", *TEXT[2:]]
    found = compared(run({3: 50, 5: 200, 6: 300}), run({5: 50, 7: 180, 8: 310}, new))
    assert times(found) == {
        "train.py:3 -> 5": (50, 50),
        "train.py:5 -> 7": (200, 180),
        "train.py:6 -> 8": (300, 310),
    }
    assert lines(found)["train.py:6 -> 8"].place.text == "step()"  # type: ignore[union-attr]
    assert found.warnings == []


def test_a_line_at_its_place_has_one_number() -> None:
    assert times(compared(run({3: 50}), run({3: 60}))) == {"train.py:3": (50, 60)}


def test_a_line_that_moved_is_the_same() -> None:
    new = [*TEXT[:3], TEXT[5], *TEXT[3:5]]
    found = compared(run({4: 10, 6: 300}), run({5: 20, 4: 310}, new))
    assert times(found) == {"train.py:4 -> 5": (10, 20), "train.py:6 -> 4": (300, 310)}


def test_a_changed_line_is_marked() -> None:
    new = [*TEXT[:3], "loss = fast(batch)", *TEXT[4:]]
    found = compared(run({4: 400}), run({4: 100}, new))
    assert times(found) == {"train.py:4": (400, 100)}
    assert said(found, "train.py:4").startswith("train.py:4 (changed) ")
    assert "loss = fast(batch)" in FORMATS["text"](found, None)


def test_lines_without_a_partner_are_gone_or_new() -> None:
    new = [*TEXT[:3], "loss = 0", "for each in batch:", "    loss += net(each)", *TEXT[4:]]
    found = compared(run({4: 400, 6: 10}), run({6: 900, 8: 10}, new))
    assert times(found) == {
        "train.py:4": (400, 0),
        "train.py: -> 6": (0, 900),
        "train.py:6 -> 8": (10, 10),
    }
    assert "gone" in said(found, "train.py:4")
    assert "a new line" in said(found, "train.py: -> 6")


def test_a_line_without_time_on_a_side_is_not_gone() -> None:
    found = compared(run({4: 400, 6: 300}), run({6: 310}))
    assert times(found)["train.py:4"] == (400, 0)
    assert "gone" not in said(found, "train.py:4")
    assert "no time in new is known" in said(found, "train.py:4")


def test_lines_of_the_same_text_are_told_apart() -> None:
    text = ["a = 1", "step()", "b = 2", "step()"]
    found = compared(run({2: 100, 4: 200}, text), run({3: 110, 5: 210}, ["import x", *text]))
    assert times(found) == {"train.py:2 -> 3": (100, 110), "train.py:4 -> 5": (200, 210)}


def test_a_file_in_another_folder_is_the_same() -> None:
    found = compared(run({5: 200}), run({6: 210}, ["# new", *TEXT], file="/elsewhere/train.py"))
    assert times(found) == {"train.py:5 -> 6": (200, 210)}


def test_a_renamed_file_is_the_same_if_its_text_is() -> None:
    found = compared(run({5: 200}), run({6: 210}, ["# new", *TEXT], file="/new/fast.py"))
    assert times(found) == {"train.py:5 -> fast.py:6": (200, 210)}
    other = compared(run({5: 200}), run({1: 210}, ["play()", "step()"], file="/new/fast.py"))
    assert times(other) == {"train.py:5": (200, 0), "fast.py:1": (0, 210)}
    assert "only in base" in said(other, "train.py:5")
    assert "    loss.backward()" in FORMATS["text"](other, None).splitlines()


def test_files_of_one_name_are_those_whose_folders_are_alike() -> None:
    sides = []
    for root, more in (("/base", []), ("/new", ["# more"])):
        runs = [run({1: us}, [*more, name], file=f"{root}/{name}/net.py")
                for name, us in (("actor", 100), ("critic", 200))]  # fmt: skip
        line = 1 + len(more)
        rows = [row | {"line": line} for each in runs for row in each.lines]
        sources = {file: text for each in runs for file, text in each.sources.items()}
        sides.append(replace(runs[0], lines=rows, sources=sources))
    found = compared(*sides)
    assert times(found) == {"actor/net.py:1 -> 2": (100, 100), "critic/net.py:1 -> 2": (200, 200)}


@pytest.mark.parametrize("kept", [(None, None), (TEXT, None), (None, TEXT)])
def test_without_a_text_lines_are_compared_by_number(
    kept: tuple[Sequence[str] | None, Sequence[str] | None],
) -> None:
    base, new = kept
    found = compared(run({5: 200, 6: 10}, base), run({5: 210}, new))
    assert times(found) == {"train.py:5": (200, 210), "train.py:6": (10, 0)}
    assert any("train.py" in each and "numbers" in each for each in found.warnings)
    assert "only in base" in said(found, "train.py:6")


def test_runs_of_a_side_with_several_texts_are_not_compared_by_line() -> None:
    edited = ["# edited", *TEXT]
    found = compared([run({5: 200}), run({6: 200}, edited)], run({5: 210}))
    assert found.lines == []
    assert any("train.py" in each and "the base" in each for each in found.warnings)
    same = compared([run({5: 200}), run({5: 200})], run({6: 210}, edited))
    assert (times(same), same.warnings) == ({"train.py:5 -> 6": (200, 210)}, [])


def test_a_run_of_several_without_a_text_leaves_the_numbers() -> None:
    found = compared([run({5: 200}), run({5: 200}, None)], run({5: 210}, ["# new", *TEXT]))
    assert times(found) == {"train.py:5": (200, 210)}
    assert any("numbers" in each for each in found.warnings)


HOSTILE = "</script><img src=x onerror=alert(1)> | `%{x}` \x1b[31m"


def test_a_text_of_the_program_is_no_markup_and_no_escape() -> None:
    text = [*TEXT, f"x = '{HOSTILE}'"]
    found = compared(run({7: 200}, text), run({8: 210}, ["# new", *text]))
    assert times(found) == {"train.py:7 -> 8": (200, 210)}
    for name in ("text", "markdown"):
        assert "\x1b" not in FORMATS[name](found, None)
    assert "| x \\= '<" not in FORMATS["markdown"](found, None)
    shown = page(found, None)
    assert "<img" not in shown
    assert "<img src=x onerror=alert(1)>" in html.unescape(shown)
    (row,) = json.loads(FORMATS["json"](found, None))["lines"]
    assert row["text"] == text[6]
    assert (row["base_line"], row["new_line"], row["changed"]) == (7, 8, False)


# ---- findings ----------------------------------------------------------------------------------


def finding(
    title: str, line: int | None, share: float, *, file: str | None = FILE, rule: str = "rule"
) -> dict[str, Any]:
    return {
        "rule": rule, "operation": "learning", "file": file, "line": line, "title": title,
        "saving_share": share,
    }  # fmt: skip


def found_in(
    base: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]], text: Sequence[str] = TEXT
) -> list[tuple[str, str, float | None, float | None]]:
    found = compared(run({}, findings=base), run({}, text, findings=new))
    return [
        (row.title, row.place.name if row.place else "", row.base, row.new)
        for row in found.findings
    ]


def test_a_finding_that_stays_is_one_whatever_its_numbers_and_its_line() -> None:
    base = [finding("the optimizer takes 16.3 % of the loop", 6, 0.13)]
    new = [finding("the optimizer takes 29.3 % of the loop", 7, 0.2)]
    assert found_in(base, new, ["# new", *TEXT]) == [
        ("the optimizer takes 16.3 -> 29.3 % of the loop", "train.py:6 -> 7", 0.13, 0.2)
    ]


def test_a_rule_at_two_lines_is_two_findings() -> None:
    both = [finding("a slow loop", 4, 0.2), finding("a slow loop", 6, 0.3)]
    assert found_in(both, both[1:]) == [
        ("a slow loop", "train.py:6", 0.3, 0.3),
        ("a slow loop", "train.py:4", 0.2, None),
    ]


def test_a_finding_that_was_mended_is_not_the_one_that_came_at_another_line() -> None:
    assert found_in([finding("a slow loop", 4, 0.2)], [finding("a slow loop", 6, 0.1)]) == [
        ("a slow loop", "train.py:4", 0.2, None),
        ("a slow loop", "train.py:6", None, 0.1),
    ]


def test_a_finding_that_points_to_either_of_two_lines_is_one() -> None:
    base, new = (
        [run({}, findings=[finding("a slow loop", line, 0.2)]) for line in of]
        for of in ((4, 4, 6), (6, 6, 4))
    )
    (row,) = compared(base, new).findings
    assert (row.base, row.new) == pytest.approx((0.2, 0.2))


def test_a_finding_of_few_runs_of_a_side_is_none_of_the_side() -> None:
    with_it = run({}, findings=[finding("a slow loop", 4, 0.2), finding("a slow loop", 4, 0.2)])
    found = compared([with_it, run({}), run({}), run({}), run({})], [with_it])
    assert [(row.base, row.new) for row in found.findings] == [(None, 0.2)]


def test_a_finding_without_a_line_is_known_by_its_rule() -> None:
    base, new = ([finding(f"{share:.0%} wait", None, share, file=None)] for share in (0.5, 0.25))
    assert found_in(base, new) == [("50 -> 25% wait", "", 0.5, 0.25)]


def test_titles_that_differ_in_words_are_the_new_one() -> None:
    found = found_in([finding("2 calls of sorted", 4, 0.2)], [finding("3 calls of max", 4, 0.1)])
    assert found == [("3 calls of max", "train.py:4", 0.2, 0.1)]


def test_a_terminal_shows_the_line_of_a_finding_below_its_prices() -> None:
    base = run({}, findings=[finding("a slow loop " * 20, 4, 0.2)])
    new = run({}, ["# new", *TEXT], findings=[finding("a slow loop " * 20, 5, 0.1)])
    said = text.render(compared(base, new), None, width=80, unicode=True).splitlines()
    (place,) = [number for number, each in enumerate(said) if "20.0 %" in each]
    assert said[place].split()[-4:] == ["20.0", "%", "10.0", "%"]
    assert said[place + 1] == "    train.py:4 -> 5  loss = net(batch)"

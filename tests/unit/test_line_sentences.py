"""Lines of source in words: in the headline, on the terminal, and by their short names."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Any

import pytest
from support.files.report_rows import full_run

from rlscope.report import headline, line_sentences, source_names
from rlscope.report.operation_choices import ALL, OperationChoices
from rlscope.report.renderers.terminal import render_summary


def row(share: float, low: float, high: float, text: str | None = "  loss.backward()") -> dict:
    times = {"own_ns": share, "own_low_ns": low, "own_high_ns": high, "loop_ns": 100}
    return {"file": "/home/me/ppo.py", "line": 213, "text": text, **times}


@pytest.mark.parametrize(
    ("low", "text", "expected"),
    [
        (29, "  loss.backward()", " (`loss.backward()`): 31.0 % of the training loop."),
        (5, None, ": 31.0 % of the training loop."),
    ],
)
def test_a_line_that_is_surely_hot_is_named(low: float, text: str | None, expected: str):
    (sentence,) = line_sentences.hottest([row(31, low, 33, text)], "the training loop")
    assert sentence == f"The hottest line is ppo.py:213{expected}"


def test_a_line_that_may_not_be_hot_is_not_named():
    assert line_sentences.hottest([row(31, 4.9, 60)], "the training loop") == []
    assert line_sentences.hottest([], "the training loop") == []


def test_a_wide_interval_is_shown():
    narrow, wide = line_sentences.listed([row(31, 29, 33), row(12, 9, 16)])
    assert narrow == ("31.0 %", "ppo.py:213", "loss.backward()")
    assert wide[0] == "12.0 % (9.0 % to 16.0 %)"


def test_the_terminal_shows_the_three_hottest_lines_with_their_text():
    text = render_summary(full_run(), width=200, unicode=True)  # type: ignore[arg-type]
    _, _, below = text.partition("Hottest lines of the program's own code")
    shown = [line.split() for line in below.splitlines()[1:5]]
    assert [len(line) > 3 and line[1] == "%" for line in shown] == [*[True] * 3, False]
    assert shown[0][2] == "buffer.py:180"
    assert "step(180)" in " ".join(shown[0])


@pytest.mark.parametrize(("hottest", "shown"), [(0, 0), (10, 10), (60, 60)])
def test_the_terminal_shows_as_many_lines_as_are_wanted(hottest: int, shown: int):
    trace: Any = full_run()
    lines = _hottest(render_summary(trace, width=100, unicode=True, hottest=hottest))
    assert len(lines) == shown
    assert all(re.search(r"\.py:(\d+) +trainer = step\(\1\)", line) for line in lines)


def test_a_line_without_own_time_is_not_among_the_hottest():
    trace: Any = full_run(stacks=6)
    own = trace.sql("SELECT file, line FROM source_line GROUP BY ALL HAVING SUM(own_ns) > 0")
    assert len(_hottest(render_summary(trace, width=100, hottest=100))) == len(own)
    assert len(own) < len(trace.sql("SELECT DISTINCT file, line FROM source_line WHERE is_own"))


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_text_of_a_line_is_cut_once(width: int):
    trace: Any = full_run(name="a_long_name_of_a_thing_that_is_stepped")
    for line in _hottest(render_summary(trace, width=width, unicode=True)):
        assert len(line) <= width
        if width > 40:
            assert line.count("…") == (width < 200)
            assert "..." not in line


def _hottest(summary: str) -> list[str]:
    _, _, below = summary.partition("Hottest lines of the program's own code")
    lines = below.splitlines()[1:]
    return list(takewhile(lambda line: line.startswith("  ") and ".py:" in line, lines))


def test_the_headline_is_about_a_line_only_if_one_is_hot():
    def details(**more: Any) -> str:
        found = headline.read(full_run(**more)).details  # type: ignore[arg-type]
        return " ".join(each.text for each in found)

    assert "hottest line" not in details()
    assert re.search(r"The hottest line is \w+\.py:\d+ \(`trainer = step\(", details(stacks=6))


def test_names_are_as_short_as_they_can_be():
    names = source_names.short(
        ["/a/ppo.py", "/b/ppo.py", "/b/train.py", "/v/lib/python3.11/site-packages/torch/nn.py",
         "/usr/lib/python3.11/random.py", "<string>"]
    )  # fmt: skip
    assert names == {
        "/a/ppo.py": "a/ppo.py",
        "/b/ppo.py": "b/ppo.py",
        "/b/train.py": "train.py",
        "/v/lib/python3.11/site-packages/torch/nn.py": "torch/nn.py",
        "/usr/lib/python3.11/random.py": "random.py",
        "<string>": "<string>",
    }


def test_an_operation_is_chosen_with_those_inside_it():
    rows = [
        {"operation": path, "layer": layer, "ns": ns}
        for path, layer, ns in (("a/b", "wait", 5), ("a", "python", 9), ("ab", "python", 3),
                                ("c\\/d/e", "python", 1), ("(none)", "python", 2))
    ]  # fmt: skip
    states = OperationChoices(rows, "ns")
    assert states.choices() == {
        ALL: [0, 1, 2, 3, 4],
        "a": [0, 1],
        "a/b": [1],
        "ab": [2],
        "(between operations)": [3],
        "c\\/d": [4],
        "c\\/d/e": [4],
    }
    assert [states.place(each) for each in rows[:2]] == [(1, 1), (0, 0)]
    assert states.waiting() == 1

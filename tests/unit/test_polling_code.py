"""Which lines of a loop only ask whether something is ready."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from rlscope.analysis.polling_code import asking_lines
from rlscope.analysis.source_code import Source


def lines_of(text: str, line: int) -> set[int]:
    return asking_lines(Source(ast.parse(dedent(text).strip())), line)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("while not event.is_set():\n    pass", {1, 2}),
        ("while queue.empty(): continue", {1}),
        (
            """
            while True:
                with number.get_lock():
                    goes_on = number.value < 9
                if goes_on:
                    if not results.empty():
                        save(results.get())
                else:
                    break
            """,
            {1, 2, 3, 4, 5},
        ),
        (
            """
            while True:
                if results.empty():
                    continue
                learn(results.get())
            """,
            {1, 2},
        ),
        (
            """
            while True:
                try:
                    row = results.get_nowait()
                except Empty:
                    continue
                learn(row)
            """,
            {1, 3},
        ),
        (
            """
            while time.time() < deadline:
                if first.poll():
                    learn(first.recv())
                if second.poll():
                    learn(second.recv())
            """,
            {1, 2, 4},
        ),
    ],
)
def test_a_loop_that_only_asks(text: str, expected: set[int]) -> None:
    assert lines_of(text, 1) == expected


@pytest.mark.parametrize(
    "text",
    [
        "while True:\n    learn(results.get())",
        "while not results.empty():\n    learn(results.get())",  # until nothing is left
        "while not event.is_set():\n    time.sleep(0.1)",
        "while True:\n    env.step(0)\n    if event.is_set():\n        break",
        "while True:\n    with lock:\n        step()\n    if event.is_set():\n        break",
        "for row in rows:\n    if queue.empty():\n        continue",
        "while count < 9:\n    count += 1",
        "while True:\n    try:\n        row = get_nowait()\n    except Empty:\n        step()",
    ],
)
def test_a_loop_that_works_sleeps_or_waits(text: str) -> None:
    assert lines_of(text, 1) == set()


def test_work_inside_of_a_loop_that_asks_is_a_loop_of_its_own() -> None:
    text = "while True:\n    if done():\n        while step():\n            rest()"
    assert lines_of(text, 2) == {1, 2}
    assert lines_of(text, 3) == set()

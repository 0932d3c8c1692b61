"""Stopwatches inside of training programs, and the table that compares the page with them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from stopwatches import programs
from stopwatches.page import Row, renewed
from stopwatches.stopwatch import COMPILATION, MARK, Stopwatch


class Clock:
    """Stands still until work takes time."""

    def __init__(self) -> None:
        self.now = 1000

    def __call__(self) -> int:
        return self.now


class Program:
    """Its methods take as long as they are told."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.stopwatch = Stopwatch(self.clock)

    def work(self, ns: int) -> None:
        self.clock.now += ns

    def around(self, kind: str, before: int, inside: int, after: int) -> None:
        self.work(before)
        self.stopwatch.timed(kind, self.work)(inside)
        self.work(after)

    def items(self, *ns: int) -> Iterator[int]:
        for each in ns:
            self.work(each)
            yield each

    def timed(self, kind: str, ns: int) -> None:
        self.stopwatch.timed(kind, self.work)(ns)

    def result(self) -> tuple[int, dict[str, int]]:
        found = self.stopwatch.result()
        return found["loop_ns"], found["own_ns"]


@pytest.fixture
def program() -> Program:
    return Program()


# ---- stopwatch -----------------------------------------------------------------------------------


def test_work_inside_of_work_stops_its_clock(program: Program) -> None:
    with program.stopwatch as stopwatch:
        stopwatch.timed("learning", program.around)("replay", 10, 3, 20)
        program.work(100)
        program.timed("simulation", 7)
    assert program.result() == (140, {"learning": 30, "replay": 3, "simulation": 7})


def test_everything_inside_of_an_evaluation_is_evaluation(program: Program) -> None:
    with program.stopwatch as stopwatch:
        program.timed("simulation", 1)
        stopwatch.timed("evaluation", program.around)("simulation", 10, 3, 20)
        program.timed("simulation", 1)
    assert program.result() == (35, {"simulation": 2, "evaluation": 33})


def test_the_loop_begins_and_ends_with_work_of_training(program: Program) -> None:
    program.timed("simulation", 1000)
    with program.stopwatch:
        program.work(50)
        program.timed("evaluation", 60)
        program.timed("simulation", 1)
        program.timed("evaluation", 2)
        program.timed("learning", 3)
        program.timed("evaluation", 70)
        program.work(80)
    assert program.result() == (6, {"simulation": 1, "evaluation": 2, "learning": 3})


def test_an_exception_ends_work(program: Program) -> None:
    def fail() -> None:
        program.work(4)
        raise ValueError

    with program.stopwatch as stopwatch:
        with pytest.raises(ValueError):
            stopwatch.timed("learning", fail)()
        program.work(5)
        program.timed("simulation", 1)
    assert program.result() == (10, {"learning": 4, "simulation": 1})


def test_each_item_of_a_generator_is_timed_and_what_is_done_with_it_is_not(
    program: Program,
) -> None:
    program.stopwatch.wrap_generator("replay", program, "items")
    with program.stopwatch:
        for item in program.items(1, 2):
            program.work(10 * item)
        program.timed("learning", 5)
    assert program.result() == (38, {"replay": 3, "learning": 5})


def test_what_jax_compiles_is_no_part_of_the_loop(program: Program) -> None:
    def learn() -> None:
        program.work(100)
        program.stopwatch.move(COMPILATION, 10)
        program.work(5)
        program.stopwatch.move(COMPILATION, 40)  # with the 10 inside
        program.work(1)

    with program.stopwatch as stopwatch:
        stopwatch.timed("learning", learn)()
        program.work(2)
        program.timed("simulation", 3)
    assert program.result() == (71, {"learning": 66, "simulation": 3})


def test_a_result_is_waited_for_while_the_clock_runs(program: Program) -> None:
    with program.stopwatch as stopwatch:
        stopwatch.timed("learning", lambda: 30, then=program.work)()
    assert program.result() == (30, {"learning": 30})


def test_other_threads_do_not_count(program: Program) -> None:
    with program.stopwatch:
        program.timed("simulation", 1)
        thread = threading.Thread(target=program.timed, args=("learning", 10))
        thread.start()
        thread.join()
        program.timed("simulation", 1)
    assert program.result() == (12, {"simulation": 2})


def test_a_wrapped_method_is_called_as_before(program: Program) -> None:
    class Buffer:
        def __init__(self) -> None:
            self.kept: list[int] = []

        def add(self, item: int, *, twice: bool = False) -> int:
            self.kept += [item] * (1 + twice)
            return len(self.kept)

    own, of_class = Buffer(), Buffer()
    program.stopwatch.wrap("replay", own, "add")
    program.stopwatch.wrap("replay", Buffer, "add")
    with program.stopwatch:
        assert (own.add(1), own.add(2, twice=True)) == (1, 3)
        assert of_class.add(3) == 1
    assert (own.kept, of_class.kept) == ([1, 2, 2], [3])


def test_what_it_says_is_one_line(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    with program.stopwatch:
        program.timed("replay", 2)
    (line,) = [each for each in capsys.readouterr().out.splitlines() if each.startswith(MARK)]
    assert json.loads(line.removeprefix(MARK)) == {"loop_ns": 2, "own_ns": {"replay": 2}}


# ---- table ---------------------------------------------------------------------------------------


def row(own: dict[str, int], page: dict[str, int], name: str = "one") -> Row:
    """The loop takes 1000 ns by the stopwatch, and 2000 ns on the page."""
    times = [
        {"group": group, "layer": layer, "group_ns": ns, "whole_ns": 2000}
        for group, ns in page.items()
        for layer in ("python", "framework")  # a group has a row for each
    ]
    result = {"loop_ns": 1000, "own_ns": own}
    return Row.of(name, "Library", result, times, "A sentence.")


def test_shares_are_of_the_loop_of_each() -> None:
    made = row({"learning": 300, "preparation": 5}, {"learning": 640, "between operations": 1360})
    assert made.truth == {"learning": 30.0}
    assert made.page == {"learning": 32.0, "between operations": 68.0}
    assert (made.loop_s, made.page_loop_s) == (1e-6, 2e-6)


def test_a_miss_is_more_than_five_points_off() -> None:
    assert row({"replay": 300}, {"replay": 700}).misses() == []
    assert row({"replay": 300}, {"replay": 702}).misses() == ["replay"]
    assert row({"replay": 51}, {}).misses() == ["replay"]
    assert row({}, {"evaluation": 102}).misses() == ["evaluation"]


def test_a_line_says_both_shares_and_what_else_the_page_has() -> None:
    page = {"learning": 640, "between operations": 1000, "compiled:act": 360}
    cells = row({"learning": 300, "replay": 60}, page).line().strip("| ").split(" | ")
    assert cells[:3] == ["one", "Library", "0.0, page 0.0"]
    assert "30.0 %, page 32.0 % (+2.0)" in cells
    assert "**6.0 %, page 0.0 % (-6.0)**" in cells
    assert cells[-4:] == ["50.0 %", "compiled:act 18.0 %", "A sentence.", "replay"]


def test_the_table_of_the_page_is_made_anew_and_nothing_else() -> None:
    text = "Before.\n\n<!-- measured: stopwatches -->\nold\n<!-- end -->\n\nAfter.\n"
    rows = [row({"replay": 300}, {"replay": 600}), row({"replay": 300}, {}, "two")]
    made = renewed(text, rows, "On a day.", ["one", "two", "three"])
    assert made.startswith("Before.\n\n<!-- measured: stopwatches -->\nOn a day.\n")
    assert made.endswith("<!-- end -->\n\nAfter.\n")
    assert "old" not in made
    assert [line for line in made.splitlines() if line.startswith(("| one", "| two"))] == [
        each.line() for each in rows
    ]
    assert "Hits: 1 of 2 programs, of 1 libraries." in made
    assert renewed(made, rows, "On a day.", ["one", "two"]) == made


def test_programs_that_were_not_measured_keep_their_rows() -> None:
    text = "<!-- measured: stopwatches -->\n<!-- end -->\n"
    order = ["one", "two", "three"]
    first = [row({"replay": 300}, {"replay": 600}, name) for name in ("one", "three")]
    again = [row({"replay": 300}, {}, "three"), row({"replay": 300}, {"replay": 600}, "two")]
    made = renewed(renewed(text, first, "On a day.", order), again, "Later.", order)
    lines = made.splitlines()
    (heading,) = [place for place, line in enumerate(lines) if line.startswith("| program")]
    assert set(lines[heading + 1]) == {"|", "-"}
    assert lines[heading + 2 : heading + 5] == [
        first[0].line(), again[1].line(), again[0].line(),
    ]  # fmt: skip
    assert "On a day." not in made and "Later." in made
    assert "Hits: 2 of 3 programs, of 1 libraries." in made
    assert renewed(made, [], "Later.", ["two"]).count("| Library |") == 1


def test_every_program_has_its_row() -> None:
    files = {path.stem for path in Path(programs.__file__).parent.glob("*.py")}
    assert files - {"__init__"} == set(programs.LIBRARIES)

"""Which lines of two texts are the same line."""

from __future__ import annotations

import random

import pytest

from rlscope.compare import alignment
from rlscope.compare.alignment import align

BASE = ["import torch", "", "def train():", "    a = net(x)", "    b = net(y)", "    step(a, b)"]


def lines(base: list[str], new: list[str]) -> dict[int, int]:
    return dict(sorted(align(base, new).new_of.items()))


def test_a_text_is_itself() -> None:
    found = align(BASE, BASE)
    assert found.new_of == {line: line for line in range(1, len(BASE) + 1)}
    assert not found.changed


def test_an_edit_above_moves_all_lines_below() -> None:
    new = [*BASE[:1], "import numpy", "import random", *BASE[1:]]
    assert lines(BASE, new) == {1: 1, 2: 4, 3: 5, 4: 6, 5: 7, 6: 8}
    assert lines(new, BASE) == {1: 1, 4: 2, 5: 3, 6: 4, 7: 5, 8: 6}


def test_a_line_that_moved_keeps_its_text() -> None:
    new = [*BASE[:3], *BASE[4:], BASE[3]]
    assert lines(BASE, new) == {1: 1, 2: 2, 3: 3, 4: 6, 5: 4, 6: 5}
    assert not align(BASE, new).changed


def test_a_changed_line_is_the_one_in_its_place() -> None:
    new = [*BASE[:3], "    a = fast(x)", *BASE[4:]]
    found = align(BASE, new)
    assert (found.new_of[4], found.changed) == (4, {4})


def test_as_many_changed_lines_are_the_same_one_by_one() -> None:
    new = [*BASE[:3], "    a = fast(x)", "    b = fast(y)", *BASE[5:]]
    found = align(BASE, new)
    assert (found.new_of[4], found.new_of[5], found.changed) == (4, 5, {4, 5})


def test_lines_of_a_block_that_became_longer_have_no_partner() -> None:
    new = [*BASE[:3], "    x = x.to(device)", "    y = 1", "    a, b = net(x, y)", *BASE[5:]]
    found = align(BASE, new)
    assert found.new_of == {1: 1, 2: 2, 3: 3, 6: 7}
    assert found.base_of == {1: 1, 2: 2, 3: 3, 7: 6}


def test_blanks_at_the_ends_do_not_count() -> None:
    new = [*BASE[:3], "    if ready:", *(f"    {line}  " for line in BASE[3:])]
    assert lines(BASE, new) == {1: 1, 2: 2, 3: 3, 4: 5, 5: 6, 6: 7}
    assert not align(BASE, new).changed


def test_equal_texts_stay_in_their_order() -> None:
    base = ["a", "step()", "b", "step()", "c", "step()", "d"]
    new = ["a", "step()", "c", "step()", "d"]
    assert lines(base, new) == {1: 1, 2: 2, 5: 3, 6: 4, 7: 5}


def test_a_text_that_a_file_has_twice_is_not_looked_for_elsewhere() -> None:
    base = ["first()", "step()", "second()", "third()"]
    assert lines(base, ["first()", "second()", "third()", "step()"]) == {1: 1, 2: 4, 3: 2, 4: 3}
    new = ["first()", "second()", "third()", "step()", "step()"]
    assert lines(base, new) == {1: 1, 3: 2, 4: 3}


def test_each_line_has_one_partner_and_the_same_text() -> None:
    generator = random.Random(5)
    texts = [f"line {number}" for number in range(12)] + ["", ""]
    for _ in range(300):
        base, new = (generator.choices(texts, k=generator.randrange(40)) for _ in range(2))
        found = align(base, new)
        assert {new: base for base, new in found.new_of.items()} == found.base_of
        for one, other in found.new_of.items():
            assert (base[one - 1] != new[other - 1]) == (one in found.changed)


@pytest.mark.parametrize("text", ["", "pass", "x = {}"])
def test_long_files_are_aligned_at_their_ends(text: str) -> None:
    """Aligning all lines of these would take hours."""
    base = [f"{text} {number % 99}" for number in range(30_000)]
    new = [*base[:10], "first", *(f"{each} " for each in reversed(base[10:])), "last", "end"]
    found = align([*base, "end"], new)
    assert found.new_of[10] == 10
    assert found.new_of[len(base) + 1] == len(new)


def test_nothing_is_aligned_with_nothing() -> None:
    assert (lines([], BASE), lines(BASE, []), lines([], [])) == ({}, {}, {})


def test_a_renamed_file_has_half_of_its_lines() -> None:
    other = [*BASE[:3], "    other()", "    lines()"]
    assert alignment.likeness(BASE, BASE) == 1
    assert alignment.likeness([], []) == 0
    assert not alignment.is_renamed(BASE, ["import torch", "def play():", "    pass"])
    assert not alignment.is_renamed(BASE, other)
    assert alignment.is_renamed(BASE, other[:3])

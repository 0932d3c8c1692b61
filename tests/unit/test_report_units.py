"""Numbers and names as the report writes them."""

import pytest

from rlscope.report import units


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (None, "-"),
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1.00 µs"),
        (12_345, "12.3 µs"),
        (999_600, "1.00 ms"),
        (31_200_000, "31.2 ms"),
        (5_921_000_000, "5.92 s"),
        (599_000_000_000, "599 s"),
        (600_000_000_000, "10 min 00 s"),
        (7_500_000_000_000, "2 h 05 min"),
        (200_000_000_000_000, "2 d 07 h"),
    ],
)
def test_durations_have_three_digits_and_a_unit(ns: int | None, text: str) -> None:
    assert units.duration(ns) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(1, 3, "33.3 %"), (0, 3, "0.0 %"), (1, 10**9, "< 0.1 %"), (1, 0, "-"), (None, 1, "-")],
)
def test_a_small_share_is_not_shown_as_nothing(part: int, whole: int, text: str) -> None:
    assert units.share(part, whole) == text


def test_sizes_are_binary() -> None:
    assert [units.size(each) for each in (0, 1023, 1536, 3 << 30, None)] == [
        "0 B", "1023 B", "1.50 KiB", "3.00 GiB", "-",
    ]  # fmt: skip


def test_plurals() -> None:
    assert [units.plural(*each) for each in ((1, "process"), (2, "process"), (1200, "event"))] == [
        "1 process", "2 processes", "1,200 events",
    ]  # fmt: skip


def test_a_name_cannot_hide_or_break_a_line() -> None:
    assert units.visible("a\nb\x00\u202ec\ud800") == "a\\nb\\x00\\u202ec\\ud800"
    assert units.visible("模拟 → π") == "模拟 → π"


def test_a_long_name_keeps_both_ends() -> None:
    short = units.label("rollout/" * 40 + "step", 20)
    assert len(short) == 20
    assert short.startswith("rollout/")
    assert short.endswith("t/step")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It takes 4.59 s.", ["It", "takes", "4.59 s."]),
        ("(1.20 GiB/s, 12.3 %)", ["(1.20 GiB/s,", "12.3 %)"]),
        ("after 2 h 05 min in 2 d 07 h or 10 min 00 s", ["after", "2 h 05 min", "in", "2 d 07 h",
                                                       "or", "10 min 00 s"]),
        ("< 0.1 %, < 1 %", ["< 0.1 %,", "< 1 %"]),
        ("3 steps of 2 days, a b", ["3", "steps", "of", "2", "days,", "a", "b"]),
        ("", []),
    ],
)  # fmt: skip
def test_a_number_and_its_unit_are_one_word(text: str, words: list[str]) -> None:
    assert units.words(text) == words
    kept = units.unbroken(text)
    assert kept.split(" ") == [each.replace(" ", "\u00a0") for each in words] or not text
    assert kept.replace("\u00a0", " ") == text

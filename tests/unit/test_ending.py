"""What ran after the training loop: parts of the end, and the sentence that names them."""

from __future__ import annotations

import json

import pytest
from ground_truth.raw import RawProcess, RawThread, enter, leave
from ground_truth.written import ORIGIN_NS, write
from support.files.facts import assert_says

from rlscope.analysis import coverage, operations, verdicts
from rlscope.opening import load
from rlscope.report import loop_sentences

S = 1_000_000_000


@pytest.fixture
def trace(tmp_path):
    """10 s of `act`, 5 s of an end with a close of 1 s; 2 s of it are shutdown."""
    items = [enter(0, "act"), leave(10 * S, "act"), enter(10 * S, "closing")]
    items += [leave(11 * S, "closing")]
    parts = [
        ["threads", "", ORIGIN_NS + 11 * S, S],
        ["exit function", "a.flush", ORIGIN_NS + 12 * S, S // 2],
        ["exit function", "a.early", ORIGIN_NS + 9 * S, S],
        ["exit function", 7],
        "?",
    ]
    process = RawProcess(
        end_ns=15 * S,
        python_end_ns=13 * S,
        threads=[RawThread(items=items)],
        metadata={"rlscope.ending": json.dumps(parts)},
    )
    write([process], tmp_path / "run")
    with load(tmp_path / "run") as opened:
        yield opened


def test_parts_are_those_that_began_after_the_loop(trace):
    found = operations.ending_parts(trace, rows=10).to_dicts()
    assert [tuple(row.values()) for row in found] == [
        ("threads", None, S),
        ("exit function", "a.flush", S // 2),
    ]


def test_the_sentence_names_the_parts_and_the_rest(trace):
    around = operations.around_loop(trace).to_dicts()
    parts = operations.ending_parts(trace, rows=10).to_dicts()
    (facts,) = coverage.coverage(trace).to_dicts()
    (said,) = loop_sentences.ending(around, parts, [], facts)
    assert_says(
        said,
        *("end", "5.00 s", "shutdown", "2.00 s", "closing", "1.00 s", "threads 1.00 s"),
        *("other code", "500 ms", "a.flush 500 ms"),
    )
    assert list(loop_sentences.ending([], parts, [], facts)) == []
    assert list(loop_sentences.ending(around, [], [], facts)) == []  # as `around` says it all


@pytest.mark.parametrize(("own_ns", "is_named"), [(S, False), (S + 1, True)])
def test_a_line_is_named_that_took_most_of_the_other_code(trace, own_ns, is_named):
    around = operations.around_loop(trace).to_dicts()
    (facts,) = coverage.coverage(trace).to_dicts()
    lines = [{"file": "/home/train.py", "line": 40, "own_ns": own_ns}]
    found = list(loop_sentences.ending(around, [], lines, facts))
    assert bool(found) == is_named
    for said in found:
        assert_says(
            said,
            "5.00 s",
            "shutdown",
            "2.00 s",
            "other code",
            "2.00 s",
            "train.py line 40",
            "1.00 s",
        )


def test_an_end_is_named_if_it_is_long_or_a_large_part():
    assert verdicts.is_end_notable(2 * S, 1000 * S)
    assert verdicts.is_end_notable(5, 100)
    assert not verdicts.is_end_notable(4, 100)
    assert not verdicts.is_end_notable(0, 0)

"""Which notes of a process about CUDA say that its GPU work is not in the trace."""

from __future__ import annotations

import json

import pytest

from rlscope.relations.rows.cuda_rows import why_no_work, why_nothing

# Sentences are for people: what is missing is a word of its own.
SENTENCE = "reworded"


@pytest.mark.parametrize(
    ("missing", "why"), [("work", SENTENCE), ("all", SENTENCE), ("calls", ""), (None, "")]
)
def test_gpu_work_is_missing_where_the_note_says_so(missing: str | None, why: str) -> None:
    note = {"problem": SENTENCE, **({"missing": missing} if missing else {})}
    assert why_no_work(json.dumps(note), {}) == why
    assert why_nothing([json.dumps(note)], {}) == SENTENCE


@pytest.mark.parametrize("note", ["no JSON", "[]", "{", "null"])
def test_a_note_that_is_none_says_nothing(note: str) -> None:
    assert why_no_work(note, {}) == ""
    assert why_nothing([note], {}) == "CUDA was initialised and not used"

"""Tokens that models wrote: what a library's result tells, and the sentence about them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from support.files.facts import assert_says
from support.files.relation_rows import Relations, process, share

from rlscope.analysis import operations
from rlscope.auto.tokens import of_result
from rlscope.report import token_sentences

S = 1_000_000_000


def tensor(*shape: int) -> Any:
    return SimpleNamespace(shape=shape)


def model(*, is_encoder_decoder: bool = False) -> Any:
    return SimpleNamespace(config=SimpleNamespace(is_encoder_decoder=is_encoder_decoder))


PROMPTS = tensor(3, 7)


@pytest.mark.parametrize(
    ("result", "arguments", "named", "tokens"),
    [
        (tensor(3, 12), [model(), PROMPTS], {}, 15),
        (tensor(6, 12), [model()], {"input_ids": PROMPTS}, 30),
        (SimpleNamespace(sequences=tensor(3, 12)), [model()], {"inputs": PROMPTS}, 15),
        (tensor(3, 12), [model()], {"inputs_embeds": tensor(3, 7, 8)}, 36),
        (tensor(3, 12), [model(is_encoder_decoder=True), PROMPTS], {}, 33),
        # vLLM: requests with some texts each
        (
            [SimpleNamespace(outputs=[SimpleNamespace(token_ids=[1, 2])] * 2)] * 3,
            [object(), ["a", "b", "c"]],
            {},
            12,
        ),
        # SGLang
        ({"meta_info": {"completion_tokens": 5}}, [object(), "a"], {}, 5),
        ([{"meta_info": {"completion_tokens": 5}}] * 2, [object(), ["a", "b"]], {}, 10),
    ],
)
def test_a_result_tells_its_tokens(
    result: Any, arguments: list[Any], named: dict[str, Any], tokens: int
) -> None:
    assert of_result(result, *arguments, **named) == tokens


def test_an_unknown_result_tells_nothing() -> None:
    with pytest.raises(AttributeError):
        of_result(["a text"], object(), "prompt")


def _found(note: str) -> list[dict[str, Any]]:
    """Rows of `generation` for a process with this note: it generated for 4 s as rlscope found it,
    and for 2 s as somebody annotated it."""
    trace = Relations(
        process=[process(0, 0, 9 * S, name="grpo")],
        metadata=[{"process_id": 0, "key": "rlscope.tokens", "value": note}],
        breakdown=[
            share(0, "generation", "framework", 3 * S, source="automatic"),
            share(0, "generation", "python", S, source="automatic"),
            share(0, "generation", "python", 2 * S, source="explicit"),
            share(0, "backprop", "framework", 3 * S, source="automatic"),
        ],
    )
    return operations.generations(trace, rows=9).to_dicts()


def test_tokens_are_divided_by_the_generations_and_by_their_time() -> None:
    rows = _found("[6000, 8]")
    assert rows == [{"process": "grpo", "tokens": 6000, "generations": 8, "duration_ns": 4 * S}]
    (said,) = token_sentences.generations(rows)
    assert_says(said, "6,000 tokens", "8 generations", "750 in each", "1,500 a second")
    assert list(token_sentences.generations([])) == []


@pytest.mark.parametrize(
    "note", ["", "[", "[]", "{}", "7", "[6000]", "[6000, 0]", "[0, 8]", '["many", 8]', "[-1, 8]"]
)
def test_a_damaged_note_says_nothing(note: str) -> None:
    assert _found(note) == []

"""Tokens that models wrote: what a library's result tells, and the sentence about them."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from ground_truth.raw import RawProcess, RawThread, enter, leave
from ground_truth.written import write
from support.files.facts import assert_says

from rlscope.analysis import operations
from rlscope.auto.tokens import of_result
from rlscope.opening import load
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


def test_tokens_are_divided_by_the_generations_and_by_their_time(tmp_path) -> None:
    items = [enter(0, "generation"), leave(4 * S, "generation"), enter(4 * S, "backprop")]
    process = RawProcess(
        end_ns=9 * S,
        threads=[RawThread(items=[*items, leave(8 * S, "backprop")])],
        metadata={"rlscope.tokens": json.dumps([6000, 8])},
    )
    write([process], tmp_path / "run")
    with load(tmp_path / "run") as trace:
        found = operations.generations(trace, rows=9).to_dicts()
    # Annotated by hand, the time is not that of the generations that were counted.
    assert found == []
    rows = [{"tokens": 6000, "generations": 8, "duration_ns": 4 * S}]
    (said,) = token_sentences.generations(rows)
    assert_says(said, "6,000 tokens", "8 generations", "750 in each", "1,500 in a second")
    assert list(token_sentences.generations([])) == []

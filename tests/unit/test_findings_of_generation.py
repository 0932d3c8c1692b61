"""Advice on texts that are generated a few at a time."""

from __future__ import annotations

from typing import Any

import pytest
from support.files.loop_rows import FILE, Time, calls, found_by, loop_rows
from support.files.relation_rows import SECOND

MODULE = ("/lib/torch/nn/modules/module.py", "Module._call_impl")
STEP = ("/lib/torch/optim/optimizer.py", "Optimizer.step")
LINEAR = "torch._C._nn:linear"
TEXT = "for prompt in prompts:\n    texts.append(write(net, prompt))\ntrain(texts)\n"


def generating(
    text: str = TEXT,
    *times: Time,
    each_ns: int = 20_000,
    entries: int = 10,
    called: str = LINEAR,
    **more: Any,
):
    """4 s of it, in line 2."""
    return loop_rows(
        Time("generation", "framework", 4 * SECOND, 2, (MODULE,)),
        *times,
        text=text,
        native_call=[calls("generation", called, 1000, 1000 * each_ns)],
        entries={"generation": entries},
        **more,
    )


def test_prompts_that_are_answered_one_by_one_are_named():
    (finding,) = found_by("small_generations", generating())
    assert (finding.file, finding.line, finding.operation) == (FILE, 2, "generation")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx((1 - 2.5 / 10) * 4 * SECOND)
    assert found_by("small_generations", generating(entries=1)) == []


def test_steps_of_a_recurrent_layer_take_three_times_as_long_as_operators():
    assert len(found_by("small_generations", generating(each_ns=140_000, called="torch:gru"))) == 1
    assert found_by("small_generations", generating(each_ns=160_000, called="torch:gru")) == []


@pytest.mark.parametrize(("between_ns", "row"), [(SECOND // 20, 10), (SECOND, 1)])
def test_what_is_brief_ends_no_row_of_generations(between_ns: int, row: int):
    """As the forward that reads each prompt."""
    times = {0: 4 * SECOND // 10, 1: between_ns}
    instances = [
        {
            "process_id": 0,
            "thread_id": 0,
            "operation_id": n % 2,
            "start_ns": n,
            "self_ns": times[n % 2],
        }
        for n in range(20)
    ]
    trace = generating(TEXT, Time("backprop", "framework", SECOND, 4), operation_instance=instances)
    assert [each.price.saving_ns for each in found_by("small_generations", trace)] == [
        pytest.approx((1 - 2.5 / row) * 4 * SECOND) for _ in range(row > 2)
    ]


def test_a_loop_that_goes_on_a_text_is_none():
    text = "for _ in range(32):\n    text = net(text)\n"
    assert found_by("small_generations", generating(text)) == []


def test_tokens_are_written_one_after_the_other_over_several_lines():
    text = (
        "for _ in range(32):\n    logits = net(ids)\n"
        "    ids = torch.cat([ids, logits.argmax(-1)], 1)\n"
    )
    assert found_by("small_generations", generating(text)) == []


def test_a_loop_that_trains_is_none():
    training = Time("backprop", "framework", SECOND, 1, (STEP,))
    assert found_by("small_generations", generating(TEXT, training)) == []


def test_a_model_whose_arithmetic_takes_the_time_is_none():
    assert found_by("small_generations", generating(each_ns=60_000)) == []


ENDLESS = """
def write(net, text):
    ended = text == EOS
    for _ in range(32):
        text = net(text)
        ended |= text == EOS
""".lstrip()


def writing(text: str):
    """4 s of it, in line 4."""
    return loop_rows(Time("generation", "framework", 4 * SECOND, 4, (MODULE,)), text=text)


@pytest.mark.parametrize("token", ["EOS", "tokenizer.eos_token_id", "self.stop_tokens"])
def test_texts_that_are_written_on_after_their_end_are_worth_a_look(token: str):
    (finding,) = found_by("endless_generation", writing(ENDLESS.replace("EOS", token)))
    assert (finding.file, finding.line, finding.operation) == (FILE, 4, "generation")
    assert finding.price is not None
    assert (finding.price.low_ns, finding.price.high_ns) == (0, pytest.approx(0.8 * 4 * SECOND))


@pytest.mark.parametrize(
    "text",
    [
        ENDLESS + "        if ended.all(): break\n",
        ENDLESS.replace("EOS", "PAD"),  # a text has no end
        ENDLESS.replace("EOS", "end"),
        ENDLESS.replace("for _ in range(32)", "while not ended.all()"),
        ENDLESS.replace("for _ in range(32)", "if text"),
    ],
)
def test_other_loops_that_write_texts_are_none(text: str):
    assert found_by("endless_generation", writing(text)) == []

"""Advice on distributions of PyTorch that a program asks one after the other."""

from __future__ import annotations

from typing import Any

import pytest
from support.files.loop_rows import FILE, Time, calls, found_by, loop_rows
from support.files.relation_rows import SECOND, Relations

MODULE = ("/lib/torch/nn/modules/module.py", "Module._call_impl")
NORMAL = ("/lib/torch/distributions/normal.py", "Normal.log_prob")
BACKWARD = ("/lib/torch/_tensor.py", "Tensor.backward")
TEXT = """\
made = [Normal(row, 1) for row in policy(states)]
scores = [dist.log_prob(action) for dist, action in zip(made, actions)]
loss(scores).backward()
"""


def asking(
    text: str = TEXT, subtractions: int = 64, inside: Any = (NORMAL,), also: Any = ()
) -> Relations:
    """2 s of scores, of which 1 s is in distributions, and 1 s in a network; 3 s of backwards."""
    return loop_rows(
        Time("backprop", "framework", SECOND, 1, (MODULE,)),
        Time("backprop", "framework", SECOND, 2, inside),
        Time("backprop", "python", SECOND, 2),
        Time("backprop", "framework", 3 * SECOND, 3, (BACKWARD,)),
        text=text,
        native_call=[
            calls("backprop", "torch._C:TensorBase.__sub__", 20 * subtractions, SECOND // 100),
            *also,
        ],
        entries={"backprop": 20},
    )


def test_a_distribution_that_is_asked_for_each_row_has_its_part_of_backwards():
    (finding,) = found_by("row_distributions", asking())
    assert (finding.file, finding.line, finding.operation) == (FILE, 2, "backprop")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx((2 + 3 / 2) * SECOND)


def test_one_for_each_part_of_an_action_takes_a_part_of_that_time():
    (finding,) = found_by("row_distributions", asking(subtractions=13))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.9 * (2 + 3 / 2) * SECOND)


def test_layers_of_a_network_are_no_passes():
    """A network of six layers, and two heads."""
    layers = calls("backprop", "torch._C._nn:linear", 20 * 6, SECOND // 100)
    heads = calls("backprop", "torch._C:TensorBase.logsumexp", 20 * 2, SECOND // 100)
    assert found_by("row_distributions", asking(also=[layers, heads], subtractions=6)) == []


def test_those_that_choose_actions_have_no_backward():
    acting = loop_rows(
        Time("inference", "framework", SECOND, 2, (NORMAL,)),
        Time("backprop", "framework", 3 * SECOND, 3, (BACKWARD,)),
        text=TEXT,
        native_call=[calls("inference", "torch:multinomial", 20 * 64, SECOND // 100)],
        entries={"inference": 20},
    )
    (finding,) = found_by("row_distributions", acting)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(SECOND)


@pytest.mark.parametrize(
    "other",
    [
        {"subtractions": 3},  # a few heads of one policy
        {"text": TEXT.replace("[dist.log_prob(action) for", "made.log_prob(actions) # ")},
        {
            "text": TEXT.replace("dist.log_prob(action)", "policy(action).log_prob(dist)"),
            "inside": (NORMAL, MODULE),  # another rule's
        },
        {"text": TEXT.replace("dist.log_prob(action)", "made[0].log_prob(actions)")},
        {"inside": (MODULE,)},
    ],
)
def test_others_are_none(other: dict[str, Any]):
    assert found_by("row_distributions", asking(**other)) == []


def test_a_distribution_of_a_list_is_no_network():
    assert found_by("network_lists", asking(inside=(MODULE,))) == []

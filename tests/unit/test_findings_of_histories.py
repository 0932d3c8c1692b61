"""Advice on policies that read all of an episode again for each action."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from support.files.loop_rows import FILE, Time, calls, found_by, loop_rows
from support.files.relation_rows import SECOND, Relations

MODULE = ("/lib/torch/nn/modules/module.py", "Module._call_impl")
TEXT = """\
class Policy:
    def forward(self, seen):
        return self.head(self.gru(seen))

def act(policy, history):
    return policy(stack(history))
"""
EPISODE = [1000 + 100 * step for step in range(100)]  # of 100 steps


def acting(times_ns: Sequence[int], function: str = "torch:gru", network_s: int = 3) -> Relations:
    instances = [
        {"process_id": 0, "thread_id": 0, "operation_id": 0, "start_ns": at, "self_ns": self_ns}
        for at, self_ns in enumerate(times_ns)
    ]
    return loop_rows(
        Time("inference", "framework", 4 * SECOND, 6, ((FILE, "forward"), MODULE)),
        text=TEXT,
        operation_instance=instances,
        native_call=[
            calls("inference", function, len(times_ns), network_s * SECOND),
            calls("inference", "torch:multinomial", len(times_ns), 4 * SECOND),
        ],
    )


def test_an_episode_that_is_read_anew_for_each_action_is_worth_all_that_grows():
    (finding,) = found_by("whole_history", acting(EPISODE * 5))
    assert (finding.file, finding.line) == (FILE, 6)  # which asks the network
    assert finding.price is not None
    # One in a hundred is the first of an episode.
    assert finding.price.saving_ns == pytest.approx(
        1.15 * (5 * sum(EPISODE) - 500 * 1000), rel=0.03
    )


@pytest.mark.parametrize("function", ["torch._C._nn:scaled_dot_product_attention", "torch:lstm"])
def test_other_networks_for_sequences_are_found_too(function: str):
    assert len(found_by("whole_history", acting(EPISODE * 5, function))) == 1


@pytest.mark.parametrize(
    "trace",
    [
        acting(EPISODE),  # one episode
        acting([5000] * 500),
        acting([1000 + step for step in range(100)] * 5),
        acting(random.Random(1).sample(EPISODE * 5, 500)),  # of many lengths, in no order
        acting(EPISODE * 5, "torch._C._nn:linear"),
        acting(EPISODE * 5, network_s=2),  # most of it is something else
    ],
)
def test_what_takes_the_same_or_is_in_no_order_is_not(trace: Relations):
    assert found_by("whole_history", trace) == []

"""Advice on programs that learn through the forwards that they acted with."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, calls, found_by, loop_rows
from support.files.relation_rows import SECOND

MODULE = ("/lib/torch/nn/modules/module.py", "Module._call_impl")
LSTM = ("/lib/torch/nn/modules/rnn.py", "LSTMCell.forward")
LINEAR = "torch._C._nn:linear"


def acting(
    backwards: int = 50,
    steps: int = 1000,
    forwards: int = 0,
    inside=(MODULE,),
    iterations: int = 0,
    text: str = "",
):
    """4 s of inference, in three entries a step, and 3 s of learning."""
    iteration = {"process_id": 0, "duration_ns": SECOND // 50, "complete": True}
    return loop_rows(
        Time("inference", "framework", 4 * SECOND, 2, inside),
        Time("backprop", "framework", 3 * SECOND, 5),
        Time("simulation", "python", 3 * SECOND, 7),
        native_call=[
            calls("inference", LINEAR, 3 * steps, SECOND),
            calls("backprop", "torch._C._engine:run_backward", backwards, 2 * SECOND),
            *[calls("backprop", LINEAR, forwards, SECOND)] * (forwards > 0),
        ],
        iteration=[
            {
                **iteration,
                "iteration": place,
                "start_ns": place * SECOND // 50,
                "source": "automatic",
            }
            for place in range(iterations)
        ],
        entries={"inference": 3 * steps, "backprop": backwards, "simulation": steps},
        text=text,
    )


def test_an_update_through_the_forwards_of_many_steps_is_named():
    (finding,) = found_by("step_graphs", acting())
    assert (finding.file, finding.line, finding.operation) == (FILE, 2, "inference")
    assert "20 steps" in finding.title
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx((0.88 * 3 + 0.35 * 4) * SECOND)


def test_an_update_may_have_two_backwards():
    (finding,) = found_by("step_graphs", acting(iterations=25))
    assert "40 steps" in finding.title


def test_eight_entries_a_backward_are_many_and_a_few_forwards_beside_do_not_matter():
    assert len(found_by("step_graphs", acting(backwards=375))) == 1
    assert len(found_by("step_graphs", acting(forwards=49))) == 1


@pytest.mark.parametrize("mode", ["True", "learns", "mode=learns"])
def test_a_block_that_may_turn_gradients_off_did_not(mode):
    """The backwards use what was computed there."""
    text = f"with torch.set_grad_enabled({mode}):\n    action = policy(seen)\n"
    assert len(found_by("step_graphs", acting(text=text))) == 1


@pytest.mark.parametrize(
    "silent",
    [
        {"forwards": 50},  # an update has its own
        {"backwards": 376},  # fewer than eight entries each
        {"backwards": 0},
        {"inside": (MODULE, LSTM)},  # each step needs the state of the one before
        {"text": "with torch.no_grad():\n    action = policy(seen)\n"},
        {"text": "with set_grad_enabled(False):\n    action = policy(seen)\n"},
    ],
)
def test_other_updates_are_none(silent):
    assert found_by("step_graphs", acting(**silent)) == []


RECURRENT = """\
def learn(loss, h):
    loss.backward(retain_graph={keep})
    optimizer.step()
"""


def updating(*quarters_ms: float, keep: str = "True", entries: int = 40):
    """An update of 4 s in all, with so long entries in each quarter of the run."""
    each = [ms * SECOND / 1000 for ms in quarters_ms for _ in range(entries // 4)]
    return loop_rows(
        Time("backprop", "framework", 4 * SECOND, 2),
        text=RECURRENT.format(keep=keep),
        operation_instance=[
            {"process_id": 0, "operation_id": 0, "start_ns": place * SECOND, "self_ns": round(ns)}
            for place, ns in enumerate(each)
        ],
    )


def test_backwards_through_ever_more_updates_are_named():
    (finding,) = found_by("growing_graph", updating(25, 75, 125, 175))
    assert (finding.file, finding.line, finding.operation) == (FILE, 2, "backprop")
    assert finding.price is not None
    # As long as the first tenth's, they would take a quarter.
    assert finding.price.saving_ns == pytest.approx(0.75 * 4 * SECOND)
    assert finding.price.low_ns < finding.price.saving_ns < finding.price.high_ns


@pytest.mark.parametrize(
    "silent",
    [
        {"keep": "False"},
        {"entries": 16},
    ],
)
def test_without_the_graphs_or_with_a_few_updates_nothing_grows(silent):
    assert found_by("growing_graph", updating(25, 75, 125, 175, **silent)) == []


@pytest.mark.parametrize("quarters", [(50, 50, 50, 50), (50, 55, 60, 65), (25, 175, 120, 180)])
def test_updates_that_take_as_long_as_before_keep_a_graph_for_a_reason(quarters):
    assert found_by("growing_graph", updating(*quarters)) == []

"""Advice on networks that compute in double precision."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, calls, found, loop_rows
from support.files.relation_rows import SECOND, share

from rlscope.analysis.findings import double_precision

MODULE = ("/lib/torch/nn/modules/module.py", "Module._call_impl")
LAYERS = "torch._C._nn:linear"


def computing(given: str, linear_ns: int, *others: dict, text: str = "net.double()\n", **more):
    """A thousand calls of a linear layer while the program acts, 2 s of framework there."""
    return loop_rows(
        Time("inference", "framework", 2 * SECOND, 6, (MODULE,)),
        Time("backprop", "framework", 4 * SECOND, 7, (MODULE,)),
        text=text,
        native_call=[calls("inference", LAYERS, 1000, 1000 * linear_ns), *others],
        metadata=[{"process_id": 0, "key": "rlscope.precision", "value": given}],
        **more,
    )


def test_arithmetic_in_double_precision_takes_twice_as_long():
    (finding,) = found(double_precision.RULE, computing("[256, 0]", 1_006_000))
    assert (finding.file, finding.line) == (FILE, 1)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(SECOND / 2)


def test_backwards_have_the_same_part_of_arithmetic():
    learning = calls("backprop", LAYERS, 1000, 1000 * 12_000)
    backward = calls("backprop", "torch._C:_EngineBase.run_backward", 1000, SECOND)
    trace = computing("[256, 0]", 1_006_000, learning, backward)
    (finding,) = found(double_precision.RULE, trace)
    assert finding.price is not None
    # Half of the time of forwards.
    assert finding.price.saving_ns == pytest.approx((SECOND + 1000 * 6000 + SECOND / 2) / 2)


def test_convolutions_take_far_longer_in_double_precision():
    """Half of the arithmetic is theirs."""
    layers = calls("inference", "torch:conv2d", 1000, 1000 * 506_000)
    (finding,) = found(double_precision.RULE, computing("[256, 0]", 506_000, layers))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx((0.5 + 0.72) * SECOND / 2)


def test_an_optimizer_has_no_backward():
    learning = calls("backprop", LAYERS, 1000, 1000 * 12_000)
    backward = calls("backprop", "torch._C:_EngineBase.run_backward", 1000, SECOND)
    update = calls("backprop", "torch:_fused_adam_", 1000, SECOND)
    trace = computing("[256, 0]", 1_006_000, learning, backward, update)
    (finding,) = found(double_precision.RULE, trace)
    assert finding.price is not None
    learned_ns = 1000 * 6000 + SECOND / 2 + SECOND - 1000 * 6000
    assert finding.price.saving_ns == pytest.approx((SECOND + learned_ns) / 2)


def test_calls_take_longer_where_a_cpu_is_lacked():
    thread = {"process_id": 0, "thread_id": 0, "running_ns": SECOND, "runnable_ns": 99 * SECOND}
    (finding,) = found(double_precision.RULE, computing("[9, 1]", 1_600_000, thread=[thread]))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(SECOND / 2)


@pytest.mark.parametrize(
    ("given", "linear_ns"),
    [
        ("[200, 56]", 1_006_000),  # some networks only
        ("[0, 256]", 1_006_000),
        ("[9, 0]", 1_006_000),  # too few tell
        ("x", 1_006_000),
        ("[256, 0]", 6_000),  # a call takes as long in either
        ("[256, 0]", 190_000),
    ],
)
def test_nothing_is_won_where_layers_are_small_or_precision_is_single(given, linear_ns):
    assert found(double_precision.RULE, computing(given, linear_ns)) == []


def test_calls_of_cuda_only_launch():
    launches = [share(0, "inference", "cuda_api", 1, source="automatic")]
    trace = computing("[256, 0]", 1_006_000, more_breakdown=launches)
    assert found(double_precision.RULE, trace) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = torch.float64\ntorch.set_default_dtype(torch.float64)\n", 2),
        ("x = np.float64\nnet.to(torch.float64)\n", 2),
        ("x = np.float64\n", 6),
    ],
)
def test_the_line_is_where_the_text_asks_for_it(text, line):
    (finding,) = found(double_precision.RULE, computing("[256, 0]", 1_006_000, text=text))
    assert finding.line == line

"""Advice on lines of the program: loops over tensors."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, calls, found, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis.findings import tensor_loop

MODULE = ("/lib/torch/nn/modules/module.py", "Module._call_impl")
POLYAK = """\
def follow(pairs):
    for online, target in pairs:
        target.mul_(0.995).add_(0.005 * online)

def update(batch):
    return batch
"""


# ---- loops over tensors --------------------------------------------------------------------------


def polyak(count: int = 40_000, each_ns: int = 50_000, line: int = 3, entries: int = 400):
    direct = Time("(none)", "framework", 2 * SECOND, line)
    return loop_rows(
        direct,
        Time("simulation", "python", SECOND, 5),
        entries={"simulation": entries},
        text=POLYAK,
        native_call=[calls("(none)", "torch._C:TensorBase.mul_", count, count * each_ns)],
    )


@pytest.mark.parametrize(
    "entries",
    [400, 4_000],  # a loop in each step; a longer one once in many steps
)
def test_a_loop_with_an_operator_for_each_tensor_is_named(entries):
    (finding,) = found(tensor_loop.RULE, polyak(entries=entries))
    assert (finding.file, finding.line) == (FILE, 3)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.92 * 2 * SECOND)


@pytest.mark.parametrize(
    "silent",
    [
        {"count": 800},  # two calls a step are no loop
        {"count": 40_000, "each_ns": 200_000},  # the arithmetic takes the time
        {"line": 6},  # not in a loop
        {"entries": 10_000},  # a few calls in each of many steps
    ],
)
def test_operators_outside_of_such_loops_are_not(silent):
    assert found(tensor_loop.RULE, polyak(**silent)) == []


ATOMS = """
def project(rewards, atoms):
    for row in range(64):
        for atom in range(51):
            moved = rewards[row] + self.support[atom]
            m[row, atom] = moved
step()
""".lstrip()


@pytest.mark.parametrize(
    ("text", "other", "won"),
    [
        (ATOMS, 6, 0.98 * 3 + 0.8),  # with the second in which a library looks up an attribute
        (ATOMS.replace("for row in range(64)", "if rewards.any()"), 6, 0.92 * 3),
        (ATOMS, 2, 0.92 * 3),  # the outer loop steps
    ],
)
def test_passes_of_a_loop_in_a_loop_leave_nothing(text: str, other: int, won: float):
    trace = loop_rows(
        Time("target", "framework", 2 * SECOND, 4),
        Time("target", "framework", SECOND, 5),
        Time("target", "python", SECOND, 4, (("/lib/torch/nn/module.py", "__getattr__"),)),
        Time("simulation", "python", SECOND, other),
        entries={"target": 10},
        text=text,
        native_call=[calls("target", "torch._C:TensorBase.__getitem__", 40_000, 2 * SECOND)],
    )
    (finding,) = found(tensor_loop.RULE, trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(won * SECOND)


@pytest.mark.parametrize(
    "in_place", ["target.data.copy_(online.data)", "target.lerp_(online, 0.1)"]
)
@pytest.mark.parametrize("count", [800, 3200])
def test_an_update_of_a_few_parameters_is_one(in_place, count):
    """Two calls a step are none, eight are."""
    trace = loop_rows(
        Time("(none)", "framework", 2 * SECOND, 2),
        Time("simulation", "python", SECOND, 5),
        entries={"simulation": 400},
        text=f"for online, target in zip(net.parameters(), other.parameters()):\n    {in_place}\n",
        native_call=[calls("(none)", "torch._C:TensorBase.mul_", count, SECOND // 100)],
    )
    assert len(found(tensor_loop.RULE, trace)) == (count > 800)


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("pairs", ["zip(net.parameters(), other.parameters())", "self.pairs"])
def test_an_update_of_parameters_has_longer_calls_beside(in_place, pairs):
    """As where it is a part of the operation with the backward."""
    name = "mul_" if in_place else "mul"
    trace = loop_rows(
        Time("backprop", "framework", 2 * SECOND, 2),
        entries={"backprop": 400},
        text=f"for online, target in {pairs}:\n    target.data.mul_(0.5)\n",
        native_call=[
            calls("backprop", "torch._C._engine:run_backward", 400, 4 * SECOND),
            *[calls("backprop", "torch._C:TensorBase.addcdiv_", 6400, SECOND)] * in_place,
            calls("backprop", f"torch._C:TensorBase.{name}", 3200, SECOND // 100),
        ],
    )
    findings = found(tensor_loop.RULE, trace)
    assert len(findings) == in_place
    assert all("3,200 calls of torch._C:TensorBase.mul_" in each.evidence for each in findings)


def test_sums_of_state_dictionaries_count_with_these():
    """As in PyTorch's tutorial: the file has no function around it."""
    text = (
        "for step in range(9):\n    slow = target.state_dict()\n    fast = net.state_dict()\n"
        "    for key in fast:\n        slow[key] = fast[key] * 0.1 + slow[key] * 0.9\n"
        "    target.load_state_dict(slow)\n"
    )
    trace = loop_rows(
        Time("backprop", "framework", SECOND, 5),
        *(Time("backprop", "python", SECOND // 2, line) for line in (2, 3, 6)),
        entries={"backprop": 400},
        text=text,
        native_call=[
            calls("backprop", "torch._C:TensorBase.addcdiv_", 800, SECOND),
            calls("backprop", "torch._C:TensorBase.__mul__", 4800, SECOND // 10),
        ],
    )
    (finding,) = found(tensor_loop.RULE, trace)
    assert "__mul__" in finding.evidence
    assert finding.line == 5
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.92 * 2.5 * SECOND)


def test_a_loop_for_a_loss_is_one_beside_a_long_backward():
    """As that over the steps of an episode."""
    trace = loop_rows(
        Time("backprop", "framework", 2 * SECOND, 2),
        entries={"backprop": 400},
        text="for value, goal in zip(values, goals):\n    losses.append(-value * goal)\n",
        native_call=[
            calls("backprop", "torch._C._engine:run_backward", 400, 4 * SECOND),
            calls("backprop", "torch._C:TensorBase.__mul__", 24_000, SECOND // 10),
        ],
    )
    (finding,) = found(tensor_loop.RULE, trace)
    assert finding.evidence.startswith("24,000 calls of torch._C:TensorBase.__mul__ in 400 entries")


def test_layers_of_a_network_are_no_loop_over_tensors():
    """The program's own line calls modules, and these call the framework."""
    trace = loop_rows(
        Time("(none)", "framework", 2 * SECOND, 3, (MODULE,)),
        entries={"simulation": 1},
        text=POLYAK,
        native_call=[calls("(none)", "torch._C._nn:linear", 40_000, 2 * SECOND)],
    )
    assert found(tensor_loop.RULE, trace) == []


def test_operators_beside_a_network_in_a_loop_are_none():
    """Such as sampling a token between two forwards."""
    trace = loop_rows(
        Time("generation", "framework", 2 * SECOND, 3),
        Time("generation", "framework", 5 * SECOND, 3, (MODULE,)),
        text=POLYAK,
        native_call=[calls("generation", "torch._C._nn:linear", 40_000, SECOND)],
    )
    assert found(tensor_loop.RULE, trace) == []


@pytest.mark.parametrize(("name", "lines"), [("forward", []), ("advantages", [2])])
def test_lines_of_a_network_that_a_loop_calls_are_none(name, lines):
    trace = loop_rows(
        Time("generation", "framework", 2 * SECOND, 2),
        Time("generation", "framework", 2 * SECOND, 6, ((FILE, name),)),
        text=f"def {name}(x):\n    return torch.relu(x)\n\n\nfor token in range(50):\n"
        f"    {name}(token)\n",
        native_call=[calls("generation", "torch:relu", 40_000, SECOND)],
    )
    assert [each.line for each in found(tensor_loop.RULE, trace)] == lines


def test_the_loop_in_which_environments_step_is_the_training():
    trace = loop_rows(
        Time("(none)", "framework", 2 * SECOND, 3),
        Time("simulation", "python", SECOND, 3),
        text=POLYAK,
        native_call=[calls("(none)", "torch._C:TensorBase.mul_", 40_000, 2 * SECOND)],
    )
    assert found(tensor_loop.RULE, trace) == []


def test_dictionaries_of_parameters_are_a_part_of_the_update():
    text = """\
def follow(online, target):
    mixed = target.state_dict()
    for name, value in online.state_dict().items():
        mixed[name] = 0.99 * mixed[name] + 0.01 * value
    target.load_state_dict(mixed)
    print(mixed)
"""
    trace = loop_rows(
        Time("(none)", "framework", 2 * SECOND, 4),
        *(Time("(none)", "python", SECOND, line) for line in (2, 5, 6)),
        entries={"update": 400},
        text=text,
        native_call=[calls("(none)", "torch._C:TensorBase.mul", 3200, SECOND // 100)],
    )
    (finding,) = found(tensor_loop.RULE, trace)
    assert finding.line == 4
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.92 * 4 * SECOND)

"""Advice on small networks of a list that a program asks one after the other."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import pytest
from support.files.loop_rows import FILE, Time, calls, found_by, loop_rows
from support.files.relation_rows import SECOND, Relations

from rlscope.analysis.independent_passes import calls_each
from rlscope.analysis.list_code import passes_of
from rlscope.analysis.source_code import Source

MODULE = ("/lib/torch/nn/modules/module.py", "Module._call_impl")
BACKWARD = ("/lib/torch/_tensor.py", "Tensor.backward")
UPDATE = ("/lib/torch/optim/optimizer.py", "Optimizer.profile_hook_step.<locals>.wrapper")
LINEAR = "torch._C._nn:linear"
TEXT = """
for critic in critics:
    loss = loss + square(critic(x) - y)
loss.backward(); optimizer.step()
score = actor(x)
with torch.no_grad(): values = [net(x) for net in targets]
""".lstrip()


def asking(
    text: str = TEXT,
    each_ns: int = 20_000,
    lines: tuple[int, ...] = (2,),
    also: Sequence[Any] = (),
) -> Relations:
    """2 s in networks of a list, which took part of the 3 s in their loop; 1 s in another network;
    3 s of backwards, and 1 s of updates."""
    networks = [Time("backprop", "framework", 2 * SECOND, each, (MODULE,)) for each in lines]
    return loop_rows(
        *networks,
        Time("backprop", "python", SECOND, 2),
        Time("backprop", "framework", SECOND, 4, (MODULE,)),
        Time("backprop", "framework", 3 * SECOND, 3, (BACKWARD,)),
        Time("backprop", "framework", SECOND, 3, (UPDATE,)),
        text=text,
        native_call=[calls("backprop", LINEAR, 1000, 1000 * each_ns), *also],
        entries={"backprop": 20},
    )


def test_networks_of_a_list_have_their_part_of_backwards_and_updates():
    (finding,) = found_by("network_lists", asking())
    assert (finding.file, finding.line, finding.operation) == (FILE, 2, "backprop")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.65 * (3 + 4 * 2 / 3) * SECOND)


@pytest.mark.parametrize(("networks", "won"), [(10, 0.87), (2, 0.35), (1, 0)])
def test_the_more_networks_there_are_the_more_one_call_wins(networks: int, won: float):
    made = f"critics = [Net() for _ in range({networks})]\n"
    (finding,) = found_by("network_lists", asking(text=TEXT + made))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(won * (3 + 4 * 2 / 3) * SECOND)


@pytest.mark.parametrize(
    ("networks", "each", "is_sure"),
    [("range(2)", 100, False), ("range(3)", 60, True), ("names", 60, False), ("names", 100, True)],
)
def test_two_networks_that_normalise_their_layers_may_win_nothing(
    networks: str, each: int, is_sure: bool
):
    """`each`: calls of an entry, of which an entry of three networks has three."""
    layers = calls("backprop", "torch:layer_norm", each, 10_000_000)
    made = f"critics = [Net() for _ in {networks}]\n"
    trace = asking(text=TEXT + made, also=[layers])
    (finding,) = found_by("network_lists", trace)
    assert finding.price is not None
    assert (finding.price.low_ns > 0) == is_sure


def test_networks_that_a_network_asks_are_of_a_list_too():
    """As those of an ensemble, which is a module itself."""
    inside = (MODULE, (FILE, "Critics.forward"), MODULE)
    trace = loop_rows(
        Time("backprop", "framework", 2 * SECOND, 4, inside),
        Time("backprop", "framework", 3 * SECOND, 3, (BACKWARD,)),
        text=TEXT,
        native_call=[calls("backprop", LINEAR, 1000, 20_000_000)],
        entries={"backprop": 20},
    )
    (finding,) = found_by("network_lists", trace)
    assert finding.line == 2
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.65 * 5 * SECOND)


@pytest.mark.parametrize(
    ("calls", "passes"),
    [("", 10), ("Critics(5)", 5), ("Critics(n=5); Critics(5)", 5), ("Critics(); Critics(5)", None)],
)
def test_how_many_there_are_may_be_what_a_function_is_given(calls: str, passes: int | None):
    text = "class Critics:\n    def __init__(self, n=10):\n"
    text += "        self.nets = ModuleList([Net() for _ in range(n)])\n"
    text += f"    def forward(self, x):\n        for net in self.nets: net(x)\n{calls}\n"
    assert passes_of(Source(ast.parse(text)), 5) == passes


def test_networks_without_gradients_have_none():
    (finding,) = found_by("network_lists", asking(lines=(5,)))
    assert finding.line == 5
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.65 * 2 * SECOND)


@pytest.mark.parametrize(
    "other",
    [
        {"each_ns": 60_000},
        {"text": TEXT.replace("critic(x)", "critics(x)")},
        {"text": TEXT.replace("critic(x)", "critic(x, loss)")},
    ],
)
def test_large_networks_and_others_are_none(other: dict[str, Any]):
    assert found_by("network_lists", asking(**other)) == []


@pytest.mark.parametrize(
    "text",
    [
        "for q in qs:\n    out.append(q(x))",
        "for q, t in zip(qs, targets):\n    y = q(x, t)",
        "for n in range(9):\n    y = self.qs[n](torch.cat([x, a], 1))",
        "for agent in agents:\n    y = agent.critic(x[agent.name])",
        "out = torch.stack([\n    q(x) for q in qs])",
        "for q in qs:\n    y = q.forward(x); total += y.mean()",
    ],
)
def test_what_a_loop_goes_through_is_called_in_each_pass(text: str):
    assert calls_each(Source(ast.parse(text)), 2)


@pytest.mark.parametrize(
    ("loop", "before", "passes"),
    [
        ("for n in range(9)", "", 9),
        ("for n in range(COUNT)", "COUNT, SIZE = 5, 3", 5),
        ("for q in (left, right)", "", 2),
        ("for q, t in zip(qs, ts)", "qs = [Net(), Net(), Net()]", 3),
        ("for n, q in enumerate(self.qs)", "self.qs = nn.ModuleList([Q() for _ in range(4)])", 4),
        ("for n in range(count)", "", None),
        ("for n in range(1, 9)", "", None),
        ("for q in qs", "qs = [Q(a, b) for a in one for b in other]", None),
        ("for q in qs", "qs = rs; rs = qs", None),
        ("while qs", "qs = [1, 2]", None),
    ],
)
def test_the_text_may_say_how_many_networks_there_are(
    loop: str, before: str, passes: int | None
) -> None:
    assert passes_of(Source(ast.parse(f"{before}\n{loop}:\n    call()")), 3) == passes


@pytest.mark.parametrize(
    "text",
    [
        "for layer in layers:\n    x = layer(x)",
        "for row in rows:\n    y = net(row)",
        "for row in rows:\n    y = net(row.float())",
        "for q in qs:\n    q(x).backward(); q.step()",
        "for q in qs:\n    if q(x) > 1: break",
        "while qs:\n    y = q(x)",
    ],
)
def test_other_loops_need_each_pass(text: str):
    assert not calls_each(Source(ast.parse(text)), 2)


def test_networks_that_choose_actions_have_no_backward():
    trace = loop_rows(
        Time("inference", "framework", 4 * SECOND, 5, (MODULE,)),
        Time("backprop", "framework", SECOND, 3, (BACKWARD,)),
        text=TEXT,
        native_call=[calls("inference", LINEAR, 1000, 1000 * 20_000)],
        entries={"inference": 20},
    )
    (finding,) = found_by("network_lists", trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.65 * 4 * SECOND)

"""Advice on losses that go through networks which another optimizer trains."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import pytest
from support.files.loop_rows import FILE, Time, calls, found, found_by, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis.findings import target_gradients, unfrozen_networks

MODULE = ("/lib/torch/nn/modules/module.py", "Module._call_impl")
BACKWARD = ("/lib/torch/_tensor.py", "Tensor.backward")
OWN = (FILE, "forward")

HEAD = """\
class Actor(Module):
    def forward(self, x): return x
actor, critic = Actor(), mlp(4, 1)
aopt = Adam(actor.parameters(), 1e-3)
copt = torch.optim.Adam(list(critic.parameters()), fused=True)
"""
CRITIC = """\
closs = mse_loss(critic(o), y)
copt.zero_grad(); closs.backward(); copt.step()
"""
LOSS = "aloss = -critic(cat([o, actor(o)], 1)).mean()\n"
UPDATE = "aopt.zero_grad()\naloss.backward()\naopt.step()\n"
PLAIN = HEAD + "def learn():\n" + textwrap.indent(CRITIC + LOSS + UPDATE, "    ")
TWINS = """\
class Agent:
    def __init__(self):
        self.q_opt = Adam(list(self.q1.parameters()) + list(self.q2.parameters()))
        self.pi_opt = Adam([{"params": self.pi.parameters()}])
    def learn(self):
        with torch.no_grad():
            y = self.q1(o, self.pi(o))
        q_loss = mse_loss(self.q1(o, a), y) + mse_loss(self.q2(o, a), y)
        self.q_opt.zero_grad()
        q_loss.backward()
        self.q_opt.step()
        action, log_prob = self.pi.get_action(o)
        q = torch.min(self.q1(o, action)[0], self.q2.value(o, action))
        loss = (alpha * log_prob - q).mean()
        self.pi_opt.zero_grad()
        loss.backward()
        self.pi_opt.step()
"""
OWNERS = """\
class Net:
    def __init__(self):
        self.optimizer = optim.Adam(self.parameters())
def learn(self):
    self.critic.optimizer.zero_grad()
    mse_loss(self.critic(o), y).backward()
    self.critic.optimizer.step()
    actor_loss = -self.critic.forward(o, self.actor(o))
    actor_loss = torch.mean(actor_loss)
    actor_loss.backward()
    self.actor.optimizer.step()
"""


def line_of(text: str, part: str) -> int:
    return next(at for at, line in enumerate(text.splitlines(), 1) if part in line)


def learning(text: str, times: Sequence[Time] = ()):
    """Four of ten seconds are in the last backward."""
    lines = [at for at, line in enumerate(text.splitlines(), 1) if "backward(" in line]
    backward = Time("backprop", "framework", 4 * SECOND, lines[-1], (BACKWARD,))
    return loop_rows(backward, *times, text=text)


def names(text: str) -> list[str]:
    return [each.title for each in found(unfrozen_networks.RULE, learning(text))]


def test_the_weights_of_a_critic_need_no_gradients_of_the_loss_of_the_actor():
    (finding,) = found(unfrozen_networks.RULE, learning(PLAIN))
    assert (finding.file, finding.line) == (FILE, line_of(PLAIN, "aloss.backward"))
    assert "aloss" in finding.title and "critic" in finding.title
    assert finding.price is not None
    # One call of each.
    assert finding.price.saving_ns == pytest.approx(4 * SECOND / 4)
    assert finding.price.low_ns == pytest.approx(0.9 * 0.6 * 4 * SECOND / 4)


def test_brief_layers_win_little_and_maybe_nothing():
    linear = calls("backprop", "torch._C._nn:linear", 100_000, SECOND)
    trace = loop_rows(
        Time("backprop", "framework", 4 * SECOND, line_of(PLAIN, "aloss.backward"), (BACKWARD,)),
        text=PLAIN,
        native_call=[linear],
        entries={"backprop": 100},
    )
    (finding,) = found(unfrozen_networks.RULE, trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.4 * 4 * SECOND / 4)
    assert finding.price.low_ns == 0


def test_the_time_of_forwards_says_how_large_networks_are():
    """A line calls both: what the class of the actor has is of the actor."""
    line = line_of(PLAIN, "aloss = ")
    times = [
        Time("backprop", "framework", SECOND * 3 // 2, line, (MODULE,)),
        Time("backprop", "framework", SECOND // 2, line, (MODULE, OWN, MODULE)),
    ]
    (finding,) = found(unfrozen_networks.RULE, learning(PLAIN, times=times))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(4 * SECOND * 0.5 * 0.75)


def test_lines_of_their_own_say_so_too():
    text = PLAIN.replace("aloss = -critic(cat([o, actor(o)], 1))", "aloss = -critic(o, pi)")
    text = text.replace("    aloss = -", "    pi = actor(o)\n    aloss = -")
    times = [
        Time("backprop", "framework", SECOND, line_of(text, "aloss = "), (MODULE,)),
        Time("backprop", "framework", SECOND, line_of(text, "pi = "), (MODULE,)),
    ]
    (finding,) = found(unfrozen_networks.RULE, learning(text, times=times))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(4 * SECOND * 0.5 * 0.5)
    assert finding.price.low_ns == pytest.approx(0.9 * 0.75 * 4 * SECOND * 0.5 * 0.5)


def test_critics_are_several():
    (finding,) = found(unfrozen_networks.RULE, learning(TWINS))
    assert "q1 and q2" in finding.title
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(4 * SECOND / 3)


HELPER = """\
def loss_of_actor(o, scale=1):
    {before}
    value = critic(cat([o, actor(o)], 1))
    return -(value * scale).mean(), value
"""


def helped(before: str = "pass", head: str = "") -> str:
    """The program, in which a function computes the loss of the actor."""
    helper = head + HELPER.format(before=before)
    text = PLAIN.replace("def learn", helper + "def learn")
    return text.replace(LOSS, "aloss, _ = loss_of_actor(o)\n")


def test_a_function_may_compute_the_loss():
    text = helped()
    (finding,) = found(unfrozen_networks.RULE, learning(text))
    assert finding.line == line_of(text, "aloss.backward")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(4 * SECOND / 4)


def test_what_a_function_is_given_is_a_part_of_its_loss():
    text = helped().replace("actor(o)], 1))\n", "o], 1))\n")
    text = text.replace("loss_of_actor(o)", "loss_of_actor(scale=2, o=actor(o))")
    assert len(names(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        helped("critic.requires_grad_(False)"),
        helped(head="@torch.no_grad()\n"),
        helped("with torch.no_grad(): return critic(o, actor(o))").replace("value = critic", "v ="),
        helped() + "def loss_of_actor(o): return 0\n",  # which of the two is not known
    ],
)
def test_a_function_may_freeze_the_critic(text):
    assert names(text) == []


def before(*lines: str) -> str:
    """The program with some lines before the loss of the actor."""
    return PLAIN.replace(LOSS, "".join(f"{line}\n    " for line in lines) + LOSS)


def trained_by(optimizer: str) -> str:
    return PLAIN.replace("Adam(actor.parameters(), 1e-3)", optimizer)


def with_backward(call: str, step: str = "aopt.step()") -> str:
    return PLAIN.replace("aloss.backward()", call).replace("aopt.step()", step)


def with_loss(value: str) -> str:
    return PLAIN.replace("-critic(cat([o, actor(o)], 1)).mean()", value)


@pytest.mark.parametrize(
    "text",
    [
        OWNERS,
        before("critic.requires_grad_(True)"),
        before("critic.requires_grad_(False)", "critic.requires_grad_(True)"),
        before("target.requires_grad_(False)"),
        PLAIN + "    for p in critic.parameters():\n        p.requires_grad = True\n",
        trained_by("Adam(chain(actor.parameters()))"),
        trained_by("Adam(params)\nparams = [*actor.parameters()]"),
        trained_by("Adam(filter(needs, actor.parameters()))"),
        with_backward("scaler.scale(aloss).backward()", "scaler.step(aopt)"),
        with_backward("autograd.backward(aloss)"),
        PLAIN.replace("    aopt.zero", "    if clip: aloss += 1\n    aopt.zero"),
        PLAIN.replace("aopt.step()", "aopt.step(); env.step(a)"),
    ],
)
def test_it_is_found_however_it_is_written(text):
    assert len(names(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        # Frozen already, or maybe.
        before("critic.requires_grad_(False)"),
        before("critic.requires_grad_(requires_grad=False)"),
        before("critic.requires_grad_(learns)"),
        before("for p in critic.parameters(): p.requires_grad = False"),
        before("for p in [*critic.parameters()]: p.requires_grad_(False)"),
        before("for net in (critic,): net.requires_grad_(False)"),
        before("freeze(critic)"),
        before("self.toggle_optimizer(aopt)"),
        PLAIN + "    critic.requires_grad_(False)\n",  # a loop comes back
        # The backward has others, or its graph is used again.
        with_backward("aloss.backward(inputs=ps)"),
        with_backward("aloss.backward(retain_graph=True)"),
        # One optimizer, or both make a step.
        trained_by("Adam([*actor.parameters(), *critic.parameters()])"),
        PLAIN.replace("    aopt.step()", "    aopt.step(); copt.step()"),
        # Gradients are kept for the critic.
        PLAIN.replace("copt.zero_grad(); ", ""),
        # It is not known what an optimizer trains.
        trained_by("Adam(make())"),
        PLAIN.replace("aopt.step()", "other_opt.step()"),
        PLAIN.replace("copt = ", "copt = Adam(value.parameters())\ncopt = "),
        # The loss does not go through the critic, or maybe.
        with_loss("critic(o, actor(o)).detach()"),
        with_loss("critic(o) - actor(o)"),
        with_loss("sum(losses)"),
        PLAIN.replace("    aloss = ", "    with torch.no_grad():\n        aloss = "),
        PLAIN.replace("    aloss = ", "    if late:\n        aloss = "),
        "not python: backward(",
    ],
)
def test_nothing_is_said_where_it_is_not_sure(text):
    assert names(text) == []


# ---- target networks -----------------------------------------------------------------------------

TARGET = """\
class Agent:
    def __init__(self):
        self.q, self.old = Net(), Net()
        self.opt = Adam(self.q.parameters())
    def learn(self):
        self.old.load_state_dict(self.q.state_dict())
        after = self.old.forward(o2).max(1)[0]
        loss = mse_loss(self.q(o), r + after)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
"""


def learning_from(text: str, path: str = "backprop"):
    """A second in line 7, which asks the target network, and 4 s of the backward in line 10."""
    return loop_rows(
        Time(path, "framework", SECOND, 7, (MODULE,)),
        Time("backprop", "framework", 4 * SECOND, 10, (BACKWARD,)),
        text=text,
    )


def test_a_backward_through_a_target_network_is_for_nothing():
    (finding,) = found(target_gradients.RULE, learning_from(TARGET))
    assert (finding.file, finding.line, finding.operation) == (FILE, 7, "backprop")
    assert "goes through old" in finding.title
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.9 * 4 * SECOND / 2)


def test_a_method_may_ask_the_target_network():
    text = TARGET.replace("self.old.forward(o2)", "self.values(o2)")
    text += "    def values(self, o):\n        return self.old(o)\n"
    line = line_of(text, "return self.old")
    trace = loop_rows(
        Time("backprop", "framework", SECOND, line, (MODULE,)),
        Time("backprop", "framework", 4 * SECOND, 10, (BACKWARD,)),
        text=text,
    )
    (finding,) = found(target_gradients.RULE, trace)
    assert finding.line == line


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.old.load_state_dict(self.q.state_dict())", "pass"),
        ("Net(), Net()", "Net(), copy.deepcopy(self.q)"),
        ("after = ", "if double: after = 0\n        else: after = "),
    ],
)
def test_a_target_network_is_found_however_it_is_written(old, new):
    text = TARGET.replace("self.q, self.old = Net(), Net()", "self.q, self.old = Net(), Net()")
    if old.startswith("self.old.load"):
        text = text.replace("Net(), Net()", "Net(), deepcopy(self.q)")
    lines = text.replace(old, new)
    times = [
        Time("backprop", "framework", SECOND, line_of(lines, "self.old.forward"), (MODULE,)),
        Time("backprop", "framework", 4 * SECOND, line_of(lines, "loss.backward"), (BACKWARD,)),
    ]
    assert len(found(target_gradients.RULE, loop_rows(*times, text=lines))) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("forward(o2).max(1)[0]", "forward(o2).max(1)[0].detach()"),
        ("forward(o2)", "forward(cat([o2, self.q(o2)]))"),  # as the loss of an actor
        ("load_state_dict(self.q.state_dict())", "load_state_dict(torch.load(file))"),
        ("self.opt = Adam(", "self.old.requires_grad_(False); self.opt = Adam("),
        ("self.opt = Adam(", "freeze(self.old); self.opt = Adam("),
        ("Adam(self.q.parameters())", "Adam([*self.q.parameters(), *self.old.parameters()])"),
    ],
)
def test_other_backwards_go_through_no_target_network(old, new):
    assert old in TARGET
    assert found(target_gradients.RULE, learning_from(TARGET.replace(old, new))) == []


def test_loops_over_weights_may_freeze_them():
    text = TARGET.replace(
        "        self.opt = Adam",
        "        for p in self.old.parameters(): p.requires_grad = False\n        self.opt = Adam",
    )
    assert found(target_gradients.RULE, learning_from(text)) == []


def test_a_caller_may_have_turned_gradients_off():
    assert found(target_gradients.RULE, learning_from(TARGET, "target")) == []


GOING_BACK = "torch._C:_EngineBase.run_backward"
STEPS = """\
for value, goal in zip(values, goals):
    loss = (goal - value) ** 2
    {line}
optimizer.step()
"""


def going_back(line: str = "loss.backward()", count: int = 50, each_ns: int = 100_000):
    return loop_rows(
        Time("backprop", "python", SECOND, 2),
        Time("backprop", "framework", 3 * SECOND, 3, (BACKWARD,)),
        text=STEPS.format(line=line),
        native_call=[calls("backprop", GOING_BACK, 20 * count, 20 * count * each_ns)],
        entries={"backprop": 20},
    )


def test_a_backward_for_each_loss_of_an_update():
    (finding,) = found_by("step_backwards", going_back())
    assert (finding.file, finding.line, finding.operation) == (FILE, 3, "backprop")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.55 * 4 * SECOND)


@pytest.mark.parametrize(
    "other",
    [
        {"line": "loss.backward(); optimizer.step()"},
        {"count": 7},  # parts of a batch
        {"each_ns": 1_100_000},
    ],
)
def test_backwards_of_several_updates_or_of_large_batches(other):
    assert found_by("step_backwards", going_back(**other)) == []

"""Advice on forwards that are computed again with the same arguments."""

from __future__ import annotations

import ast

import pytest
from support.files.loop_rows import FILE, Time, calls, found, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis import repeated_calls
from rlscope.analysis.findings import repeated_forward
from rlscope.analysis.source_code import Source

MODULE = ("/lib/torch/nn/modules/module.py", "Module._call_impl")
BACKWARD = "Tensor.backward"
LINEAR, TANH = "torch._C._nn:linear", "torch:tanh"
LOOPED = """\
def loss(self, batch, rewards):
    for value in self.values(batch):
        total = total + (value - self.goals(batch, rewards)).square()
    return total
"""
TWICE = """\
def loss(self, batch):
    first = self.first(batch) - self.goals(batch)
    second = self.second(batch)
    return first + second - self.goals(batch)
"""


def learning(*times: Time, text: str, linears: int = 4000, tanhs: int = 8000):
    """100 iterations."""
    iterations = [
        {"process_id": 0, "iteration": n, "start_ns": n, "duration_ns": 1, "complete": True}
        for n in range(100)
    ]
    return loop_rows(
        *times,
        text=text,
        iteration=iterations,
        native_call=[
            calls("target", LINEAR, linears, SECOND),
            calls("target", TANH, tanhs, SECOND),
        ],
    )


def saving(trace, line: int) -> float:
    (finding,) = found(repeated_forward.RULE, trace)
    assert (finding.file, finding.line) == (FILE, line)
    assert finding.price is not None
    return finding.price.saving_ns


def test_all_passes_but_one_compute_the_same_again():
    """Each iteration calls one function 40 times, and the other 80 times: the same, 40 times."""
    trace = learning(Time("target", "framework", 4 * SECOND, 3, (MODULE,)), text=LOOPED)
    assert saving(trace, 3) == pytest.approx(4 * SECOND * 39 / 40)


def test_half_of_it_if_the_number_of_passes_is_not_known():
    time = Time("target", "framework", 4 * SECOND, 3, (MODULE,))
    trace = learning(time, text=LOOPED, tanhs=4100)
    assert saving(trace, 3) == pytest.approx(2 * SECOND)


def test_what_else_the_line_computes_is_repeated_too():
    network = Time("target", "framework", 4 * SECOND, 3, (MODULE,))
    rest = Time("target", "framework", SECOND, 3)
    assert saving(learning(network, rest, text=LOOPED, tanhs=4100), 3) == 2.5 * SECOND


def test_a_line_that_mostly_does_something_else_is_none():
    """Such as one that plays an episode."""
    network = Time("target", "framework", SECOND, 3, (MODULE,))
    rest = Time("target", "python", 4 * SECOND, 3)
    assert found(repeated_forward.RULE, learning(network, rest, text=LOOPED)) == []


def test_of_two_lines_that_compute_the_same_the_second_is_named():
    times = (Time("target", "framework", SECOND, line, (MODULE,)) for line in (2, 4))
    assert saving(learning(*times, text=TWICE), 4) == pytest.approx(SECOND)


def test_a_loop_whose_passes_differ_is_none():
    text = LOOPED.replace("self.goals(batch, rewards)", "self.goals(value)")
    trace = learning(Time("target", "framework", 4 * SECOND, 3, (MODULE,)), text=text)
    assert found(repeated_forward.RULE, trace) == []


OLD = """\
optimizer = Adam(self.policy.parameters())
self.old.load_state_dict(self.policy.state_dict())
for _ in range(4):
    old = self.old.log_prob(states, actions).detach()
    loss = (self.policy.log_prob(states, actions) - old).exp().mean()
    loss.backward(); optimizer.step()
    rest = 1
"""


@pytest.mark.parametrize(
    ("before", "after", "speaks"),
    [
        ("", "", True),
        ("self.old.log_prob", "self.policy.log_prob", False),  # which each pass changes
        ("states, actions).detach", "states, old).detach", False),
        ("rest = 1", "self.old.load_state_dict(self.policy.state_dict())", False),
        ("rest = 1", "states = next(batches)", False),
        ("self.old.log_prob", "self.old.sample", False),
    ],
)
def test_a_copy_that_a_loop_asks_again_while_it_trains_another_network(before, after, speaks):
    time = Time("backprop", "framework", 4 * SECOND, 4, (MODULE,))
    backward = Time("backprop", "framework", SECOND, 6, (("/lib/torch/_tensor.py", BACKWARD),))
    trace = learning(time, backward, text=OLD.replace(before, after, 1) if before else OLD)
    findings = found(repeated_forward.RULE, trace)
    assert [each.line for each in findings] == [4] * speaks
    for each in findings:
        assert each.price is not None
        assert each.price.saving_ns == pytest.approx(3 * SECOND)


def test_a_loop_that_trains_somewhere_below_is_none():
    """The loop of the training itself calls one function again and again."""
    text = "for _ in range(9):\n    total += agent.iterate(batch)\n"
    network = Time("target", "framework", 4 * SECOND, 2, (MODULE,))
    backward = Time("update", "framework", SECOND, 2, (("/lib/torch/_tensor.py", BACKWARD),))
    assert len(found(repeated_forward.RULE, learning(network, text=text))) == 1
    assert found(repeated_forward.RULE, learning(network, backward, text=text)) == []


def passes(line: str) -> bool:
    """Whether the second line of a loop over `row` repeats a call."""
    text = f"def learn(self, batch):\n    for row in self.rows:\n        {line}\n"
    return repeated_calls.same_in_each_pass(Source(ast.parse(text)), 3)


@pytest.mark.parametrize(
    "line",
    [
        "total += torch.mean(row - self.target(batch))",
        "losses.append_one = float(critic(batch, now=self.now) - row)",
        "total += [self.target(batch) for _ in range(3)][0]",
    ],
)
def test_calls_with_the_same_arguments_are_found(line):
    assert passes(line)


@pytest.mark.parametrize(
    "line",
    [
        "total += self.target(row)",
        "total += self.critic(row) - self.target(batch)",  # one of them differs
        "self.policy(batch).backward()",  # which changes the policy
        "batch = self.model(batch)",
        "tries.append(self.policy.sample(batch))",
        "total += row.square()",
        "total += self.target(batch[row])",
        "outs += [self.target(join([batch[:, row, i], self.ids[i]])) for i in range(3)]",
        "batch[0], last = row, critic(batch)",
        "total += self.critic(self.board); self.board.move(row)",
        "total += self.critic(batch); shuffle(batch)",
        "total += sum(f(value, row) for value in critic(batch))",  # the inner loop has one call
    ],
)
def test_other_calls_are_not(line):
    assert not passes(line)


def test_what_a_comprehension_goes_through_is_computed_once():
    text = "def learn(batch):\n    loss = sum(mse(each, goal) for each in critic(batch))\n"
    assert not repeated_calls.same_in_each_pass(Source(ast.parse(text)), 2)


@pytest.mark.parametrize(
    "between",
    [
        "batch = batch[1:]",
        "batch[0] = 1",
        "self.optimizer.step()",
        "if rare:\n        return self.goals(batch)",
    ],
)
def test_what_changes_between_two_lines_makes_them_differ(between):
    text = TWICE.replace("second = self.second(batch)", between)
    source = Source(ast.parse(text))
    assert repeated_calls.lines_of_the_same(Source(ast.parse(TWICE)), 2) == [2, 4]
    assert repeated_calls.lines_of_the_same(source, 2) == []

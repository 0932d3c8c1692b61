"""Advice on networks that learning calls for one input after the other."""

from __future__ import annotations

import ast

import pytest
from support.files.loop_rows import FILE, Time, calls, found_by, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis import independent_passes
from rlscope.analysis.source_code import Source

MODULE = ("/lib/torch/nn/modules/module.py", "Module._call_impl")
CELL = ("/lib/torch/nn/modules/rnn.py", "GRUCell.forward")
STEP = ("/lib/torch/optim/optimizer.py", "Optimizer.step")
LINEAR, GRU = "torch._C._nn:linear", "torch:gru"
TEXT = "for step in range(8):\n    rows.append(self.actor(hidden[step]))\nloss = sum(rows)\n"


def forwards(
    text: str = TEXT, operation: str = "backprop", inside=(MODULE,), each_ns: int = 20_000, times=()
):
    """2 s of them, in line 2."""
    time = Time(operation, "framework", 2 * SECOND, 2, inside)
    called = calls(operation, LINEAR, 1000, 1000 * each_ns)
    return loop_rows(time, *times, text=text, native_call=[called], entries={operation: 20})


@pytest.mark.parametrize(("operation", "both"), [("backprop", 3), ("target", 1), ("reward", 1)])
def test_a_network_that_is_called_in_each_pass_is_named(operation, both):
    """With its backward where it has one."""
    (finding,) = found_by("stepped_forward", forwards(operation=operation))
    assert (finding.file, finding.line, finding.operation) == (FILE, 2, operation)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.8 * both * 2 * SECOND)


def test_a_block_without_gradients_has_no_backward():
    text = "with torch.no_grad(): rows = [\n    self.actor(row) for row in hidden]\n"
    (finding,) = found_by("stepped_forward", forwards(text))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.8 * 2 * SECOND)


@pytest.mark.parametrize(
    "inside",
    [
        (("/me/net.py", "Net.value"), MODULE),  # which may keep a state
        (MODULE, CELL),
        (STEP, MODULE),  # which changes the network
        (),
    ],
)
def test_other_calls_are_none(inside):
    assert found_by("stepped_forward", forwards(inside=inside)) == []


@pytest.mark.parametrize(("given", "lines"), [("start", [5]), ("self.start", [])])
def test_what_is_rolled_out_for_one_start_after_the_other_is_named(given, lines):
    text = "def dream(world, state):\n    for _ in range(9): state = world(state)\n"
    text += f"    return state\n\nends = [dream(world, {given}) for start in starts]\n"
    time = Time("backprop", "framework", 2 * SECOND, 5, ((FILE, "dream"), MODULE))
    trace = loop_rows(
        time,
        text=text,
        native_call=[calls("backprop", "torch._C._nn:linear", 90_000, SECOND)],
        entries={"backprop": 100},
    )
    assert [each.line for each in found_by("stepped_forward", trace)] == lines


@pytest.mark.parametrize(
    ("bonus", "lines"),
    [
        ("y = self.net(obs); return y.mean()", [4]),
        ("self.h = self.net(obs, self.h); return self.h", []),
        ("self.seen[0] = y = self.net(obs); return y", []),
    ],
)
def test_a_method_that_keeps_nothing_may_stand_between(bonus, lines):
    text = (
        f"def bonus(self, obs):\n    {bonus}\n\nall = [curiosity.bonus(o).item() for o in seen]\n"
    )
    trace = loop_rows(
        Time("backprop", "framework", 2 * SECOND, 4, ((FILE, "bonus"), MODULE)),
        text=text,
        native_call=[calls("backprop", LINEAR, 90_000, SECOND)],
        entries={"backprop": 100},
    )
    assert [each.line for each in found_by("stepped_forward", trace)] == lines


def test_another_line_of_the_loop_may_train():
    text = TEXT.replace("rows.append", "fit_one(); rows.append")
    training = Time("backprop", "framework", SECOND, 1, (STEP,))
    assert len(found_by("stepped_forward", forwards(text))) == 1
    assert found_by("stepped_forward", forwards(text, times=[training])) == []


def test_long_calls_are_none_unless_they_are_of_one_item():
    assert found_by("stepped_forward", forwards(each_ns=60_000)) == []
    text = TEXT.replace("hidden[step]", "hidden[step].unsqueeze(0)")
    assert len(found_by("stepped_forward", forwards(text, each_ns=60_000))) == 1


@pytest.mark.parametrize(("number", "is_looped"), [(79, False), (80, True)])
def test_a_few_calls_in_an_entry_are_of_no_loop(number, is_looped):
    time = Time("backprop", "framework", 2 * SECOND, 2, (MODULE,))
    called = [calls("backprop", LINEAR, number, SECOND // 1000)]
    trace = loop_rows(time, text=TEXT, native_call=called, entries={"backprop": 20})
    assert bool(found_by("stepped_forward", trace)) == is_looped


def could_be_one(body: str, loop: str = "for row in rows:") -> bool:
    """Whether line 2 could be, in which the body of a loop begins."""
    return independent_passes.could_be_one_call(Source(ast.parse(f"{loop}\n    {body}\n")), 2)


@pytest.mark.parametrize(
    "body",
    [
        "out.append(net(row))",
        "out[row] = self.net(x[row], now=self.now)",
        "y = net(h)\n    h = cell(row, h)",  # y does not go on
        "total += critic(torch.cat([state, row])).mean()",
        "a = x[row]; b = net(a); c = b + 1",
        "b = net(x[row], row)\n    print(row, b)",
    ],
)
def test_passes_that_need_nothing_of_each_other(body):
    assert could_be_one(body)


@pytest.mark.parametrize(
    "body",
    [
        "h = net(row, h)",
        "x = f(y); y = g(x); z = row",
        "state[row + 1] = net(state[row])",
        "out.append(net(out[-1], row))",
        "h, y = net(row, h)",
        "total = net(row) + net(total)",
        "y = net(x)",  # the same each time
        "y = row.net(x[row])",  # networks of their own
        "y = nets[row](x[row])",
        "self.h = row; y = self.net(self.h); self.reset(y)",
        "loss = net(row); loss.backward()",
        "y = row + 1",
    ],
)
def test_passes_that_cannot_be_one_call(body):
    assert not could_be_one(body)


@pytest.mark.parametrize(
    "lines",
    [
        "v = net(mid)\n    if v > t: hi = mid\n    else: lo = mid\n    mid = (lo + hi) / 2",
        "loss = actor(old + row)\n    if loss < best: break",
        "v = net(node.state)\n    backup(node, v)\n    node = select(node)",
        "v = net(h, row)\n    copy_to(h, v)",
        "v = net(h, row)\n    with keep(v) as h: pass",
        "h[0][row], other = net(h, row), 1",
    ],
)
def test_a_pass_may_depend_on_an_earlier_one_by_other_ways(lines):
    assert not could_be_one(lines)


def test_entries_by_the_loops_variable_do_not_set_it():
    assert could_be_one("a[row], b[row][0] = net(x[row]), 1")


@pytest.mark.parametrize(
    "rest", ["f = lambda z: z", "y = x[()]", "log(None)", "mask = m.unsqueeze(0)", "x.view()"]
)
def test_what_else_stands_in_the_loop_makes_no_batch_of_one(rest):
    text = f"for row in rows:\n    out.append(net(x[row]))\n    {rest}\n"
    assert not independent_passes.gives_one(Source(ast.parse(text)), 2)


PLANS = """for plan in plans:
    state, total = start, 0.0
    for t in range(9):
        state, reward = model(state, plan[t])
        total += reward
    totals.append(total)
"""


def are_chains_one(text: str) -> bool:
    return independent_passes.chains_could_be_one_call(Source(ast.parse(text)), 4)


def test_a_step_of_all_chains_could_be_one_call():
    assert are_chains_one(PLANS)
    assert are_chains_one(PLANS.replace("= start", "= starts[plan]").replace("plan[t]", "t"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("state, total = start, 0.0", "total = 0.0"),  # each chain goes on where the last one was
        ("= start", "= state"),
        ("plan[t]", "t"),  # all chains are the same
        ("model(", "models[plan]("),
        ("totals.append(total)", "optimizer.step()"),
        ("totals.append(total)", "break"),
        ("for plan in plans", "while plans"),
    ],
)
def test_chains_that_need_each_other_could_not(old, new):
    assert not are_chains_one(PLANS.replace(old, new))


def test_a_chain_in_a_function_of_its_own_is_in_no_loop_there():
    text = "for plan in plans:\n    def score(state):\n        for t in plan:\n"
    assert not are_chains_one(f"{text}            state = model(state, t)\n")


@pytest.mark.parametrize(
    ("body", "needs"),
    [
        ("h = cell(x[t], h)", False),
        ("h, c = self.cell(torch.cat([x[t], a[t]]), (h, c))", False),
        ("a = actor(h); h = m['cell'](torch.cat([z, a]), h)", True),
        ("h = cell(decoder(h), h)", True),
        ("y = net(x[t])", False),
    ],
)
def test_a_cell_may_be_given_what_it_made(body: str, needs: bool):
    text = f"for t in range(9):\n    {body}\n"
    assert independent_passes.input_needs_earlier(Source(ast.parse(text)), 2) == needs


def test_a_batch_of_one_may_be_made_before():
    text = "for row in rows:\n    one = x[row].unsqueeze(0)\n    out.append(net(one))\n"
    assert independent_passes.gives_one(Source(ast.parse(text)), 3)


def test_a_time_with_its_backward_is_no_longer_than_the_loop():
    time = Time("backprop", "framework", 4 * SECOND, 2, (MODULE,))
    called = [calls("backprop", LINEAR, 1000, 1000 * 20_000)]
    trace = loop_rows(time, text=TEXT, native_call=called, entries={"backprop": 20})
    (finding,) = found_by("stepped_forward", trace)
    assert "100.0 % of the loop" in finding.title


def test_only_a_for_and_a_comprehension_have_passes():
    assert not could_be_one("row = net(rows.pop())", "while rows:")
    assert not could_be_one("out.append(net(row))", "if row:")
    text = "out = torch.stack([\n    net(row) for row in rows])\n"
    assert independent_passes.could_be_one_call(Source(ast.parse(text)), 2)


@pytest.mark.parametrize(
    "given", ["x[row].unsqueeze(0)", "x[None]", "x[None, row]", "x.view(1, -1)"]
)
def test_batches_of_one_are_seen(given):
    def one(text: str) -> bool:
        source = Source(ast.parse(f"for row in rows:\n    y = net({text})\n"))
        return independent_passes.gives_one(source, 2)

    assert one(given)
    assert not one("x[row].unsqueeze(1)")
    assert not one("x.view(-1, 1)")


SORTED = "def rank(scores):\n    return [sorted(scores).index(each) for each in scores]\n"


def test_what_is_the_same_in_each_pass_is_named():
    times = [Time(name, "python", SECOND, 2) for name in ("(none)", "inference")]
    (finding,) = found_by("unchanged_calls", loop_rows(*times, text=SORTED))
    assert (finding.file, finding.line) == (FILE, 2)
    assert finding.title.startswith("a loop calls sorted with the same")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.9 * 2 * SECOND)
    assert (
        found_by("unchanged_calls", loop_rows(*times, text=SORTED.replace("sorted", "reader")))
        == []
    )


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("y = np.linalg.inv(matrix) @ row", "inv"),
        ("y = row - max(scores)", "max"),
        ("y = f(row, list(scores))", "list"),
        ("y = np.exp(row)", None),
        ("scores[row] = 1; y = max(scores)", None),
        ("scores.append(row); y = max(scores)", None),
        ("shuffle(scores); y = max(scores)", None),
        ("y = max(self.scores)", None),  # a method may change it
        ("y = max(3, 4)", None),
        ("y = math.exp(scale)", None),  # of a number
        ("y = random.choice(scores)", None),
    ],
)
def test_which_calls_are_the_same_in_each_pass(body, name):
    source = Source(ast.parse(f"for row in rows:\n    {body}\n"))
    assert independent_passes.unchanged_call(source, 2) == name


def test_what_a_loop_goes_through_is_computed_once():
    source = Source(ast.parse("y = [row + 1 for row in sorted(rows)]\n"))
    assert independent_passes.unchanged_call(source, 1) is None

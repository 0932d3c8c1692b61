"""Advice on calls of networks: forwards in a row, gradients, generation."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, calls, found, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis.findings import (
    lone_environment,
    needless_gradients,
    single_inference,
    uncached_generation,
)

MODULE = ("/lib/torch/nn/modules/module.py", "Module._call_impl")


# ---- forwards in a row ---------------------------------------------------------------------------

ACTING = """\
def act(net, observations):
    return [net(observation) for observation in observations]

def train(env, net):
    for _ in range(100):
        action = net(state)
        state = env.step(action)
"""


def acting(line: int, in_a_row: int, *beside: Time):
    return loop_rows(
        Time("inference", "framework", 4 * SECOND, line, (MODULE,)),
        *beside,
        Time("simulation", "python", SECOND, 7),
        entries={"inference": 1000},
        text=ACTING,
        native_call=[
            calls("inference", "torch._C._nn:linear", 2000 * in_a_row, 3 * SECOND),
            calls("inference", "torch:multinomial", 1000 * in_a_row, 3 * SECOND),
            calls("inference", "torch:stack", 1000, SECOND // 10),
        ],
    )


def test_forwards_in_a_row_are_worth_a_batch():
    (finding,) = found(single_inference.RULE, acting(2, 8))
    assert (finding.file, finding.line, finding.operation) == (FILE, 2, "inference")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.9 * 7 / 8 * 4 * SECOND)


def test_what_else_the_line_of_the_loop_calls_is_batched_too():
    """Distributions take four times as long as the networks."""
    rest = Time("inference", "framework", 16 * SECOND, 2)
    (finding,) = found(single_inference.RULE, acting(2, 8, rest))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.9 * 7 / 8 * 20 * SECOND)


@pytest.mark.parametrize(("forwards", "in_a_row"), [(10_000, 8), (1250, 1)])
def test_the_run_says_how_often_its_networks_are_called(forwards, in_a_row):
    """A network of eight layers, once in an entry, looks like one of one layer eight times. A fifth
    of all calls learn, and evaluations are none of them."""
    linear = [
        calls("inference", "torch._C._nn:linear", 8000, 3 * SECOND),
        calls("backprop", "torch._C._nn:linear", 2000, SECOND),
        calls("evaluation", "torch._C._nn:linear", 9000, SECOND),
    ]
    trace = loop_rows(
        Time("inference", "framework", 4 * SECOND, 2, (MODULE,)),
        Time("evaluation", "framework", SECOND, 7),
        entries={"inference": 1000},
        text=ACTING,
        native_call=linear,
        metadata=[{"process_id": 0, "key": "rlscope.forwards", "value": str(forwards)}],
    )
    titles = [each.title for each in found(single_inference.RULE, trace)]
    assert titles == ["inference calls the network 8 times in a row"] * (in_a_row == 8)


@pytest.mark.parametrize("conversions", [1, 5])
def test_conversions_before_a_forward_are_no_entries_of_their_own(conversions):
    """Two forwards in a row are entries, both."""
    step_ns = [*[200 - 10 * each for each in range(conversions)], 3000, 2900]
    instances = [
        {"process_id": 0, "thread_id": 0, "operation_id": 0, "start_ns": at, "self_ns": self_ns}
        for at, self_ns in enumerate(step_ns * 500)
    ]
    trace = loop_rows(
        Time("inference", "framework", 4 * SECOND, 2, (MODULE,)),
        text=ACTING,
        native_call=[calls("inference", "torch._C._nn:linear", 8000, 3 * SECOND)],
        operation_instance=instances,
    )
    (finding,) = found(single_inference.RULE, trace)
    assert finding.title == "inference calls the network 8 times in a row"


def test_a_forward_that_takes_long_by_chance_makes_no_others_a_part_of_it():
    """One of ten takes ten times as long, and each is one call of the network."""
    instances = [
        {"process_id": 0, "thread_id": 0, "operation_id": 0, "start_ns": at, "self_ns": self_ns}
        for at, self_ns in enumerate([*[1000] * 9, 10_000] * 100)
    ]
    trace = loop_rows(
        Time("inference", "framework", 4 * SECOND, 2, (MODULE,)),
        text=ACTING,
        native_call=[calls("inference", "torch._C._nn:linear", 1000, 3 * SECOND)],
        operation_instance=instances,
    )
    assert found(single_inference.RULE, trace) == []


@pytest.mark.parametrize(("advantage_ns", "lines"), [(SECOND // 4, [3]), (SECOND, [])])
def test_the_function_of_a_loop_may_now_and_then_be_called_in_another_operation(
    advantage_ns, lines
):
    trace = loop_rows(
        Time("inference", "framework", 4 * SECOND, 3, (MODULE,)),
        Time("advantage", "framework", advantage_ns, 3, (MODULE,)),
        entries={"inference": 1000},
        text="def act(net, seen):\n    for each in seen:\n        yield net(each)\n",
        native_call=[calls("inference", "torch._C._nn:linear", 8000, 3 * SECOND)],
    )
    assert [each.line for each in found(single_inference.RULE, trace)] == lines


@pytest.mark.parametrize("text", ["for layer in layers:\n    x = layer(x)\n"])
def test_layers_in_a_row_are_one_network(text):
    trace = loop_rows(
        Time("inference", "framework", 4 * SECOND, 2, (MODULE,)),
        entries={"inference": 1000},
        text=text,
        native_call=[calls("inference", "torch._C._nn:linear", 8000, 3 * SECOND)],
    )
    assert found(single_inference.RULE, trace) == []


def test_the_loop_nearest_to_the_network_counts():
    """As that of a search inside the loop of an actor, beside whose time a step is nothing."""
    text = "def play():\n    return [net(leaf) for leaf in leaves()]\n\n\n"
    text += "for game in games:\n    play()\n"
    trace = loop_rows(
        Time("inference", "framework", 4 * SECOND, 6, ((FILE, "play"), MODULE)),
        Time("inference", "framework", SECOND // 10, 6, (MODULE,)),
        Time("simulation", "python", SECOND // 100, 6, ((FILE, "play"),)),
        entries={"inference": 1000},
        text=text,
        native_call=[calls("inference", "torch._C._nn:linear", 8000, 3 * SECOND)],
    )
    assert [each.line for each in found(single_inference.RULE, trace)] == [2]


def test_a_loop_around_a_function_that_calls_the_network_is_one():
    text = "def act(seen):\n    return net(seen)\n\n\nactions = [act(seen) for seen in all_seen]\n"
    trace = loop_rows(
        Time("inference", "framework", 4 * SECOND, 5, ((FILE, "act"), MODULE)),
        entries={"inference": 1000},
        text=text,
        native_call=[calls("inference", "torch._C._nn:linear", 8000, 3 * SECOND)],
    )
    (finding,) = found(single_inference.RULE, trace)
    assert (finding.file, finding.line) == (FILE, 5)


@pytest.mark.parametrize(("given", "lines"), [("start, plan", [5]), ("start, goal", [])])
def test_plans_that_are_followed_step_by_step_could_be_followed_at_once(given, lines):
    text = "def score(state, plan):\n    for move in plan: state = net(state, move)\n"
    text += f"    return state\n\nscores = [score({given}) for plan in plans]\n"
    trace = loop_rows(
        Time("inference", "framework", 4 * SECOND, 5, ((FILE, "score"), MODULE)),
        entries={"inference": 1000},
        text=text,
        native_call=[calls("inference", "torch._C._nn:linear", 8000, 3 * SECOND)],
    )
    assert [each.line for each in found(single_inference.RULE, trace)] == lines


def test_a_comprehension_of_episodes_is_none():
    """Its function steps an environment. The network's two layers are the same function."""
    text = "scores = [episode(each) for each in noise]\n"
    trace = loop_rows(
        Time("inference", "framework", 4 * SECOND, 1, ((FILE, "episode"), MODULE)),
        Time("simulation", "python", SECOND, 1, ((FILE, "episode"),)),
        entries={"inference": 1000},
        text=text,
        native_call=[calls("inference", "torch._C._nn:linear", 2000, 3 * SECOND)],
    )
    assert found(single_inference.RULE, trace) == []


@pytest.mark.parametrize(
    ("line", "in_a_row"),
    [
        (2, 1),  # one environment
        (6, 8),  # the loop steps the environment between forwards
    ],
)
def test_a_forward_for_each_step_is_not(line, in_a_row):
    assert found(single_inference.RULE, acting(line, in_a_row)) == []


EACH = """\
def move(player, net):
    return player.env.step(net(player.seen))

def play(players, net):
    for {looped}:
        {call}
"""


def players(looped: str, call: str, *others: Time):
    return loop_rows(
        Time("inference", "framework", 4 * SECOND, 6, ((FILE, "move"), MODULE)),
        Time("simulation", "python", SECOND, 6, ((FILE, "move"),)),
        *others,
        entries={"inference": 1000},
        text=EACH.format(looped=looped, call=call),
        native_call=[calls("inference", "torch._C._nn:linear", 2000, 3 * SECOND)],
    )


def test_a_forward_for_each_environment_of_a_loop_over_them_is_one_at_a_time():
    (finding,) = found(single_inference.RULE, players("each in players", "each.move(net)"))
    assert (finding.file, finding.line, finding.operation) == (FILE, 6, "inference")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.8 * 4 * SECOND)


@pytest.mark.parametrize(
    ("looped", "call", "others"),
    [
        ("step in range(9)", "player.move(net)", ()),  # one environment
        ("each in seeds", "move(each, net)", ()),
        ("each in players", "each.move(net)", (Time("update", "python", SECOND, 6),)),
    ],
)
def test_a_loop_of_steps_or_of_the_training_is_not_over_environments(looped, call, others):
    assert found(single_inference.RULE, players(looped, call, *others)) == []


# ---- gradients -----------------------------------------------------------------------------------


def rollout(
    with_line: str,
    *,
    switches: int = 0,
    forward_ns: int = SECOND,
    entries: int = 1000,
    replays: int = 1,
    more: str = "",
):
    given = [calls("inference", "torch._C._nn:linear", 1000, SECOND)]
    given += [calls("update", "torch._C:_EngineBase.run_backward", 100, 4 * SECOND)]
    given += [calls("update", "torch._C._nn:linear", 500, forward_ns)]
    given += [calls("inference", "torch._C:_set_grad_enabled", switches, 9)] if switches else []
    return loop_rows(
        Time("inference", "framework", 4 * SECOND, 3, (MODULE,)),
        Time("replay", "python", SECOND, 9),
        entries={"inference": entries, "replay": replays},
        text=f"def act(state):\n    {with_line}:\n        return net(state)\n{more}",
        native_call=given,
    )


def test_gradients_of_inference_that_nobody_needs_are_named():
    for block in ("if True", "with torch.set_grad_enabled(True)"):
        (finding,) = found(needless_gradients.RULE, rollout(block))
        assert (finding.file, finding.line, finding.operation) == (FILE, 3, "inference")


def test_a_program_with_a_replay_memory_may_learn_in_each_step():
    assert len(found(needless_gradients.RULE, rollout("if True", entries=100, replays=100))) == 1
    assert found(needless_gradients.RULE, rollout("if True", entries=100, replays=9)) == []


@pytest.mark.parametrize(
    ("more", "are_on"),
    [
        ("torch.set_grad_enabled(False)\nact(state)\n", False),
        ("torch.set_grad_enabled(True)\nact(state)\n", True),
        ("with torch.set_grad_enabled(False):\n    test(state)\n", True),  # elsewhere
    ],
)
def test_a_call_may_have_turned_gradients_off_for_good(more, are_on):
    assert bool(found(needless_gradients.RULE, rollout("if True", more=more))) == are_on


@pytest.mark.parametrize(
    "trace",
    [
        rollout("with torch.no_grad()"),  # around more than what was recorded
        rollout("with inference_mode()"),
        rollout("with torch.set_grad_enabled(learns)"),  # it may turn them off
        rollout("with torch.set_grad_enabled(mode=False)"),
        rollout("if True", switches=2000),  # somebody turns them off
        rollout("if True", forward_ns=SECOND // 10),  # backwards go through inference
        rollout("if True", entries=100),  # each step learns from its own inference
    ],
)
def test_gradients_that_are_off_or_needed_are_not(trace):
    assert found(needless_gradients.RULE, trace) == []


# ---- generation ----------------------------------------------------------------------------------


def generating(growth_ns: int, tokens: int = 64, generations: int = 5):
    """Generations whose tokens take 1 ms, and each so much longer than the one before."""
    lengths = [1_000_000 + place * growth_ns for place in range(tokens)]
    starts = [sum(lengths[:place]) for place in range(tokens)]
    whole = sum(lengths)
    common = {"process_id": 0, "operation_id": 0}
    linear = {**common, "kind": "call", "name": "torch._C._nn:linear"}
    return loop_rows(
        Time("generation", "framework", generations * whole, 3, (MODULE,)),
        operation_instance=[
            {**common, "start_ns": turn * whole, "duration_ns": whole}
            for turn in range(generations)
        ],
        event=[
            {**linear, "start_ns": turn * whole + start, "duration_ns": 1000}
            for turn in range(generations)
            for start in starts
        ],
        native_call=[calls("generation", "torch._C._nn:linear", tokens * generations, SECOND)],
    )


def test_tokens_that_take_longer_and_longer_are_worth_all_that_grows():
    (finding,) = found(uncached_generation.RULE, generating(100_000))
    assert (finding.file, finding.line, finding.operation) == (FILE, 3, "generation")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(5 * 100_000 * 64 * 63 / 2, rel=0.02)


@pytest.mark.parametrize(("growth_ns", "is_found"), [(0, False), (4_000, False), (12_000, True)])
def test_tokens_of_a_cache_take_nearly_the_same(growth_ns, is_found):
    """Second halves are 12 and 33 % longer than first ones."""
    assert bool(found(uncached_generation.RULE, generating(growth_ns))) == is_found


def test_a_few_tokens_are_no_evidence():
    assert found(uncached_generation.RULE, generating(100_000, tokens=8)) == []


# ---- one environment -----------------------------------------------------------------------------


def stepping(inference_s: float, *rewards: str, forwards: int = 1, beside_s: float = 0):
    said = [("rlscope.rewards", each) for each in rewards]
    said += [("rlscope.forwards", str(100 * forwards))]
    return loop_rows(
        Time("inference", "framework", round(inference_s * SECOND), 6, (MODULE,)),
        Time("inference", "python", round(beside_s * SECOND), 8),
        Time("simulation", "python", SECOND, 7),
        entries={"inference": 100},
        native_call=[calls("inference", "torch._C._nn:linear", 100 * forwards, SECOND)],
        metadata=[{"process_id": 0, "key": key, "value": value} for key, value in said],
    )


def test_asking_for_one_environment_is_worth_a_look():
    (finding,) = found(lone_environment.RULE, stepping(2, "[256, 0]"))
    assert (finding.file, finding.line, finding.operation) == (FILE, 6, "inference")
    assert finding.price is not None
    assert (finding.price.low_ns, finding.price.saving_ns) == (0, pytest.approx(1.6 * SECOND))


@pytest.mark.parametrize(
    ("inference_s", "rewards"), [(1.9, "[256, 0]"), (4, "[250, 6]"), (4, "[0, 0]"), (4, "x")]
)
def test_it_is_not_where_it_is_brief_or_environments_may_be_several(inference_s, rewards):
    assert not found(lone_environment.RULE, stepping(inference_s, rewards))
    assert not found(lone_environment.RULE, stepping(inference_s))


@pytest.mark.parametrize(("beside_s", "is_named"), [(3.5, True), (6, False)])
def test_it_is_not_where_most_of_choosing_is_something_else(beside_s, is_named):
    """As drawing noise from a slow distribution."""
    trace = stepping(2, "[256, 0]", beside_s=beside_s)
    assert bool(found(lone_environment.RULE, trace)) == is_named


@pytest.mark.parametrize(("forwards", "is_planner"), [(7, False), (8, True)])
def test_a_planner_that_asks_for_each_candidate_is_none(forwards, is_planner):
    trace = stepping(2, "[256, 0]", forwards=forwards)
    assert (found(lone_environment.RULE, trace) == []) == is_planner


ROLLOUT = """\
with torch.no_grad():
    for t in range(steps):
        mean = policy(seen)
        kept[t] = value(seen)
        seen = torch.from_numpy(swarm.move({action}.numpy()))
"""


@pytest.mark.parametrize(("action", "lines"), [("mean", []), ("noise", [4])])
def test_a_rollout_of_an_environment_that_nobody_knows_is_no_batch(action, lines):
    trace = loop_rows(
        *(Time("inference", "framework", 2 * SECOND, line, (MODULE,)) for line in (3, 4)),
        entries={"inference": 100},
        text=ROLLOUT.replace("{action}", action),
        native_call=[calls("inference", "torch._C._nn:linear", 800, 3 * SECOND)],
    )
    assert [each.line for each in found(single_inference.RULE, trace)] == lines


def test_inference_that_does_more_than_ask_the_network_keeps_that():
    trace = loop_rows(
        Time("inference", "framework", SECOND, 2, (MODULE,)),
        Time("inference", "python", 4 * SECOND, 5),
        entries={"inference": 1000},
        text=ACTING,
        native_call=[calls("inference", "torch._C._nn:linear", 8000, SECOND)],
    )
    (finding,) = found(single_inference.RULE, trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(2.5 * 0.9 * 7 / 8 * SECOND)

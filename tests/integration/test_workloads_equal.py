"""DDPG and TD3 compute the same updates in PyTorch, TensorFlow and JAX.

The same weights, batches and noise go into each; after each of four updates the critics' loss, the
moments of both Adams (so: the gradients) and the weights of all networks are compared with those of
PyTorch. They are sums of products of 32-bit numbers in another order: a loss may differ by 1e-5 of
itself, a moment by 1e-4 of itself and 1e-6 of 1, or 1e-8 if it is of squares. Adam divides
gradients by their size, those too that are little more than rounding: weights may differ by a
hundredth of its learning rate, 1e-5.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pytest
from support.process.installed import need

from rlscope.survey import cells
from rlscope.survey.cells import Cell
from rlscope.workloads.arguments import parse_args

_UPDATES = 4
_SIZES = {"batch_size": 32, "hidden": 16}
_NETWORKS = ("actor", "critic", "slow_actor", "slow_critic")
_rng = np.random.default_rng(1)
_NOISE = _rng.normal(0.0, 3.0, (32, 1)).astype(np.float32)  # some of it is clipped


def _batch() -> list[Any]:
    observation, following = _rng.normal(size=(2, 32, 3))
    action = _rng.uniform(-2.0, 2.0, (32, 1))
    reward, terminated = _rng.normal(size=32), _rng.integers(2, size=32)
    columns = (observation, action, reward, following, terminated)
    return [column.astype(np.float32) for column in columns]


_BATCHES = [_batch() for _ in range(_UPDATES)]


@dataclass
class After:
    """What is there after an update."""

    loss: float
    """of the critics, before the update"""
    gradients: dict[str, list[Any]]
    """of the policy and the critics: first moments of Adam"""
    squares: dict[str, list[Any]]
    """of those gradients: second moments of Adam"""
    weights: dict[str, list[Any]]
    """of all networks: matrices of shape (inputs, outputs), and biases"""


def _updates(trainer: Any, losses: list[float], state: Any) -> list[After]:
    """Trains with the batches; `state` reads gradients and weights."""
    from rlscope.workloads.replay import Batch

    batches = iter(_BATCHES)
    trainer.replay.sample = lambda _size: Batch(*next(batches))
    found = []
    for _ in range(_UPDATES):
        trainer.learn()
        found.append(After(losses[-1], *state()))
    return found


def _of_torch(module: Any, first: dict[str, list[Any]]) -> list[After]:
    import torch

    trainer = module.Trainer(module.Args(**_SIZES))
    twin = hasattr(trainer, "critics")
    modules = {
        "actor": trainer.actor,
        "critic": trainer.critics if twin else trainer.critic,
        "slow_actor": trainer.slow_actor,
        "slow_critic": trainer.slow_critics if twin else trainer.slow_critic,
    }
    with torch.no_grad():
        for name, weights in first.items():
            for parameter, value in zip(modules[name].parameters(), weights, strict=True):
                parameter.copy_(torch.tensor(value.T))
    losses, loss_of = [], trainer.critic_loss

    def critic_loss(*batch: Any) -> Any:
        loss = loss_of(*batch)
        losses.append(loss.item())
        return loss

    trainer.critic_loss = critic_loss

    optimizers = {"actor": trainer.actor_optimizer, "critic": trainer.critic_optimizer}

    def moments(which: str) -> dict[str, list[Any]]:
        return {
            name: [
                optimizer.state[each].get(which, torch.zeros_like(each)).numpy().T.copy()
                for each in modules[name].parameters()
            ]
            for name, optimizer in optimizers.items()
        }

    def state() -> Any:
        weights = {
            name: [each.detach().numpy().T.copy() for each in network.parameters()]
            for name, network in modules.items()
        }
        return moments("exp_avg"), moments("exp_avg_sq"), weights

    return _updates(trainer, losses, state)


def _recorded(trainer: Any, read: Any) -> list[float]:
    """Losses that the compiled update of the critics returns from now on."""
    losses: list[float] = []
    name = "update_critics" if hasattr(trainer, "update_critics") else "update"
    update = getattr(trainer, name)

    def recording(*inputs: Any) -> Any:
        result = update(*inputs)
        losses.append(float(read(result)))
        return result

    setattr(trainer, name, recording)
    return losses


def _of_tensorflow(module: Any, mode: str) -> list[After]:
    trainer = module.Trainer(module.Args(mode=mode, **_SIZES))
    twin = hasattr(trainer, "critics")

    def values(variables: list[Any]) -> list[Any]:
        if mode == "graph":
            with trainer.execution.scope():
                return list(trainer.execution.session.run(variables))
        return [variable.numpy() for variable in variables]

    def state() -> Any:
        adams = {"actor": trainer.actor_adam, "critic": trainer.critic_adam}
        weights = {
            "actor": trainer.actor,
            "critic": [*chain(*trainer.critics)] if twin else trainer.critic,
            "slow_actor": trainer.slow_actor,
            "slow_critic": [*chain(*trainer.slow_critics)] if twin else trainer.slow_critic,
        }
        return (
            {name: values(adam.first) for name, adam in adams.items()},
            {name: values(adam.second) for name, adam in adams.items()},
            {name: values(network) for name, network in weights.items()},
        )

    return _updates(trainer, _recorded(trainer, lambda loss: loss), state)


def _jax_weights(trainer: Any) -> dict[str, list[Any]]:
    import jax

    state = trainer.state._asdict()
    networks = ((name, state.get(name, state.get(f"{name}s"))) for name in _NETWORKS)
    return {name: [np.asarray(a) for a in jax.tree.leaves(network)] for name, network in networks}


def _of_jax(module: Any) -> tuple[dict[str, list[Any]], list[After]]:
    """The weights before, and what the updates make of them."""
    import jax

    trainer = module.Trainer(module.Args(**_SIZES))
    first = _jax_weights(trainer)

    def state() -> Any:
        adams = {"actor": trainer.state.actor_adam, "critic": trainer.state.critic_adam}
        gradients, squares = (
            {
                name: [np.asarray(each) for each in jax.tree.leaves(of(adam))]
                for name, adam in adams.items()
            }
            for of in (lambda adam: adam.first, lambda adam: adam.second)
        )
        return gradients, squares, _jax_weights(trainer)

    return first, _updates(trainer, _recorded(trainer, lambda result: result[1]), state)


def _compare(found: list[After], expected: list[After]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours.loss, theirs.loss, rtol=1e-5)
        _compare_arrays(ours.gradients, theirs.gradients, rtol=1e-4, atol=1e-6)
        _compare_arrays(ours.squares, theirs.squares, rtol=1e-4, atol=1e-8)
        _compare_arrays(ours.weights, theirs.weights, rtol=0, atol=1e-5)


def _compare_arrays(ours: Any, theirs: Any, **tolerance: float) -> None:
    assert ours.keys() == theirs.keys()
    for name, arrays in theirs.items():
        for one, other in zip(ours[name], arrays, strict=True):
            np.testing.assert_allclose(one, other, err_msg=name, **tolerance)


@pytest.fixture(params=["ddpg", "td3"])
def modules(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The algorithm in each framework, by the framework, with the same noise for its target."""
    need("torch", "tensorflow", "jax", "gymnasium")
    import torch

    found = {
        framework: importlib.import_module(f"rlscope.workloads.{request.param}_pendulum{ending}")
        for framework, ending in (("torch", ""), ("tensorflow", "_tensorflow"), ("jax", "_jax"))
    }
    if request.param == "td3":
        for framework, module in found.items():
            noise = torch.as_tensor(_NOISE) if framework == "torch" else _NOISE
            monkeypatch.setattr(module.Trainer, "_noise", lambda *_, noise=noise: noise)
    return found


def test_same_updates_in_every_framework(modules: dict[str, Any]) -> None:
    first, by_jax = _of_jax(modules["jax"])
    by_torch = _of_torch(modules["torch"], first)
    moved = [
        np.abs(after - before).max()
        for name in _NETWORKS
        for after, before in zip(by_torch[-1].weights[name], first[name], strict=True)
    ]
    assert min(moved) > 1e-5, "what does not move cannot differ"
    _compare(by_jax, by_torch)
    for mode in ("eager", "function", "graph"):
        _compare(_of_tensorflow(modules["tensorflow"], mode), by_torch)


def test_same_options_in_every_framework(modules: dict[str, Any]) -> None:
    args = {framework: vars(module.Args()) for framework, module in modules.items()}
    assert args["torch"].items() >= args["jax"].items()
    assert args["tensorflow"].items() >= args["jax"].items()


def test_same_ppo_updates_in_torch_and_jax() -> None:
    """Eight epochs over one rollout, which is one minibatch: the order in it does not count."""
    need("torch", "jax", "gymnasium")
    import jax
    import torch

    from rlscope.workloads import ppo_cartpole, ppo_cartpole_jax

    options: Any = {"num_envs": 3, "num_steps": 40, "num_minibatches": 1, "ent_coef": 0.1}
    trainer = ppo_cartpole.Trainer(ppo_cartpole.Args(**options))
    agent = ppo_cartpole_jax.new_agent(4, 2)
    networks = {"actor": trainer.agent.actor, "critic": trainer.agent.critic}
    with torch.no_grad():
        for name, network in networks.items():
            weights = getattr(agent, name)
            for parameter, value in zip(network.parameters(), weights, strict=True):
                parameter.copy_(torch.tensor(value.T))
    trainer.collect()
    seen = trainer.rollout
    done = torch.cat([seen.done[1:], trainer.done[None]])  # ended in a step, not before it
    columns = (seen.observation, seen.action, seen.log_prob, seen.value, seen.reward, done)
    rollout = ppo_cartpole_jax.Rollout(*(column.numpy().copy() for column in columns))
    assert rollout.done.sum() > 3

    args = ppo_cartpole_jax.Args(**options)
    following = ppo_cartpole_jax.value_of(agent, trainer.observation.numpy())
    advantage = ppo_cartpole_jax.advantages(rollout, following, args.gamma, args.gae_lambda)
    np.testing.assert_allclose(advantage, trainer._advantages().detach(), rtol=1e-4, atol=1e-5)
    agent, rollout = jax.device_put((agent, rollout))
    adam, random = ppo_cartpole_jax.new_adam(agent), jax.random.key(1)
    rate = args.learning_rate
    learned, _ = ppo_cartpole_jax.learned(agent, adam, rollout, advantage, rate, random, args)
    trainer.learn()
    for name, network in networks.items():
        ours, before = getattr(learned, name), getattr(agent, name)
        for one, parameter, first in zip(ours, network.parameters(), before, strict=True):
            assert np.abs(one - first).max() > 1e-3, "what does not move cannot differ"
            np.testing.assert_allclose(one, parameter.detach().numpy().T, rtol=0, atol=1e-4)


def test_orthogonal_weights() -> None:
    from rlscope.workloads.initial_weights import orthogonal_weights

    first, bias, second, _, third, _ = orthogonal_weights(4, 2, 64, last_gain=0.5)
    np.testing.assert_allclose(first @ first.T, 2 * np.eye(4), atol=1e-5)
    np.testing.assert_allclose(second @ second.T, 2 * np.eye(64), atol=1e-5)
    np.testing.assert_allclose(third.T @ third, 0.25 * np.eye(2), atol=1e-5)
    assert not bias.any()


def test_the_cart_pole_in_jax_moves_as_gymnasiums() -> None:
    need("jax", "gymnasium")
    import gymnasium

    from rlscope.workloads import ppo_cartpole_jax_scan as scan

    env = gymnasium.make("CartPole-v1")
    state, _ = env.reset(seed=1)
    falls = 0
    for action in _rng.integers(2, size=300):
        ours = np.asarray(scan.moved(state[None], np.asarray([action])))
        state, _, terminated, truncated, _ = env.step(action)
        np.testing.assert_allclose(ours[0], state, rtol=1e-5, atol=1e-6)
        assert bool(scan.fallen(ours)[0]) == terminated
        if terminated or truncated:
            falls += 1
            state, _ = env.reset()
    assert falls > 5


def test_carts_begin_anew_after_a_fall_and_at_the_time_limit() -> None:
    need("jax")
    import jax
    import jax.numpy as jnp

    from rlscope.workloads import ppo_cartpole_jax_scan as scan

    state = jnp.zeros((3, 4)).at[1, 0].set(3.0)
    carts = scan.Carts(state, jnp.asarray([498, 498, 499]))
    following, told = scan.stepped(carts, jnp.asarray([1, 1, 1]), jax.random.key(1))
    assert told.terminated.tolist() == [False, True, False]
    assert told.truncated.tolist() == [False, False, True]
    assert following.age.tolist() == [499, 0, 0]
    np.testing.assert_array_equal(following.state[0], told.last[0])
    assert (abs(following.state[1:]) <= 0.05).all()


_TINY = {"total_timesteps": 201, "batch_size": 8, "hidden": 16, "print_every": 0}
_TINY_PPO = {"total_timesteps": 256, "num_envs": 2, "num_steps": 64, "print_every": 0}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("td3_pendulum_tensorflow", _TINY | {"mode": "eager"}),
        ("td3_pendulum_tensorflow", _TINY | {"mode": "function"}),
        ("td3_pendulum_tensorflow", _TINY | {"mode": "graph"}),
        ("td3_pendulum_jax", _TINY),
        ("ppo_cartpole_jax", _TINY_PPO),
        ("ppo_cartpole_jax_scan", _TINY_PPO),
    ],
)
def test_same_seed_trains_the_same_with_and_without_annotations(
    name: str, options: dict[str, Any]
) -> None:
    need("tensorflow" if "tensorflow" in name else "jax")
    module = importlib.import_module(f"rlscope.workloads.{name}")

    def returns(**more: Any) -> list[float]:
        trainer = module.Trainer(module.Args(**options, **more))
        trainer.train()
        return list(trainer.returns)

    first = returns()
    assert first
    assert returns(annotate=False) == first
    assert returns(seed=2) != first


def _arguments(cell: Cell) -> dict[str, Any]:
    """What the program of a cell of the survey is asked for, without where and how it runs."""
    words = cell.command.split()
    module = importlib.import_module(words[2])
    found = vars(parse_args(module.Args, "", words[3:]))
    return {name: value for name, value in found.items() if name not in _NOT_OF_THE_WORK}


_NOT_OF_THE_WORK = {"compile", "device", "mode", "tensorflow_threads", "torch_threads"}


def test_the_survey_compares_programs_with_equal_networks_batches_and_updates() -> None:
    """Those of a task have the same arguments, number for number."""
    need("tensorflow", "jax")
    by_task: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for cell in cells.on_device(cells.matrix(), "cpu"):
        if "framework" in cell.experiment:
            task = cell.label("algorithm"), cell.label("environment")
            by_task.setdefault(task, {})[cell.name] = _arguments(cell)
    assert len(by_task) == 3
    for task, programs in by_task.items():
        first, *others = programs.values()
        assert len(others) >= 2, task
        for name, arguments in programs.items():
            assert arguments == first, name


def test_an_iteration_of_the_survey_has_the_steps_of_its_cell() -> None:
    need("tensorflow", "jax")
    for cell in cells.on_device(cells.matrix(), "cpu"):
        if "framework" in cell.experiment and cell.label("algorithm") == "PPO":
            arguments = _arguments(cell)
            assert arguments["num_envs"] * arguments["num_steps"] == cell.steps, cell.name

"""PPO with JAX on a CartPole that is written in JAX too, annotated for rlscope.

    rls-prof python workloads/ppo_cartpole_jax_scan.py
    rls-prof python -m rlscope.workloads.ppo_cartpole_jax_scan --num-envs 1024

Simulators for GPUs are used in this way: environment and policy are one compiled program, and
nothing leaves the device before a rollout is complete. An iteration is two calls of functions that
jax.jit compiled. One has simulation and inference inside: operation `rollout`. One has advantages
and all updates inside: operation `update`. What is inside cannot be told apart. Both wait for their
results, which JAX computes behind the program's back. The algorithm is that of ppo_cartpole_jax.py.
Runs alike with and without rls-prof: unrecorded annotations cost next to nothing.
"""

import contextlib
import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import rlscope as rls
from rlscope.workloads import ppo_cartpole_jax as ppo
from rlscope.workloads.arguments import Count, parse_args
from rlscope.workloads.jax_training import Adam, new_adam, run_training
from rlscope.workloads.training_run import (
    iterations,
    no_operation,
    seed_everything,
)

_GRAVITY = 9.8
_POLE_MASS, _CART_MASS = 0.1, 1.0
_POLE_CENTRE = 0.5
"""Metres from the cart: half of the pole's length."""
_FORCE = 10.0
_SECONDS = 0.02
_FURTHEST, _STEEPEST = 2.4, 12 * math.pi / 180
_LONGEST = 500
"""Steps after which an episode is cut off."""


@dataclass
class Args(ppo.Args):
    env_id: Literal["CartPole-v1"] = "CartPole-v1"
    """the only one: its physics is part of this file"""
    total_timesteps: Count = 400_000
    """environment steps of the whole run, rounded up to whole iterations"""
    num_envs: Count = 64
    """environments that step together"""
    num_steps: Count = 64
    """steps of each environment in one iteration"""


class Carts(NamedTuple):
    """The environments; the first dimension of every array is theirs."""

    state: Any
    """position, velocity, angle and angular velocity, in metres, radians and seconds"""
    age: Any
    """steps since the episode began"""


def new_carts(random: Any, count: int) -> Carts:
    """Carts near the middle, poles nearly upright."""
    state = jax.random.uniform(random, (count, 4), minval=-0.05, maxval=0.05)
    return Carts(state, jnp.zeros(count, jnp.int32))


def moved(state: Any, action: Any) -> Any:
    """The state after a step of Euler's method; action 1 pushes to the right, 0 to the left.

    The equations of motion are those of Barto, Sutton and Anderson 1983, without friction.
    """
    _, velocity, angle, turning = jnp.moveaxis(state, -1, 0)
    mass = _CART_MASS + _POLE_MASS
    moment = _POLE_MASS * _POLE_CENTRE
    sine, cosine = jnp.sin(angle), jnp.cos(angle)
    push = (_FORCE * (2 * action - 1) + moment * turning**2 * sine) / mass
    inertia = _POLE_CENTRE * (4 / 3 - _POLE_MASS * cosine**2 / mass)
    turning_faster = (_GRAVITY * sine - cosine * push) / inertia
    faster = push - moment * turning_faster * cosine / mass
    rates = velocity, faster, turning, turning_faster
    return state + _SECONDS * jnp.stack(rates, axis=-1)


def fallen(state: Any) -> Any:
    """Whether the pole leans, or the cart went, too far."""
    return (jnp.abs(state[:, 0]) > _FURTHEST) | (jnp.abs(state[:, 2]) > _STEEPEST)


class Step(NamedTuple):
    """What a step tells: arrays of shape (num_envs, ...)."""

    last: Any
    """the state that the action led to, before a new episode began"""
    terminated: Any
    truncated: Any


def stepped(carts: Carts, action: Any, random: Any) -> tuple[Carts, Step]:
    """One step of every environment; those whose episode ended begin anew in it."""
    state, age = moved(carts.state, action), carts.age + 1
    terminated = fallen(state)
    truncated = (age == _LONGEST) & ~terminated
    done = terminated | truncated
    new = new_carts(random, len(age))
    kept = Carts(jnp.where(done[:, None], new.state, state), jnp.where(done, new.age, age))
    return kept, Step(state, terminated, truncated)


class Trainer:
    """One training run; `train` is the loop."""

    def __init__(self, args: Args) -> None:
        self.args = args
        ppo.require_equal_minibatches(args)
        seed_everything(args.seed)
        self.operation: Any = rls.operation if args.annotate else no_operation
        agent = ppo.new_agent(observations=4, actions=2)
        self.agent, self.adam = jax.device_put((agent, new_adam(agent)))
        first, self.random = jax.random.split(jax.random.key(args.seed))
        self.carts = new_carts(first, args.num_envs)
        self.rollout = jax.jit(self._rollout)
        self.update = jax.jit(self._update)
        self.iterations = 0
        self.returns: list[float] = []

    def train(self) -> None:
        """Runs all iterations."""
        count = math.ceil(self.args.total_timesteps / (self.args.num_envs * self.args.num_steps))
        for iteration in iterations(self, count):
            self.run_iteration(1.0 - iteration / count)

    def run_iteration(self, learning_rate_factor: float = 1.0) -> None:
        """Collects one rollout and learns from it."""
        with self._phase("data_collection"), self.operation("rollout"):
            done = self.rollout(self.agent, self.carts, self.iterations)
            self.carts, rollout, lengths = jax.block_until_ready(done)
        # A step earns 1. What ends no episode has length 0.
        self.returns += [float(length) for length in np.asarray(lengths).flat if length]
        rate = learning_rate_factor * self.args.learning_rate
        with self._phase("training"), self.operation("update"):
            last = self.carts.state
            done = self.update(self.agent, self.adam, rollout, last, rate, self.iterations)
            self.agent, self.adam = jax.block_until_ready(done)
        self.iterations += 1

    def _rollout(
        self, agent: ppo.Agent, carts: Carts, number: Any
    ) -> tuple[Carts, ppo.Rollout, Any]:
        """The environments after `num_steps` steps, the steps, and lengths of ended episodes."""

        def step(carts: Carts, random: Any) -> tuple[Carts, tuple[ppo.Rollout, Any]]:
            chance, beginning = jax.random.split(random)
            action, log_prob, value = ppo.act(agent, carts.state, chance)
            following, told = stepped(carts, action, beginning)
            # An episode that was cut off would have gone on: what follows is worth its value.
            rest = self.args.gamma * ppo.value_of(agent, told.last)
            reward = 1.0 + jnp.where(told.truncated, rest, 0.0)
            done = told.terminated | told.truncated
            length = jnp.where(done, carts.age + 1, 0)
            row = ppo.Rollout(
                carts.state, action, log_prob, value, reward, done.astype(jnp.float32)
            )
            return following, (row, length)

        randoms = jax.random.split(self._random(2 * number), self.args.num_steps)
        carts, (rollout, lengths) = jax.lax.scan(step, carts, randoms)
        return carts, rollout, lengths

    def _update(
        self, agent: ppo.Agent, adam: Adam, rollout: ppo.Rollout, last: Any, rate: Any, number: Any
    ) -> tuple[ppo.Agent, Adam]:
        """Agent and Adam after they learned from the rollout, which ended in these states."""
        args = self.args
        following = ppo.value_of(agent, last)
        advantage = ppo.advantages(rollout, following, args.gamma, args.gae_lambda)
        random = self._random(2 * number + 1)
        return ppo.learned(agent, adam, rollout, advantage, rate, random, args)

    def _random(self, number: Any) -> Any:
        return jax.random.fold_in(self.random, number)

    def _phase(self, name: str) -> Any:
        return rls.phase(name) if self.args.annotate else contextlib.nullcontext()


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("PPO", parse_args(Args, "PPO on CartPole in JAX", argv), Trainer)


if __name__ == "__main__":
    main()

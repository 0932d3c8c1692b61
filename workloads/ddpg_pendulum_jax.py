"""DDPG on Gymnasium's Pendulum-v1 with JAX, annotated for rlscope.

    rls-prof python workloads/ddpg_pendulum_jax.py
    rls-prof python -m rlscope.workloads.ddpg_pendulum_jax --env-id Hopper-v5

The same networks, hyper-parameters and updates as in ddpg_pendulum.py. An update is one call of a
function that jax.jit compiled, in which target, forward, backprop and optimizer cannot be told
apart: operation `update`. It waits for its result, which JAX computes behind the program's back:
otherwise the next inference would.
Runs alike with and without rls-prof: unrecorded annotations cost next to nothing.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from rlscope.workloads import continuous_control
from rlscope.workloads.arguments import parse_args
from rlscope.workloads.initial_weights import uniform_weights
from rlscope.workloads.jax_training import (
    Adam,
    JaxArgs,
    follow,
    new_adam,
    perceptron,
    run_training,
    step,
)
from rlscope.workloads.replay import Batch


@dataclass
class Args(JaxArgs, continuous_control.DDPGArgs):
    """Where it runs, and what is the same in every framework."""


class State(NamedTuple):
    """What an update changes: weights are lists of arrays."""

    actor: Any
    critic: Any
    slow_actor: Any
    slow_critic: Any
    actor_adam: Adam
    critic_adam: Adam


class Trainer(continuous_control.Trainer):
    """One training run."""

    def __init__(self, args: Args) -> None:
        super().__init__(args)
        actor = uniform_weights(self.observations, self.actions, args.hidden)
        critic = uniform_weights(self.observations + self.actions, 1, args.hidden)
        adams = new_adam(actor), new_adam(critic)
        self.state = jax.device_put(State(actor, critic, actor, critic, *adams))
        self.policy = jax.jit(self._action)
        self.update = jax.jit(self._update)

    def act(self, observation: Any) -> Any:
        """The policy's action with noise."""
        return self.explored(np.asarray(self.policy(self.state.actor, observation)))

    def learn(self) -> None:
        """One update of the critic, the policy and their slow copies."""
        with self.operation("sample"):
            batch = jax.device_put(self.replay.sample(self.args.batch_size))
        with self.operation("update"):
            self.state, _ = jax.block_until_ready(self.update(self.state, batch))

    def _update(self, state: State, batch: Batch) -> tuple[State, Any]:
        """The state after an update with a batch, and the critic's loss before it."""
        target = self._target(state, batch)

        def critic_loss(critic: Any) -> Any:
            values = self._value(critic, batch.observation, batch.action)
            return jnp.square(values - target).mean()

        loss, gradients = jax.value_and_grad(critic_loss)(state.critic)
        rate, tau = self.args.learning_rate, self.args.tau
        critic, critic_adam = step(state.critic_adam, state.critic, gradients, rate)

        def actor_loss(actor: Any) -> Any:
            action = self._action(actor, batch.observation)
            return -self._value(critic, batch.observation, action).mean()

        gradients = jax.grad(actor_loss)(state.actor)
        actor, actor_adam = step(state.actor_adam, state.actor, gradients, rate)
        slow_actor = follow(state.slow_actor, actor, tau)
        slow_critic = follow(state.slow_critic, critic, tau)
        return State(actor, critic, slow_actor, slow_critic, actor_adam, critic_adam), loss

    def _target(self, state: State, batch: Batch) -> Any:
        """Reward, and discounted value of what the slow networks do and think of it next."""
        action = self._action(state.slow_actor, batch.following)
        value = self._value(state.slow_critic, batch.following, action)
        return batch.reward + self.args.gamma * (1.0 - batch.terminated) * value

    def _action(self, weights: Any, observation: Any) -> Any:
        """What a policy does, inside the bounds, shape (..., actions)."""
        return self.middle + self.scale * jnp.tanh(perceptron(weights, observation))

    def _value(self, weights: Any, observation: Any, action: Any) -> Any:
        """What a critic thinks of each action, shape (batch,)."""
        return perceptron(weights, jnp.concatenate([observation, action], axis=-1))[:, 0]


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("DDPG", parse_args(Args, "DDPG on Pendulum", argv), Trainer)


if __name__ == "__main__":
    main()

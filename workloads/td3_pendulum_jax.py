"""TD3 on Gymnasium's Pendulum-v1 with JAX, annotated for rlscope.

    rls-prof python workloads/td3_pendulum_jax.py
    rls-prof python -m rlscope.workloads.td3_pendulum_jax --env-id Hopper-v5

The same networks, hyper-parameters and updates as in td3_pendulum.py. An update of the critics is
one call of a function that jax.jit compiled, and one of the policy and the slow networks is
another; what they do inside cannot be told apart: operation `update`. It waits for its result,
which JAX computes behind the program's back: otherwise the next inference would.
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
class Args(JaxArgs, continuous_control.TD3Args):
    """Where it runs, and what is the same in every framework."""


class State(NamedTuple):
    """What updates change: weights are lists of arrays, one for each of the two critics."""

    actor: Any
    critics: Any
    slow_actor: Any
    slow_critics: Any
    actor_adam: Adam
    critic_adam: Adam


class Trainer(continuous_control.Trainer):
    """One training run."""

    def __init__(self, args: Args) -> None:
        super().__init__(args)
        actor = uniform_weights(self.observations, self.actions, args.hidden)
        both = self.observations + self.actions
        critics = [uniform_weights(both, 1, args.hidden) for _ in range(2)]
        adams = new_adam(actor), new_adam(critics)
        self.state = jax.device_put(State(actor, critics, actor, critics, *adams))
        self.random = jax.random.key(args.seed)
        self.updates = 0
        self.policy = jax.jit(self._action)
        self.update_critics = jax.jit(self._update_critics)
        self.update_actor = jax.jit(self._update_actor)

    def act(self, observation: Any) -> Any:
        """The policy's action with noise."""
        return self.explored(np.asarray(self.policy(self.state.actor, observation)))

    def learn(self) -> None:
        """One update of the critics, and now and then of the policy and the slow copies."""
        with self.operation("sample"):
            batch = jax.device_put(self.replay.sample(self.args.batch_size))
        with self.operation("update"):
            done = self.update_critics(self.state, batch, self.updates)
            self.state, _ = jax.block_until_ready(done)
        self.updates += 1
        if self.updates % self.args.policy_frequency == 0:
            with self.operation("update"):
                done = self.update_actor(self.state, batch.observation)
                self.state, _ = jax.block_until_ready(done)

    def _update_critics(self, state: State, batch: Batch, number: Any) -> tuple[State, Any]:
        """The state after the critics' update with this number, and their loss before it."""
        target = self._target(state, batch, number)

        def loss_of(critics: Any) -> Any:
            values = self._values(critics, batch.observation, batch.action)
            return jnp.square(values - target).mean(axis=1).sum()

        loss, gradients = jax.value_and_grad(loss_of)(state.critics)
        rate = self.args.learning_rate
        critics, adam = step(state.critic_adam, state.critics, gradients, rate)
        return state._replace(critics=critics, critic_adam=adam), loss

    def _update_actor(self, state: State, observation: Any) -> tuple[State, Any]:
        """The state after an update of policy and slow copies, and the policy's loss before it."""

        def loss_of(actor: Any) -> Any:
            action = self._action(actor, observation)
            return -self._values(state.critics[:1], observation, action).mean()

        loss, gradients = jax.value_and_grad(loss_of)(state.actor)
        rate, tau = self.args.learning_rate, self.args.tau
        actor, adam = step(state.actor_adam, state.actor, gradients, rate)
        slow_actor = follow(state.slow_actor, actor, tau)
        slow_critics = follow(state.slow_critics, state.critics, tau)
        slow = {"slow_actor": slow_actor, "slow_critics": slow_critics}
        return state._replace(actor=actor, actor_adam=adam, **slow), loss

    def _target(self, state: State, batch: Batch, number: Any) -> Any:
        """Reward, and discounted value of what the slow networks do and think of it next."""
        action = self._action(state.slow_actor, batch.following)
        bound = self.args.noise_clip
        noise = self.args.policy_noise * self._noise(action, number)
        noise = jnp.clip(noise, -bound, bound)
        low, high = self.middle - self.scale, self.middle + self.scale
        action = jnp.clip(action + self.scale * noise, low, high)
        value = self._values(state.slow_critics, batch.following, action).min(axis=0)
        return batch.reward + self.args.gamma * (1.0 - batch.terminated) * value

    def _noise(self, action: Any, number: Any) -> Any:
        """Standard normal numbers of the shape of the actions, others for each update."""
        return jax.random.normal(jax.random.fold_in(self.random, number), action.shape)

    def _action(self, weights: Any, observation: Any) -> Any:
        """What a policy does, inside the bounds, shape (..., actions)."""
        return self.middle + self.scale * jnp.tanh(perceptron(weights, observation))

    def _values(self, critics: Any, observation: Any, action: Any) -> Any:
        """What each of the critics thinks of each action, shape (critics, batch)."""
        both = jnp.concatenate([observation, action], axis=-1)
        return jnp.stack([perceptron(weights, both)[:, 0] for weights in critics])


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("TD3", parse_args(Args, "TD3 on Pendulum", argv), Trainer)


if __name__ == "__main__":
    main()

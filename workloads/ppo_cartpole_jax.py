"""PPO on Gymnasium's CartPole-v1 with JAX, annotated for rlscope.

    rls-prof python workloads/ppo_cartpole_jax.py
    rls-prof python -m rlscope.workloads.ppo_cartpole_jax --total-timesteps 20000

The same networks, hyper-parameters and losses as in ppo_cartpole.py. All updates of an iteration
are one call of a function that jax.jit compiled, in which forward, backprop and optimizer cannot be
told apart: operation `update`. It waits for its result, which JAX computes behind the program's
back.
Runs alike with and without rls-prof: unrecorded annotations cost next to nothing.
"""

import contextlib
import math
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete

import rlscope as rls
from rlscope.workloads.arguments import Count, parse_args
from rlscope.workloads.environments import in_one_line, require
from rlscope.workloads.initial_weights import orthogonal_weights
from rlscope.workloads.jax_training import Adam, JaxArgs, new_adam, perceptron, run_training, step
from rlscope.workloads.training_run import (
    iterations,
    no_operation,
    seed_everything,
)


@dataclass
class Args(JaxArgs):
    seed: int = 1
    """seed of every random number generator"""
    env_id: str = "CartPole-v1"
    """environment: any with a vector of floats to observe and a choice of actions"""
    total_timesteps: Count = 80_000
    """environment steps of the whole run, rounded up to whole iterations"""
    num_envs: Count = 8
    """environments that step together"""
    num_steps: Count = 128
    """steps of each environment in one iteration"""
    learning_rate: float = 1e-3
    """of Adam at the start; falls linearly to 0"""
    gamma: float = 0.98
    """discount of future rewards"""
    gae_lambda: float = 0.9
    """weight of longer returns in the advantage"""
    update_epochs: Count = 8
    """passes over each rollout"""
    num_minibatches: Count = 4
    """parts of a rollout, one optimizer step each; they must be equal"""
    clip_coef: float = 0.2
    """how far a policy may move from the one that collected"""
    ent_coef: float = 0.0
    """weight of the entropy bonus"""
    vf_coef: float = 0.5
    """weight of the value loss"""
    max_grad_norm: float = 0.5
    """gradients are scaled down to this norm"""
    annotate: bool = True
    """annotate operations for rlscope (--no-annotate: measure without)"""
    print_every: int = 10
    """iterations between lines of progress, 0: none"""


class Agent(NamedTuple):
    """Weights of two small networks that share nothing."""

    actor: Any
    critic: Any


class Rollout(NamedTuple):
    """What one iteration collects; every array is (num_steps, num_envs, ...)."""

    observation: Any
    action: Any
    log_prob: Any
    value: Any
    reward: Any
    done: Any
    """whether an episode ended in this step"""


def new_agent(observations: int, actions: int) -> Agent:
    """An agent with random weights."""
    actor = orthogonal_weights(observations, actions, 64, last_gain=0.01)
    return Agent(actor, orthogonal_weights(observations, 1, 64, last_gain=1.0))


def value_of(agent: Agent, observation: Any) -> Any:
    """Expected return of each observation, without the last dimension of observations."""
    return perceptron(agent.critic, observation, jnp.tanh)[..., 0]


def log_probs_of(agent: Agent, observation: Any) -> Any:
    """Logarithms of the probability of each action, shape (..., actions)."""
    return jax.nn.log_softmax(perceptron(agent.actor, observation, jnp.tanh))


def act(agent: Agent, observation: Any, random: Any) -> tuple[Any, Any, Any]:
    """A sampled action, its log-probability and the value, each of shape (batch,)."""
    log_probs = log_probs_of(agent, observation)
    action = jax.random.categorical(random, log_probs)
    return action, _chosen(log_probs, action), value_of(agent, observation)


def advantages(rollout: Rollout, following_value: Any, gamma: float, gae_lambda: float) -> Any:
    """Generalized advantage estimation (Schulman et al. 2016, equation 16), backwards."""

    def back(carried: tuple[Any, Any], now: Rollout) -> tuple[tuple[Any, Any], Any]:
        following, last = carried
        alive = 1.0 - now.done
        delta = now.reward + gamma * alive * following - now.value
        last = delta + gamma * gae_lambda * alive * last
        return (now.value, last), last

    end = following_value, jnp.zeros_like(following_value)
    _, found = jax.lax.scan(back, end, rollout, reverse=True)
    return found


def loss_of(agent: Agent, batch: Rollout, advantage: Any, target: Any, args: Any) -> Any:
    """Clipped surrogate objective (PPO, equation 7), value error and entropy."""
    log_probs = log_probs_of(agent, batch.observation)
    ratio = jnp.exp(_chosen(log_probs, batch.action) - batch.log_prob)
    weight = (advantage - advantage.mean()) / (advantage.std(ddof=1) + 1e-8)
    clipped = jnp.clip(ratio, 1 - args.clip_coef, 1 + args.clip_coef)
    policy_loss = -jnp.minimum(ratio * weight, clipped * weight).mean()
    value_loss = 0.5 * jnp.square(value_of(agent, batch.observation) - target).mean()
    entropy = -(jnp.exp(log_probs) * log_probs).sum(axis=-1).mean()
    return policy_loss + args.vf_coef * value_loss - args.ent_coef * entropy


def learned(
    agent: Agent, adam: Adam, rollout: Rollout, advantage: Any, rate: Any, random: Any, args: Any
) -> tuple[Agent, Adam]:
    """Agent and Adam after several epochs of minibatch updates on the rollout."""
    size = advantage.size
    whole = rollout, advantage, advantage + rollout.value
    flat = jax.tree.map(lambda array: array.reshape(size, *array.shape[2:]), whole)

    def update(carried: tuple[Agent, Adam], drawn: Any) -> tuple[tuple[Agent, Adam], None]:
        agent, adam = carried
        batch = jax.tree.map(lambda array: array[drawn], flat)
        gradients = jax.grad(loss_of)(agent, *batch, args)
        gradients = _clipped(gradients, args.max_grad_norm)
        return step(adam, agent, gradients, rate, epsilon=1e-5), None

    epochs = jax.random.split(random, args.update_epochs)
    orders = jax.vmap(lambda key: jax.random.permutation(key, size))(epochs)
    minibatches = orders.reshape(args.update_epochs * args.num_minibatches, -1)
    (agent, adam), _ = jax.lax.scan(update, (agent, adam), minibatches)
    return agent, adam


def require_equal_minibatches(args: Any) -> None:
    """Ends the program with one line where a rollout cannot be cut into equal parts."""
    size = args.num_envs * args.num_steps
    if size % args.num_minibatches:
        sys.exit(f"a rollout of {size} steps has no {args.num_minibatches} equal minibatches")


def _chosen(log_probs: Any, action: Any) -> Any:
    return jnp.take_along_axis(log_probs, action[..., None], axis=-1)[..., 0]


def _clipped(gradients: Any, norm: float) -> Any:
    """Gradients, scaled down to a norm if theirs is higher."""
    squares = sum(jnp.square(array).sum() for array in jax.tree.leaves(gradients))
    factor = jnp.minimum(1.0, norm / (jnp.sqrt(squares) + 1e-6))
    return jax.tree.map(lambda array: factor * array, gradients)


class Trainer:
    """One training run; `train` is the loop."""

    def __init__(self, args: Args) -> None:
        self.args = args
        require_equal_minibatches(args)
        seed_everything(args.seed)
        self.operation: Any = rls.operation if args.annotate else no_operation
        with in_one_line(args.env_id):
            self.envs = self.make_environments()
            require("observations", self.envs.single_observation_space, Box)
            require("actions", self.envs.single_action_space, Discrete)
        observations = math.prod(self.envs.single_observation_space.shape)
        agent = new_agent(observations, int(self.envs.single_action_space.n))
        self.agent, self.adam = jax.device_put((agent, new_adam(agent)))
        self.random = jax.random.key(args.seed)
        self.act = jax.jit(self._act)
        self.value = jax.jit(value_of)
        self.advantages = jax.jit(self._advantages)
        self.learned = jax.jit(self._learned)
        self.observation, _ = self.envs.reset(seed=args.seed)
        self.steps = self.updates = 0
        self.rewards = np.zeros(args.num_envs)
        self.returns: list[float] = []

    def make_environments(self) -> Any:
        """Environments that begin anew in the step that ends an episode."""
        return gym.make_vec(
            self.args.env_id,
            self.args.num_envs,
            vectorization_mode="sync",
            vector_kwargs={"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP},
        )

    def train(self) -> None:
        """Runs all iterations."""
        count = math.ceil(self.args.total_timesteps / (self.args.num_envs * self.args.num_steps))
        for iteration in iterations(self, count):
            self.run_iteration(1.0 - iteration / count)

    def run_iteration(self, learning_rate_factor: float = 1.0) -> None:
        """Collects one rollout and learns from it."""
        with self._phase("data_collection"):
            rollout = self.collect()
        with self._phase("training"):
            self.learn(rollout, learning_rate_factor * self.args.learning_rate)

    def collect(self) -> Rollout:
        """A rollout of the current policy."""
        steps = [self._step() for _ in range(self.args.num_steps)]
        return Rollout(*(np.stack(column) for column in zip(*steps, strict=True)))

    def _step(self) -> Rollout:
        """One step of every environment."""
        seen = self.observation
        with self.operation("inference"):
            chosen = self.act(self.agent, seen, self.steps)
            action, log_prob, value = (np.asarray(array) for array in chosen)
        with self.operation("simulation"):
            self.observation, reward, terminated, truncated, info = self.envs.step(action)
        self.steps += 1
        done = terminated | truncated
        self._note_returns(reward, done)
        reward = reward.astype(np.float32)
        cut_off = truncated & ~terminated
        if cut_off.any():
            reward += self._rest(cut_off, info["final_obs"])
        return Rollout(seen, action, log_prob, value, reward, done.astype(np.float32))

    def _rest(self, cut_off: Any, last: Any) -> Any:
        """What more the episodes were worth that a time limit cut off; 0 for the others."""
        observation = self.observation.copy()  # of all: one shape, compiled once
        observation[cut_off] = np.stack(last[cut_off])
        with self.operation("inference"):
            value = np.asarray(self.value(self.agent, observation))
        return np.where(cut_off, np.float32(self.args.gamma) * value, np.float32(0))

    def learn(self, rollout: Rollout, rate: float) -> None:
        """Several epochs of minibatch updates on the rollout."""
        with self.operation("advantage"):
            rollout = jax.device_put(rollout)
            advantage = self.advantages(self.agent, rollout, self.observation)
            jax.block_until_ready(advantage)
        with self.operation("update"):
            done = self.learned(self.agent, self.adam, rollout, advantage, rate, self.updates)
            self.agent, self.adam = jax.block_until_ready(done)
        self.updates += 1

    def _act(self, agent: Agent, observation: Any, number: Any) -> tuple[Any, Any, Any]:
        return act(agent, observation, jax.random.fold_in(self.random, 2 * number))

    def _advantages(self, agent: Agent, rollout: Rollout, observation: Any) -> Any:
        following = value_of(agent, observation)
        return advantages(rollout, following, self.args.gamma, self.args.gae_lambda)

    def _learned(
        self, agent: Agent, adam: Adam, rollout: Rollout, advantage: Any, rate: Any, number: Any
    ) -> tuple[Agent, Adam]:
        random = jax.random.fold_in(self.random, 2 * number + 1)
        return learned(agent, adam, rollout, advantage, rate, random, self.args)

    def _phase(self, name: str) -> Any:
        return rls.phase(name) if self.args.annotate else contextlib.nullcontext()

    def _note_returns(self, reward: Any, done: Any) -> None:
        self.rewards += reward
        self.returns += self.rewards[done].tolist()
        self.rewards[done] = 0.0


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("PPO", parse_args(Args, "PPO on CartPole", argv), Trainer)


if __name__ == "__main__":
    main()

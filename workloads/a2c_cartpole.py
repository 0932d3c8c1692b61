"""A2C on Gymnasium's CartPole-v1 with PyTorch, annotated for rlscope.

    rls-prof python workloads/a2c_cartpole.py
    rls-prof python -m rlscope.workloads.a2c_cartpole --total-timesteps 20000

Advantage actor-critic, the synchronous form of Mnih et al. 2016 (arXiv:1602.01783, algorithm S3):
some steps of all environments, then one update with their n-step returns.
Runs alike with and without rls-prof: unrecorded annotations cost next to nothing.
"""

import contextlib
import math
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from torch import Tensor, nn
from torch.distributions import Categorical

import rlscope as rls
from rlscope.workloads.arguments import Count, parse_args
from rlscope.workloads.environments import in_one_line, require
from rlscope.workloads.torch_training import (
    TorchArgs,
    compiled_step,
    compiler_of,
    rate,
    run_training,
    seed_everything,
    set_rate,
)
from rlscope.workloads.training_run import iterations, no_operation


@dataclass
class Args(TorchArgs):
    seed: int = 1
    """seed of every random number generator"""
    env_id: str = "CartPole-v1"
    """environment: any with a vector of numbers to observe and a choice of actions"""
    total_timesteps: Count = 200_000
    """environment steps of the whole run, rounded up to whole iterations"""
    num_envs: Count = 8
    """environments that step together"""
    num_steps: Count = 8
    """steps of each environment in one iteration"""
    learning_rate: float = 1e-3
    """of RMSprop at the start; falls linearly to 0"""
    gamma: float = 0.98
    """discount of future rewards"""
    ent_coef: float = 0.0
    """weight of the entropy bonus"""
    vf_coef: float = 0.5
    """weight of the value loss"""
    max_grad_norm: float = 0.5
    """gradients are scaled down to this norm"""
    annotate: bool = True
    """annotate operations for rlscope (--no-annotate: measure without)"""
    print_every: int = 200
    """iterations between lines of progress, 0: none"""


class Agent(nn.Module):  # type: ignore[misc]
    """Policy and value function: two small networks that share nothing."""

    def __init__(self, observations: int, actions: int) -> None:
        super().__init__()
        self.actor = _network(observations, actions)
        self.critic = _network(observations, 1)

    def policy(self, observation: Tensor) -> Categorical:
        """The distribution of actions for each observation."""
        return Categorical(logits=self.actor(observation))

    def value(self, observation: Tensor) -> Tensor:
        """Expected return of each observation, without the last dimension of observations."""
        return self.critic(observation).squeeze(-1)


class Rollout:
    """What one iteration collects; every tensor is (num_steps, num_envs, ...)."""

    def __init__(self, steps: int, envs: int, observations: int, device: torch.device) -> None:
        self.observation = torch.zeros(steps, envs, observations, device=device)
        self.action = torch.zeros(steps, envs, dtype=torch.long, device=device)
        self.reward = torch.zeros(steps, envs, device=device)
        self.done = torch.zeros(steps, envs, device=device)


class Trainer:
    """One training run; `train` is the loop."""

    def __init__(self, args: Args) -> None:
        self.args = args
        seed_everything(args.seed)
        self.operation: Any = rls.operation if args.annotate else no_operation
        with in_one_line(args.env_id):
            self.envs = self.make_environments()
            require("observations", self.envs.single_observation_space, Box)
            require("actions", self.envs.single_action_space, Discrete)
        self.observations = math.prod(self.envs.single_observation_space.shape)
        self.device = torch.device(args.device)
        actions = int(self.envs.single_action_space.n)
        self.agent = Agent(self.observations, actions).to(self.device)
        rmsprop = torch.optim.RMSprop(self.agent.parameters(), rate(args), alpha=0.99, eps=1e-5)
        self.optimizer = compiled_step(rmsprop, args)
        compiled = compiler_of(args)
        self.act = compiled(self._act)
        self.value = compiled(self.agent.value)
        self.loss = compiled(self._loss)
        self.rollout = Rollout(args.num_steps, args.num_envs, self.observations, self.device)
        first, _ = self.envs.reset(seed=args.seed)
        self.observation = self._tensor(first)
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
        size = self.args.num_envs * self.args.num_steps
        count = math.ceil(self.args.total_timesteps / size)
        for iteration in iterations(self, count):
            self.run_iteration(1.0 - iteration / count)

    def run_iteration(self, learning_rate_factor: float = 1.0) -> None:
        """Collects one rollout and learns from it."""
        set_rate(self.optimizer, learning_rate_factor * self.args.learning_rate)
        with self._phase("data_collection"):
            self.collect()
        with self._phase("training"):
            self.learn()

    def collect(self) -> None:
        """Fills the rollout with the current policy."""
        rollout = self.rollout
        for step in range(self.args.num_steps):
            rollout.observation[step] = self.observation
            with self.operation("inference"), torch.no_grad():
                action = self.act(self.observation)
                chosen = action.cpu().numpy()
            with self.operation("simulation"):
                following, reward, terminated, truncated, info = self.envs.step(chosen)
            rollout.action[step] = action
            rollout.reward[step] = torch.as_tensor(reward)
            cut_off = truncated & ~terminated
            if cut_off.any():
                rollout.reward[step] += self._rest(cut_off, info["final_obs"])
            done = terminated | truncated
            rollout.done[step] = torch.as_tensor(done)
            self.observation = self._tensor(following)
            self._note_returns(reward, done)

    def _act(self, observation: Tensor) -> Tensor:
        """Sampled actions, shape (batch,)."""
        return self.agent.policy(observation).sample()

    def _rest(self, cut_off: Any, last: Any) -> Tensor:
        """What more the episodes were worth that a time limit cut off; 0 for the others."""
        worth = torch.zeros(self.args.num_envs, device=self.device)
        observation = self._tensor(np.stack(last[cut_off]))
        with self.operation("inference"), torch.no_grad():
            value = self.value(observation)
        worth[torch.as_tensor(cut_off)] = self.args.gamma * value
        return worth

    def learn(self) -> None:
        """One step of the optimizer on the whole rollout."""
        with self.operation("advantage"), torch.no_grad():
            target = self._returns()
        with self.operation("forward"):
            loss = self.loss(target)
        with self.operation("backprop"):
            self.optimizer.zero_grad()
            loss.backward()
        with self.operation("optimizer"):
            nn.utils.clip_grad_norm_(self.agent.parameters(), self.args.max_grad_norm)
            self.optimizer.step()

    def _returns(self) -> Tensor:
        """Discounted rewards up to the rollout's end and the value from there on, backwards."""
        rollout = self.rollout
        returns = torch.zeros_like(rollout.reward)
        following = self.value(self.observation)
        for step in reversed(range(self.args.num_steps)):
            alive = 1.0 - rollout.done[step]
            following = rollout.reward[step] + self.args.gamma * alive * following
            returns[step] = following
        return returns

    def _loss(self, target: Tensor) -> Tensor:
        """Policy gradient weighted by the advantage, value error and entropy."""
        rollout, args = self.rollout, self.args
        policy = self.agent.policy(rollout.observation)
        error = target - self.agent.value(rollout.observation)
        policy_loss = -(policy.log_prob(rollout.action) * error.detach()).mean()
        value_loss = error.square().mean()
        entropy = policy.entropy().mean()
        return policy_loss + args.vf_coef * value_loss - args.ent_coef * entropy

    def _tensor(self, observation: Any) -> Tensor:
        """Observations of several environments, each as a flat vector."""
        tensor = torch.as_tensor(observation, dtype=torch.float32, device=self.device)
        return tensor.reshape(-1, self.observations)

    def _phase(self, name: str) -> Any:
        return rls.phase(name) if self.args.annotate else contextlib.nullcontext()

    def _note_returns(self, reward: Any, done: Any) -> None:
        self.rewards += reward
        self.returns += self.rewards[done].tolist()
        self.rewards[done] = 0.0


def _network(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
    )


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("A2C", parse_args(Args, "A2C on CartPole", argv), Trainer)


if __name__ == "__main__":
    main()

"""PPO on Gymnasium's CartPole-v1 with PyTorch, annotated for rlscope.

    rls-prof python workloads/ppo_cartpole.py
    rls-prof python -m rlscope.workloads.ppo_cartpole --total-timesteps 20000

Proximal Policy Optimization as in Schulman et al. 2017 (arXiv:1707.06347): clipped surrogate
objective, generalized advantage estimation, several epochs of minibatches over each rollout.
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
from torch.distributions import Categorical, Distribution

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
    """parts of a rollout, one optimizer step each"""
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


class Agent(nn.Module):  # type: ignore[misc]
    """Policy and value function: two small networks that share nothing."""

    def __init__(self, observations: int, actions: int) -> None:
        super().__init__()
        self.actor = _network(observations, actions, last_gain=0.01)
        self.critic = _network(observations, 1, last_gain=1.0)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of the actions, shape (batch, actions), and values, shape (batch,)."""
        return self.actor(observation), self.value(observation)

    def value(self, observation: Tensor) -> Tensor:
        """Expected return of each observation, shape (batch,)."""
        return self.critic(observation).squeeze(-1)


class Rollout:
    """What one iteration collects; every tensor is (num_steps, num_envs, ...)."""

    def __init__(self, steps: int, first: Tensor, action: Tensor) -> None:
        """Room for what is like the first observations, and like the action of one environment."""
        envs, device = len(first), first.device
        self.observation = first.new_zeros(steps, *first.shape)
        self.action = torch.zeros(steps, envs, *action.shape, dtype=action.dtype, device=device)
        self.log_prob = torch.zeros(steps, envs, device=device)
        self.reward = torch.zeros(steps, envs, device=device)
        self.done = torch.zeros(steps, envs, device=device)
        self.value = torch.zeros(steps, envs, device=device)


class Trainer:
    """One training run; `train` is the loop."""

    actions: type = Discrete
    """The kind of actions that the policy chooses from."""

    def __init__(self, args: Args) -> None:
        self.args = args
        seed_everything(args.seed)
        self.operation: Any = rls.operation if args.annotate else no_operation
        with in_one_line(args.env_id):
            self.envs = self.make_environments()
            require("observations", self.envs.single_observation_space, Box)
            require("actions", self.envs.single_action_space, self.actions)
        self.device = torch.device(args.device)
        self.agent = self.make_agent().to(self.device)
        adam = torch.optim.Adam(self.agent.parameters(), rate(args), eps=1e-5)
        self.optimizer = compiled_step(adam, args)
        compiled = compiler_of(args)
        self.act = compiled(self._act)
        self.value = compiled(self.agent.value)
        self.loss = compiled(self._loss)
        first, _ = self.envs.reset(seed=args.seed)
        self.observation = torch.as_tensor(first, device=self.device)
        action = torch.as_tensor(self.envs.single_action_space.sample())
        self.rollout = Rollout(args.num_steps, self.observation, action)
        self.done = torch.zeros(args.num_envs, device=self.device)
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

    def make_agent(self) -> nn.Module:
        """Policy and value function with random weights."""
        envs = self.envs
        observations = math.prod(envs.single_observation_space.shape)
        return Agent(observations, int(envs.single_action_space.n))

    def policy(self, output: Any) -> Distribution:
        """The distribution of actions that the agent's output means."""
        return Categorical(logits=output)

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
            rollout.done[step] = self.done
            with self.operation("inference"), torch.no_grad():
                action, log_prob, value = self.act(self.observation)
                chosen = action.cpu().numpy()
            rollout.action[step], rollout.log_prob[step], rollout.value[step] = (
                action,
                log_prob,
                value,
            )
            with self.operation("simulation"):
                following, reward, terminated, truncated, info = self.envs.step(chosen)
            rollout.reward[step] = torch.as_tensor(reward)
            cut_off = truncated & ~terminated
            if cut_off.any():
                rollout.reward[step] += self._rest(cut_off, info["final_obs"])
            self.observation = torch.as_tensor(following, device=self.device)
            done = terminated | truncated
            self.done = torch.as_tensor(done, dtype=torch.float32, device=self.device)
            self._note_returns(reward, done, info)

    def _act(self, observation: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """A sampled action, its log-probability and the value, each of shape (batch,)."""
        output, value = self.agent(observation)
        policy = self.policy(output)
        action = policy.sample()
        return action, policy.log_prob(action), value

    def _rest(self, cut_off: Any, last: Any) -> Tensor:
        """What more the episodes were worth that a time limit cut off; 0 for the others."""
        worth = torch.zeros(self.args.num_envs, device=self.device)
        observation = torch.as_tensor(np.stack(last[cut_off]), device=self.device)
        with self.operation("inference"), torch.no_grad():
            value = self.value(observation)
        worth[torch.as_tensor(cut_off)] = self.args.gamma * value
        return worth

    def learn(self) -> None:
        """Several epochs of minibatch updates on the rollout."""
        with self.operation("advantage"), torch.no_grad():
            advantage = self._advantages()
            target = (advantage + self.rollout.value).flatten()
            advantage = advantage.flatten()
        size = self.args.num_envs * self.args.num_steps
        for _ in range(self.args.update_epochs):
            for batch in torch.randperm(size, device=self.device).chunk(self.args.num_minibatches):
                with self.operation("forward"):
                    loss = self.loss(batch, advantage, target)
                with self.operation("backprop"):
                    self.optimizer.zero_grad()
                    loss.backward()
                with self.operation("optimizer"):
                    nn.utils.clip_grad_norm_(self.agent.parameters(), self.args.max_grad_norm)
                    self.optimizer.step()

    def _advantages(self) -> Tensor:
        """Generalized advantage estimation (Schulman et al. 2016, equation 16), backwards."""
        rollout, args = self.rollout, self.args
        advantage = torch.zeros_like(rollout.reward)
        following_value = self.value(self.observation)
        following_alive = 1.0 - self.done
        last = torch.zeros_like(self.done)
        for step in reversed(range(args.num_steps)):
            bootstrap = args.gamma * following_value * following_alive
            delta = rollout.reward[step] + bootstrap - rollout.value[step]
            last = delta + args.gamma * args.gae_lambda * following_alive * last
            advantage[step] = last
            following_value = rollout.value[step]
            following_alive = 1.0 - rollout.done[step]
        return advantage

    def _loss(self, batch: Tensor, advantage: Tensor, target: Tensor) -> Tensor:
        """Clipped surrogate objective (PPO, equation 7), value error and entropy."""
        rollout, args = self.rollout, self.args
        observation = rollout.observation.flatten(0, 1)[batch]
        output, value = self.agent(observation)
        policy = self.policy(output)
        log_prob = policy.log_prob(rollout.action.flatten(0, 1)[batch])
        ratio = (log_prob - rollout.log_prob.flatten()[batch]).exp()
        weight = advantage[batch]
        weight = (weight - weight.mean()) / (weight.std() + 1e-8)
        clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
        policy_loss = -torch.min(ratio * weight, clipped * weight).mean()
        value_loss = 0.5 * (value - target[batch]).square().mean()
        entropy = policy.entropy().mean()
        return policy_loss + args.vf_coef * value_loss - args.ent_coef * entropy

    def _phase(self, name: str) -> Any:
        return rls.phase(name) if self.args.annotate else contextlib.nullcontext()

    def _note_returns(self, reward: Any, done: Any, _info: Any) -> None:
        self.rewards += reward
        self.returns += self.rewards[done].tolist()
        self.rewards[done] = 0.0


def _network(inputs: int, outputs: int, last_gain: float) -> nn.Sequential:
    return nn.Sequential(
        layer(inputs, 64),
        nn.Tanh(),
        layer(64, 64),
        nn.Tanh(),
        layer(64, outputs, last_gain),
    )


def layer(inputs: int, outputs: int, gain: float = 2**0.5) -> nn.Linear:
    """A layer whose weights are orthogonal, as PPO begins best."""
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("PPO", parse_args(Args, "PPO on CartPole", argv), Trainer)


if __name__ == "__main__":
    main()

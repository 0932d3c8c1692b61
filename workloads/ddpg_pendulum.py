"""DDPG on Gymnasium's Pendulum-v1 with PyTorch, annotated for rlscope.

    rls-prof python workloads/ddpg_pendulum.py
    rls-prof python -m rlscope.workloads.ddpg_pendulum --env-id Hopper-v5 --total-timesteps 5000

Deep deterministic policy gradient as in Lillicrap et al. 2016 (arXiv:1509.02971, algorithm 1), with
Gaussian noise for exploration. The loop around it is that of continuous_control.py;
ddpg_pendulum_tensorflow.py and ddpg_pendulum_jax.py compute the same updates.
--compile compiles the inside of each operation; the loss's gradients are compiled with it.
Runs alike with and without rls-prof: unrecorded annotations cost next to nothing.
"""

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from rlscope.workloads import continuous_control
from rlscope.workloads.arguments import parse_args
from rlscope.workloads.replay import Batch
from rlscope.workloads.torch_networks import Critic, Policy, follow
from rlscope.workloads.torch_training import (
    TorchArgs,
    compiled_step,
    compiler_of,
    on_device,
    run_training,
)


@dataclass
class Args(TorchArgs, continuous_control.DDPGArgs):
    """Where it is computed, and what is the same in every framework."""


class Trainer(continuous_control.Trainer):
    """One training run."""

    def __init__(self, args: Args) -> None:
        super().__init__(args)
        torch.manual_seed(args.seed)
        self.device = torch.device(args.device)
        actor = Policy(self.observations, self.scale, self.middle, args.hidden)
        self.actor = actor.to(self.device)
        self.critic = Critic(self.observations, self.actions, args.hidden).to(self.device)
        self.slow_actor = copy.deepcopy(self.actor).requires_grad_(False)
        self.slow_critic = copy.deepcopy(self.critic).requires_grad_(False)
        self.actor_optimizer = self._adam(self.actor)
        self.critic_optimizer = self._adam(self.critic)
        compiled = compiler_of(args)
        self.policy = compiled(self.actor)
        self.target = compiled(self._target)
        self.critic_loss = compiled(self._critic_loss)
        self.actor_loss = compiled(self._actor_loss)
        self.follow = compiled(self._follow)

    def act(self, observation: Any) -> Any:
        """The policy's action with noise."""
        with torch.no_grad():
            action = self.policy(torch.as_tensor(observation, device=self.device))
        return self.explored(action.cpu().numpy())

    def learn(self) -> None:
        """One update of the critic, the policy and their slow copies."""
        with self.operation("sample"):
            batch = on_device(self.replay.sample(self.args.batch_size), self.device)
        with self.operation("target"), torch.no_grad():
            target = self.target(batch)
        with self.operation("critic"):
            with self.operation("forward"):
                loss = self.critic_loss(batch, target)
            self._descend(loss, self.critic, self.critic_optimizer)
        with self.operation("actor"):
            with self.operation("forward"):
                loss = self.actor_loss(batch.observation)
            self._descend(loss, self.actor, self.actor_optimizer)
        with self.operation("target_update"), torch.no_grad():
            self.follow()

    def _target(self, batch: Batch) -> Tensor:
        """Reward, and discounted value of what the slow networks do and think of it next."""
        value = self.slow_critic(batch.following, self.slow_actor(batch.following))
        return batch.reward + self.args.gamma * (1.0 - batch.terminated) * value

    def _critic_loss(self, batch: Batch, target: Tensor) -> Tensor:
        """How far the critic is from the target."""
        return (self.critic(batch.observation, batch.action) - target).square().mean()

    def _actor_loss(self, observation: Tensor) -> Tensor:
        """Low where the critic values what the policy does (equation 6)."""
        return -self.critic(observation, self.actor(observation)).mean()

    def _descend(self, loss: Tensor, network: nn.Module, optimizer: Optimizer) -> None:
        with self.operation("backprop"):
            optimizer.zero_grad()
            loss.backward(inputs=list(network.parameters()))
        with self.operation("optimizer"):
            optimizer.step()

    def _follow(self) -> None:
        follow(self.slow_actor.parameters(), self.actor.parameters(), self.args.tau)
        follow(self.slow_critic.parameters(), self.critic.parameters(), self.args.tau)

    def _adam(self, network: nn.Module) -> Optimizer:
        adam = torch.optim.Adam(network.parameters(), self.args.learning_rate)
        return compiled_step(adam, self.args)


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("DDPG", parse_args(Args, "DDPG on Pendulum", argv), Trainer)


if __name__ == "__main__":
    main()

"""TD3 on Gymnasium's Pendulum-v1 with PyTorch, annotated for rlscope.

    rls-prof python workloads/td3_pendulum.py
    rls-prof python -m rlscope.workloads.td3_pendulum --env-id Hopper-v5 --total-timesteps 5000

Twin delayed DDPG as in Fujimoto et al. 2018 (arXiv:1802.09477, algorithm 1): two critics, noise in
the target's actions, an update of the policy and the slow networks for every second one of the
critics. The loop around it is that of continuous_control.py; td3_pendulum_tensorflow.py and
td3_pendulum_jax.py compute the same updates.
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
from rlscope.workloads.torch_networks import Critics, Policy, follow
from rlscope.workloads.torch_training import (
    TorchArgs,
    compiled_step,
    compiler_of,
    on_device,
    run_training,
)


@dataclass
class Args(TorchArgs, continuous_control.TD3Args):
    """Where it is computed, and what is the same in every framework."""


class Trainer(continuous_control.Trainer):
    """One training run."""

    def __init__(self, args: Args) -> None:
        super().__init__(args)
        torch.manual_seed(args.seed)
        self.device = torch.device(args.device)
        actor = Policy(self.observations, self.scale, self.middle, args.hidden)
        self.actor = actor.to(self.device)
        critics = Critics(self.observations, self.actions, args.hidden)
        self.critics = critics.to(self.device)
        self.slow_actor = copy.deepcopy(self.actor).requires_grad_(False)
        self.slow_critics = copy.deepcopy(self.critics).requires_grad_(False)
        self.actor_optimizer = self._adam(self.actor)
        self.critic_optimizer = self._adam(self.critics)
        self.updates = 0
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
        """One update of the critics, and now and then of the policy and the slow copies."""
        with self.operation("sample"):
            batch = on_device(self.replay.sample(self.args.batch_size), self.device)
        with self.operation("target"), torch.no_grad():
            target = self.target(batch)
        with self.operation("critic"):
            with self.operation("forward"):
                loss = self.critic_loss(batch, target)
            self._descend(loss, self.critics, self.critic_optimizer)
        self.updates += 1
        if self.updates % self.args.policy_frequency == 0:
            self._learn_actor(batch.observation)

    def _learn_actor(self, observation: Tensor) -> None:
        """One update of the policy and the slow copies."""
        with self.operation("actor"):
            with self.operation("forward"):
                loss = self.actor_loss(observation)
            self._descend(loss, self.actor, self.actor_optimizer)
        with self.operation("target_update"), torch.no_grad():
            self.follow()

    def _target(self, batch: Batch) -> Tensor:
        """Reward, and discounted value of what the slow networks do and think of it next."""
        action = self.slow_actor(batch.following)
        bound = self.args.noise_clip
        noise = (self.args.policy_noise * self._noise(action)).clamp(-bound, bound)
        low, high = self.actor.middle - self.actor.scale, self.actor.middle + self.actor.scale
        action = torch.clamp(action + self.actor.scale * noise, low, high)
        value = self.slow_critics(batch.following, action).amin(dim=0)
        return batch.reward + self.args.gamma * (1.0 - batch.terminated) * value

    def _noise(self, action: Tensor) -> Tensor:
        """Standard normal numbers of the shape of the actions."""
        return torch.randn_like(action)

    def _critic_loss(self, batch: Batch, target: Tensor) -> Tensor:
        """How far both critics are from the target."""
        values = self.critics(batch.observation, batch.action)
        return (values - target).square().mean(dim=1).sum()

    def _actor_loss(self, observation: Tensor) -> Tensor:
        """Low where the first critic values what the policy does."""
        return -self.critics.first(observation, self.actor(observation)).mean()

    def _descend(self, loss: Tensor, network: nn.Module, optimizer: Optimizer) -> None:
        with self.operation("backprop"):
            optimizer.zero_grad()
            loss.backward(inputs=list(network.parameters()))
        with self.operation("optimizer"):
            optimizer.step()

    def _follow(self) -> None:
        follow(self.slow_actor.parameters(), self.actor.parameters(), self.args.tau)
        follow(self.slow_critics.parameters(), self.critics.parameters(), self.args.tau)

    def _adam(self, network: nn.Module) -> Optimizer:
        adam = torch.optim.Adam(network.parameters(), self.args.learning_rate)
        return compiled_step(adam, self.args)


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("TD3", parse_args(Args, "TD3 on Pendulum", argv), Trainer)


if __name__ == "__main__":
    main()

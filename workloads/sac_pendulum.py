"""SAC on Gymnasium's Pendulum-v1 with PyTorch, annotated for rlscope.

    rls-prof python workloads/sac_pendulum.py
    rls-prof python -m rlscope.workloads.sac_pendulum --env-id Hopper-v5 --total-timesteps 5000

Soft actor-critic as in Haarnoja et al. 2018 (arXiv:1812.05905): two critics and their slow copies,
a Gaussian policy squashed by tanh, a temperature that is learned. An iteration is one environment
step and the update that follows it; the first ones, up to `learning_starts`, have no update.
MuJoCo's tasks, such as Hopper-v5, need gymnasium[mujoco].
Runs alike with and without rls-prof: unrecorded annotations cost next to nothing.
"""

import copy
import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributions import Normal
from torch.optim import Optimizer

from rlscope.workloads import continuous_control
from rlscope.workloads.arguments import parse_args
from rlscope.workloads.replay import Batch
from rlscope.workloads.torch_networks import Critics, follow, perceptron
from rlscope.workloads.torch_training import (
    TorchArgs,
    compiled_step,
    compiler_of,
    on_device,
    run_training,
)


@dataclass
class Args(TorchArgs, continuous_control.Args):
    """The three Adams of SAC have one learning rate."""


class Actor(nn.Module):  # type: ignore[misc]
    """A Gaussian for each dimension of the action, squashed into the bounds of the action space."""

    def __init__(self, observations: int, scale: Any, middle: Any, hidden: int) -> None:
        super().__init__()
        self.layers = perceptron(observations, 2 * len(scale), hidden)
        self.register_buffer("scale", torch.as_tensor(scale))
        self.register_buffer("middle", torch.as_tensor(middle))

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Sampled actions and their log-probabilities, shape (batch,) (appendix C)."""
        mean, log_std = self.layers(observation).chunk(2, dim=-1)
        gaussian = Normal(mean, log_std.clamp(-20, 2).exp())
        wide = gaussian.rsample()
        # log(1 - tanh(x)^2), in a form that keeps its digits where tanh is close to 1.
        log_slope = 2 * (math.log(2) - wide - nn.functional.softplus(-2 * wide))
        log_prob = gaussian.log_prob(wide) - log_slope - self.scale.log()
        return self.middle + self.scale * wide.tanh(), log_prob.sum(dim=-1)


class Trainer(continuous_control.Trainer):
    """One training run."""

    def __init__(self, args: Args) -> None:
        super().__init__(args)
        torch.manual_seed(args.seed)
        self.device = torch.device(args.device)
        actor = Actor(self.observations, self.scale, self.middle, args.hidden)
        self.actor = actor.to(self.device)
        critics = Critics(self.observations, self.actions, args.hidden)
        self.critics = critics.to(self.device)
        self.slow_critics = copy.deepcopy(self.critics).requires_grad_(False)
        self.log_temperature = torch.zeros((), device=self.device, requires_grad=True)
        self.target_entropy = -float(self.actions)
        self.actor_optimizer = self._adam(self.actor.parameters())
        self.critic_optimizer = self._adam(self.critics.parameters())
        self.temperature_optimizer = self._adam([self.log_temperature])
        compiled = compiler_of(args)
        self.policy = compiled(self.actor)
        self.target = compiled(self._target)
        self.critic_loss = compiled(self._critic_loss)
        self.actor_loss = compiled(self._actor_loss)
        self.temperature_loss = compiled(self._temperature_loss)
        self.follow = compiled(self._follow)

    def act(self, observation: Any) -> Any:
        """A sampled action of the policy."""
        seen = torch.as_tensor(observation, device=self.device)
        with torch.no_grad():
            action, _ = self.policy(seen)
        return action.cpu().numpy()

    def learn(self) -> None:
        """One update of the critics, the policy, the temperature and the slow critics."""
        with self.operation("sample"):
            batch = on_device(self.replay.sample(self.args.batch_size), self.device)
        with self.operation("target"), torch.no_grad():
            target = self.target(batch)
        with self.operation("critic"):
            with self.operation("forward"):
                loss = self.critic_loss(batch, target)
            self._descend(loss, self.critic_optimizer)
        with self.operation("actor"):
            with self.operation("forward"):
                loss, log_prob = self.actor_loss(batch)
            self._descend(loss, self.actor_optimizer)
        with self.operation("temperature"):
            with self.operation("forward"):
                loss = self.temperature_loss(log_prob)
            self._descend(loss, self.temperature_optimizer)
        with self.operation("target_update"), torch.no_grad():
            self.follow()

    def _target(self, batch: Batch) -> Tensor:
        """Reward, and discounted value and entropy of what follows (equations 2 and 3)."""
        action, log_prob = self.actor(batch.following)
        value = self.slow_critics(batch.following, action).amin(dim=0)
        soft_value = value - self.log_temperature.exp() * log_prob
        return batch.reward + self.args.gamma * (1.0 - batch.terminated) * soft_value

    def _critic_loss(self, batch: Batch, target: Tensor) -> Tensor:
        """How far both critics are from the target (equation 5)."""
        values = self.critics(batch.observation, batch.action)
        return (values - target).square().mean(dim=1).sum()

    def _actor_loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Low for valuable and varied actions (equation 7); and their log-probabilities."""
        action, log_prob = self.actor(batch.observation)
        value = self.critics(batch.observation, action).amin(dim=0)
        loss = (self.log_temperature.exp().detach() * log_prob - value).mean()
        return loss, log_prob.detach()

    def _temperature_loss(self, log_prob: Tensor) -> Tensor:
        """Raises the temperature where the entropy is too low (equation 18)."""
        return -(self.log_temperature.exp() * (log_prob + self.target_entropy)).mean()

    def _follow(self) -> None:
        follow(self.slow_critics.parameters(), self.critics.parameters(), self.args.tau)

    def _descend(self, loss: Tensor, optimizer: Optimizer) -> None:
        with self.operation("backprop"):
            optimizer.zero_grad()
            loss.backward()
        with self.operation("optimizer"):
            optimizer.step()

    def _adam(self, parameters: Any) -> Optimizer:
        adam = torch.optim.Adam(parameters, self.args.learning_rate)
        return compiled_step(adam, self.args)


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("SAC", parse_args(Args, "SAC on Pendulum", argv), Trainer)


if __name__ == "__main__":
    main()

"""Proximal policy optimization: a rollout of many environments, then minibatches of it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

MINIBATCHES = 4
GAMMA, LAMBDA, CLIP = 0.99, 0.95, 0.2


class ProximalPolicy:
    """A body with two heads learns from the steps of one world.

    Args:
        world: `states`, and `step(actions)` for states, rewards and ends, in NumPy.
        body: of states to `width` features; on the GPU.
    """

    def __init__(self, world: Any, body: nn.Module, width: int, actions: int, steps: int) -> None:
        self.world, self.body, self.steps = world, body, steps
        self.policy, self.value = nn.Linear(width, actions).cuda(), nn.Linear(width, 1).cuda()
        every = [*body.parameters(), *self.policy.parameters(), *self.value.parameters()]
        self.optimizer = torch.optim.Adam(every, lr=2.5e-4)
        self._every = every

    def iterate(self) -> None:
        seen, chosen, densities, values, rewards, ends = self._roll_out()
        with torch.no_grad():
            last = self._judge(self._given(self.world.states))[1]
            gains = self._gains(values, rewards, ends, last)
        rows = torch.randperm(seen.shape[0] * seen.shape[1]).chunk(MINIBATCHES)
        flat = [each.flatten(0, 1) for each in (seen, chosen, densities, gains, gains + values)]
        for each in rows:
            self._learn(*(part[each.cuda()] for part in flat))

    @staticmethod
    def _given(values: Any) -> Tensor:
        return torch.from_numpy(values).cuda()

    def _judge(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities of all actions, and what a state is worth."""
        features = self.body(states.float())
        return self.policy(features).log_softmax(1), self.value(features)[:, 0]

    def _roll_out(self) -> tuple[Tensor, ...]:
        steps = [self._step() for _ in range(self.steps)]
        return tuple(torch.stack(each) for each in zip(*steps, strict=True))

    def _step(self) -> tuple[Tensor, ...]:
        states = self._given(self.world.states)
        with torch.no_grad():
            densities, values = self._judge(states)
            # The largest of the log-probabilities, each with a Gumbel number added: a sample.
            noise = -torch.empty_like(densities).exponential_().log()
            chosen = (densities + noise).argmax(1, keepdim=True).clamp(0, densities.shape[1] - 1)
            density = densities.gather(1, chosen)[:, 0]
        _, rewards, ends = self.world.step(chosen[:, 0].cpu().numpy())
        return states, chosen, density, values, self._given(rewards), self._given(ends).float()

    def _gains(self, values: Tensor, rewards: Tensor, ends: Tensor, last: Tensor) -> Tensor:
        """Generalized advantage estimation, from the last step to the first."""
        gains, gain, after = [], torch.zeros_like(last), last
        for value, reward, end in zip(
            reversed(values), reversed(rewards), reversed(ends), strict=True
        ):
            goes_on = 1 - end
            gain = reward + GAMMA * after * goes_on - value + GAMMA * LAMBDA * goes_on * gain
            after = value
            gains.append(gain)
        return torch.stack(gains[::-1])

    def _learn(
        self, states: Tensor, chosen: Tensor, old: Tensor, gains: Tensor, worth: Tensor
    ) -> None:
        densities, values = self._judge(states)
        ratio = (densities.gather(1, chosen)[:, 0] - old).exp()
        gains = (gains - gains.mean()) / (gains.std() + 1e-8)
        surrogate = torch.minimum(ratio * gains, ratio.clamp(1 - CLIP, 1 + CLIP) * gains)
        entropy = -(densities.exp() * densities).sum(1).mean()
        loss = 0.5 * (values - worth).square().mean() - surrogate.mean() - 0.01 * entropy
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self._every, 0.5)
        self.optimizer.step()

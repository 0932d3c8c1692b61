"""GRPO for a language model that this file builds, with PyTorch, annotated for rlscope.

    rls-prof python workloads/grpo_tiny.py
    rls-prof python -m rlscope.workloads.grpo_tiny --digits 6 --total-timesteps 2000000

Group relative policy optimization as in Shao et al. 2024 (arXiv:2402.03300): several answers to
each prompt, a reward that a rule can verify, the group's mean as the baseline, a clipped ratio, and
a penalty for leaving the reference model. The model is a decoder-only transformer, at first with
random weights. It sees digits, as "3 1 4 1 =", and has to answer with the same ones in order,
"1 1 3 4". The reward is the share of digits that are right. Answers are sampled with a cache of
keys and values.
Runs alike with and without rls-prof: unrecorded annotations cost next to nothing.
"""

import copy
import math
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

import rlscope as rls
from rlscope.workloads.arguments import Count, Device, parse_args
from rlscope.workloads.torch_training import seed_everything
from rlscope.workloads.training_run import no_operation

_DIGITS = 10
_EQUALS = 10
_VOCABULARY = 11


@dataclass
class Args:
    seed: int = 1
    """seed of every random number generator"""
    total_timesteps: Count = 400_000
    """tokens that are sampled in the whole run, rounded up to whole iterations"""
    digits: Count = 4
    """of a prompt and of an answer"""
    prompts: Count = 32
    """different prompts of one iteration"""
    group_size: Count = 8
    """answers to each prompt"""
    update_epochs: Count = 2
    """passes over the answers of one iteration, one optimizer step each"""
    width: Count = 64
    """of the model, a multiple of the heads"""
    layers: Count = 2
    """of the model"""
    heads: Count = 4
    """of the attention in each layer"""
    learning_rate: float = 1e-3
    """of Adam"""
    clip_coef: float = 0.2
    """how far a policy may move from the one that sampled"""
    kl_coef: float = 0.01
    """weight of the penalty for leaving the reference model"""
    reference_every: Count = 50
    """iterations between two copies of the model into the reference model"""
    max_grad_norm: float = 1.0
    """gradients are scaled down to this norm"""
    device: Device = "cpu"
    """where the models are: cpu, cuda, ..."""
    torch_threads: Count = 1
    """threads of PyTorch; a model this small is slower with more"""
    annotate: bool = True
    """annotate operations for rlscope (--no-annotate: measure without)"""
    print_every: int = 100
    """iterations between lines of progress, 0: none"""


class Cache:
    """Keys and values of the tokens so far, for each layer; shape (batch, heads, tokens, size)."""

    def __init__(self, layers: int) -> None:
        self.layers: list[tuple[Tensor, Tensor] | None] = [None] * layers

    def __len__(self) -> int:
        first = self.layers[0]
        return 0 if first is None else first[0].shape[2]

    def extend(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Adds those of new tokens; returns all."""
        before = self.layers[layer]
        if before is not None:
            key = torch.cat([before[0], key], dim=2)
            value = torch.cat([before[1], value], dim=2)
        self.layers[layer] = (key, value)
        return key, value


class Layer(nn.Module):  # type: ignore[misc]
    """Attention to the tokens before, then a network for each token."""

    def __init__(self, index: int, width: int, heads: int) -> None:
        super().__init__()
        self.index, self.heads = index, heads
        self.before_attention = nn.LayerNorm(width)
        self.attention = nn.Linear(width, 3 * width)
        self.mixed = nn.Linear(width, width)
        self.network = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, features: Tensor, cache: Cache | None) -> Tensor:
        """The output has the shape of the input: (batch, tokens, width)."""
        features = features + self.mixed(self._attend(self.before_attention(features), cache))
        return features + self.network(features)

    def _attend(self, features: Tensor, cache: Cache | None) -> Tensor:
        batch, tokens, width = features.shape
        heads = self.attention(features).view(batch, tokens, 3 * self.heads, width // self.heads)
        query, key, value = heads.transpose(1, 2).chunk(3, dim=1)
        if cache is not None:
            key, value = cache.extend(self.index, key, value)
        # A single token may see all that are there: only more of them need to be kept apart.
        attended = nn.functional.scaled_dot_product_attention(
            query, key, value, is_causal=tokens > 1
        )
        return attended.transpose(1, 2).reshape(batch, tokens, width)


class LanguageModel(nn.Module):  # type: ignore[misc]
    """A decoder-only transformer."""

    def __init__(self, context: int, width: int, layers: int, heads: int) -> None:
        super().__init__()
        self.token = nn.Embedding(_VOCABULARY, width)
        self.place = nn.Embedding(context, width)
        self.layers = nn.ModuleList(Layer(index, width, heads) for index in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, _DIGITS)

    def forward(self, tokens: Tensor, cache: Cache | None = None) -> Tensor:
        """Logits of the digit after each token, (batch, tokens, 10).

        With a cache these are the tokens after those that are in it, and are added to it: any
        number if it is empty, then one at a time.
        """
        start = 0 if cache is None else len(cache)
        places = torch.arange(start, start + tokens.shape[1], device=tokens.device)
        features = self.token(tokens) + self.place(places)
        for layer in self.layers:
            features = layer(features, cache)
        return self.head(self.norm(features))

    def log_probs(self, prompt: Tensor, answer: Tensor) -> Tensor:
        """For each digit of answers to prompts, in the shape of the answers."""
        tokens = torch.cat([prompt, answer[:, :-1]], dim=1)
        logits = self(tokens)[:, prompt.shape[1] - 1 :]
        return logits.log_softmax(dim=-1).gather(-1, answer[..., None]).squeeze(-1)


class Rollout(NamedTuple):
    """Answers of one iteration; the first dimension is the answer, those of a prompt together."""

    prompt: Tensor
    answer: Tensor
    log_prob: Tensor
    """of each digit of the answer, from the model that sampled it"""


class Trainer:
    """One training run; `train` is the loop."""

    def __init__(self, args: Args) -> None:
        self.args = args
        seed_everything(args.seed)
        self.operation: Any = rls.operation if args.annotate else no_operation
        self.device = torch.device(args.device)
        context = 2 * args.digits
        model = LanguageModel(context, args.width, args.layers, args.heads)
        self.model = model.to(self.device)
        self.reference = copy.deepcopy(self.model).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.model.parameters(), args.learning_rate)
        self.rewards: list[float] = []
        """mean of each iteration"""

    def train(self) -> None:
        """Runs all iterations."""
        args = self.args
        tokens = args.prompts * args.group_size * args.digits
        iterations = math.ceil(args.total_timesteps / tokens)
        for iteration in range(iterations):
            if args.annotate:
                rls.iteration()
                rls.progress(iteration, iterations)
            if iteration % args.reference_every == 0:
                self.reference.load_state_dict(self.model.state_dict())
            self.run_iteration()
            self._print_progress(iteration + 1, iterations)
        if args.annotate:
            rls.progress(iterations, iterations)

    def run_iteration(self) -> None:
        """Samples answers, rewards them and learns from them."""
        with self.operation("rollout"), torch.no_grad():
            rollout = self.sample(self._prompts())
        with self.operation("reward"):
            reward = rewards(rollout)
            advantage = group_advantages(reward, self.args.group_size)
        with self.operation("reference"), torch.no_grad():
            reference = self.reference.log_probs(rollout.prompt, rollout.answer)
        for _ in range(self.args.update_epochs):
            with self.operation("update"):
                self._update(rollout, advantage, reference)
        self.rewards.append(float(reward.mean()))

    def _prompts(self) -> Tensor:
        """Random digits and an equals sign, each prompt as often as its group is large."""
        args = self.args
        digits = torch.randint(_DIGITS, (args.prompts, args.digits), device=self.device)
        prompts = nn.functional.pad(digits, (0, 1), value=_EQUALS)
        return prompts.repeat_interleave(args.group_size, dim=0)

    def sample(self, prompt: Tensor) -> Rollout:
        """Answers to prompts, digit by digit."""
        cache = Cache(self.args.layers)
        answer: list[Tensor] = []
        log_prob: list[Tensor] = []
        with self.operation("prefill"):
            logits = self.model(prompt, cache)[:, -1]
        for index in range(self.args.digits):
            with self.operation("decode"):
                if index:
                    logits = self.model(answer[-1], cache)[:, -1]
                log_probs = logits.log_softmax(dim=-1)
                digit = log_probs.exp().multinomial(1)
            answer.append(digit)
            log_prob.append(log_probs.gather(-1, digit))
        return Rollout(prompt, torch.cat(answer, dim=1), torch.cat(log_prob, dim=1))

    def _update(self, rollout: Rollout, advantage: Tensor, reference: Tensor) -> None:
        """One step of the optimizer on all answers."""
        with self.operation("forward"):
            loss = self._loss(rollout, advantage, reference)
        with self.operation("backprop"):
            self.optimizer.zero_grad()
            loss.backward()
        with self.operation("optimizer"):
            nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_grad_norm)
            self.optimizer.step()

    def _loss(self, rollout: Rollout, advantage: Tensor, reference: Tensor) -> Tensor:
        """Clipped surrogate objective and divergence from the reference (equations 3 and 4)."""
        log_prob = self.model.log_probs(rollout.prompt, rollout.answer)
        ratio = (log_prob - rollout.log_prob).exp()
        clipped = ratio.clamp(1 - self.args.clip_coef, 1 + self.args.clip_coef)
        weight = advantage[:, None]
        objective = torch.min(ratio * weight, clipped * weight)
        away = reference - log_prob
        divergence = away.exp() - away - 1
        return (self.args.kl_coef * divergence - objective).mean()

    def _print_progress(self, done: int, iterations: int) -> None:
        every = self.args.print_every
        if every and (done % every == 0 or done == iterations):
            mean = np.mean(self.rewards[-20:])
            print(f"iteration {done}/{iterations}: mean reward of 20 iterations {mean:.3f}")


def rewards(rollout: Rollout) -> Tensor:
    """Share of the digits of each answer that are right, shape (answers,)."""
    ordered = rollout.prompt[:, :-1].sort(dim=1).values
    return (rollout.answer == ordered).float().mean(dim=1)


def group_advantages(reward: Tensor, group_size: int) -> Tensor:
    """Rewards against the mean of their group, in its standard deviations, shape (answers,)."""
    groups = reward.view(-1, group_size)
    deviation = groups.std(dim=1, keepdim=True, unbiased=False)
    return ((groups - groups.mean(dim=1, keepdim=True)) / (deviation + 1e-4)).flatten()


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    args = parse_args(Args, "GRPO of a tiny language model", argv)
    torch.set_num_threads(args.torch_threads)
    if args.annotate:
        rls.process("trainer")
        rls.metadata(algorithm="GRPO", environment="sorting digits", **vars(args))
    trainer = Trainer(args)
    start = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - start
    mean = np.mean(trainer.rewards[-20:])
    print(f"trained in {seconds:.1f} s; mean reward of the last 20 iterations {mean:.3f}")


if __name__ == "__main__":
    main()

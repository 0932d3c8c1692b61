"""The parts of GRPO, each against a slower way to compute it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")

from rlscope.workloads.grpo_tiny import (  # noqa: E402
    Args,
    Rollout,
    Trainer,
    group_advantages,
    rewards,
)

_BRIEF = Args(total_timesteps=200, digits=3, prompts=4, group_size=5, width=16, annotate=False)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """More are many times slower on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _rollout(trainer: Trainer) -> Rollout:
    with torch.no_grad():
        return trainer.sample(trainer._prompts())


def test_answers_with_a_cache_have_the_chances_of_those_without() -> None:
    trainer = Trainer(_BRIEF)
    rollout = _rollout(trainer)
    assert rollout.answer.shape == rollout.log_prob.shape == (20, 3)
    again = trainer.model.log_probs(rollout.prompt, rollout.answer)
    torch.testing.assert_close(again, rollout.log_prob, rtol=1e-4, atol=1e-5)
    # Token by token, each time from the first one.
    for index in range(3):
        tokens = torch.cat([rollout.prompt, rollout.answer[:, :index]], dim=1)
        chances = trainer.model(tokens)[:, -1].log_softmax(dim=-1)
        digit = rollout.answer[:, index : index + 1]
        torch.testing.assert_close(
            chances.gather(-1, digit).squeeze(-1), rollout.log_prob[:, index], rtol=1e-4, atol=1e-5
        )


def test_reward_is_the_share_of_digits_in_their_place() -> None:
    equals = 10
    prompt = torch.tensor([[3, 1, 2, equals], [3, 1, 2, equals], [7, 7, 0, equals]])
    answer = torch.tensor([[1, 2, 3], [3, 2, 1], [0, 7, 1]])
    rollout = Rollout(prompt, answer, torch.zeros(3, 3))
    torch.testing.assert_close(rewards(rollout), torch.tensor([1.0, 1 / 3, 2 / 3]))


def test_advantages_compare_the_answers_to_a_prompt_only() -> None:
    reward = torch.tensor([0.0, 1.0, 10.0, 14.0, 5.0, 5.0])
    found = group_advantages(reward, group_size=2)
    expected = torch.tensor([-1.0, 1.0, -1.0, 1.0, 0.0, 0.0])
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)


def test_first_loss_has_ratio_one_and_no_divergence() -> None:
    trainer = Trainer(_BRIEF)
    rollout = _rollout(trainer)
    advantage = torch.linspace(-1.0, 2.0, 20)
    reference = trainer.reference.log_probs(rollout.prompt, rollout.answer)
    loss = trainer._loss(rollout, advantage, reference)
    torch.testing.assert_close(loss, -advantage.mean(), rtol=1e-4, atol=1e-5)


def test_update_makes_good_answers_more_likely() -> None:
    trainer = Trainer(_BRIEF)
    rollout = _rollout(trainer)
    advantage = torch.where(torch.arange(20) % 2 == 0, 1.0, -1.0)
    reference = trainer.reference.log_probs(rollout.prompt, rollout.answer).detach()
    trainer._update(rollout, advantage, reference)
    moved = trainer.model.log_probs(rollout.prompt, rollout.answer) - rollout.log_prob
    assert moved[0::2].mean() > moved[1::2].mean()


def test_same_seed_trains_the_same() -> None:
    runs = []
    for _ in range(2):
        trainer = Trainer(_BRIEF)
        trainer.train()
        runs.append(trainer.rewards)
    assert runs[0] == runs[1]
    assert len(runs[0]) == 4  # of 60 tokens each

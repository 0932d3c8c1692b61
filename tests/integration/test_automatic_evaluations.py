"""Evaluations by trainers of libraries: one operation, whatever the agent does in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.process.automatic_programs import names
from support.process.installed import need
from support.process.recorded_child import record

_BEGIN = """
import logging, warnings
warnings.simplefilter("ignore")
logging.disable()
import rlscope.auto
rlscope.auto.begin()
import gymnasium, torch
torch.set_num_threads(1)
"""
# As CleanRL writes evaluations; its cleanrl_utils is a folder of its repository.
_CLEANRL_MODULE = """
import torch

def evaluate(model, environment, episodes):
    for episode in range(episodes):
        observation, _ = environment.reset(seed=episode)
        over = False
        while not over:
            action = int(model(torch.Tensor(observation)).argmax())
            observation, _, over, cut, _ = environment.step(action)
            over |= cut
"""
_CLEANRL = """
from cleanrl_utils.evals.dqn_eval import evaluate
env = gymnasium.make("CartPole-v1")
env.reset()
evaluate(torch.nn.Linear(4, 2), gymnasium.make("CartPole-v1"), 2)
env.step(0)
evaluate(torch.nn.Linear(4, 2), gymnasium.make("CartPole-v1"), episodes=2)
"""
_TIANSHOU = """
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

spaces = gymnasium.make("CartPole-v1")
make = lambda: DummyVectorEnv([lambda: gymnasium.make("CartPole-v1")])
net = Net(state_shape=(4,), action_shape=2, hidden_sizes=[8])
policy = DiscreteQLearningPolicy(model=net, action_space=spaces.action_space)
algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3))
collects = Collector(algorithm, make(), VectorReplayBuffer(100, 1))
collects.collect(n_step=32, reset_before_collect=True)
algorithm.run_training(OffPolicyTrainerParams(
    training_collector=collects, test_collector=Collector(algorithm, make()), max_epochs=1,
    epoch_num_steps=10, collection_step_num_env_steps=10, test_step_num_episodes=1,
    batch_size=8, update_step_num_gradient_steps_per_sample=0.1, verbose=False,
    show_progress=False,
))
"""
_SKRL = """
from skrl.trainers.torch import SequentialTrainer
env = gymnasium.make("CartPole-v1")
class Mine(SequentialTrainer):
    def __init__(self):
        pass  # with neither an agent nor an environment of skrl
    def eval(self):
        env.reset()
        torch.nn.Linear(4, 2)(torch.ones(4))
        env.step(0)
        assert "eval" in vars(SequentialTrainer)
env.reset()
Mine().eval()
env.step(0)
Mine().eval()
"""
_TORCHRL = """
from tensordict.nn import TensorDictModule
from torchrl.envs import Compose, GymEnv, TransformedEnv
from torchrl.trainers.trainers import LogValidationReward
env = TransformedEnv(GymEnv("CartPole-v1", categorical_action_encoding=True), Compose())
net = torch.nn.Linear(4, 2)
policy = TensorDictModule(lambda x: net(x).argmax(-1), ["observation"], ["action"])
evaluate = LogValidationReward(
    record_interval=1, record_frames=8, policy_exploration=policy, environment=env
)
for _ in range(2):
    gymnasium.make("CartPole-v1").reset()
    assert evaluate(None)
    env = TransformedEnv(GymEnv("CartPole-v1", categorical_action_encoding=True), Compose())
    evaluate.environment = env  # the last one is closed
"""
_OPEN_SPIEL = """
import pyspiel
from open_spiel.python import policy
from open_spiel.python.algorithms import exploitability
game = pyspiel.load_game("kuhn_poker")
uniform = policy.UniformRandomPolicy(game)
gymnasium.make("CartPole-v1").reset()
exploitability.exploitability(game, uniform)
exploitability.nash_conv(game, uniform)
"""
_TRANSFORMERS = """
import tempfile
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
model = GPT2LMHeadModel(GPT2Config(vocab_size=9, n_positions=8, n_embd=8, n_layer=1, n_head=1))
texts = [{"input_ids": [1, 2, 3], "labels": [1, 2, 3]}] * 4
gymnasium.make("CartPole-v1").reset()
class Mine(Trainer):
    def evaluate(self, *args, **kwargs):
        return super().evaluate(*args, **kwargs)
with tempfile.TemporaryDirectory() as folder:
    options = TrainingArguments(folder, report_to="none", use_cpu=True, disable_tqdm=True)
    for kind in (Trainer, Mine):
        kind(model, options, eval_dataset=texts).evaluate()
"""
_LIBRARIES = {
    "gymnasium": _CLEANRL,
    "tianshou": _TIANSHOU,
    "skrl": _SKRL,
    "torchrl": _TORCHRL,
    "open_spiel": _OPEN_SPIEL,
    "transformers": _TRANSFORMERS,
}


@pytest.mark.parametrize("library", _LIBRARIES)
def test_a_trainer_evaluates(directory: str, library: str) -> None:
    need("torch", library)
    folder = Path(directory).parent / "cleanrl_utils"
    (folder / "evals").mkdir(parents=True)
    (folder / "evals" / "dqn_eval.py").write_text(_CLEANRL_MODULE)
    path = f"import sys\nsys.path.insert(0, {str(folder.parent)!r})\n"
    recorded = record(directory, path + _BEGIN + _LIBRARIES[library], timeout=300)
    others = ("import", "compilation", "closing")
    found = [name for name in names(recorded) if name not in others]
    assert found.count("evaluation") == 2
    outside = {name for name in found if name != "evaluation"}
    assert (outside == {"simulation"}) is (library != "tianshou")  # which also trains

"""Deep Q-learning of TorchRL on CartPole, with its collector, replay buffer, loss and target."""

import torch
from stopwatch import Stopwatch
from tensordict.nn import TensorDictSequential
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.envs import GymEnv, StepCounter, TransformedEnv
from torchrl.modules import MLP, EGreedyModule, QValueActor
from torchrl.objectives import DQNLoss, SoftUpdate


def update(buffer, loss_module, optimizer, target):
    batch = buffer.sample()
    loss = loss_module(batch)["loss"]
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    target.step()


def main():
    torch.manual_seed(1)
    env = TransformedEnv(GymEnv("CartPole-v1"), StepCounter())
    env.set_seed(1)
    net = MLP(in_features=4, out_features=2, num_cells=[64, 64])
    actor = QValueActor(net, spec=env.action_spec, in_keys=["observation"])
    explore = EGreedyModule(env.action_spec, eps_init=0.2, eps_end=0.05, annealing_num_steps=3000)
    policy = TensorDictSequential(actor, explore)
    buffer = TensorDictReplayBuffer(storage=LazyTensorStorage(10_000), batch_size=64)
    loss_module = DQNLoss(actor, action_space=env.action_spec, delay_value=True)
    loss_module.make_value_estimator(gamma=0.99)
    target = SoftUpdate(loss_module, tau=0.01)
    optimizer = torch.optim.Adam(loss_module.parameters(), lr=1e-3)

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", env, "step_and_maybe_reset", "reset")
    stopwatch.wrap("inference", policy, "forward")
    stopwatch.wrap("replay", buffer, "extend", "sample")
    learn = stopwatch.timed("learning", update)
    collector = Collector(env, policy, frames_per_batch=32, total_frames=3200)
    with stopwatch:
        for data in collector:
            buffer.extend(data)
            explore.step(data.numel())
            for _ in range(8):
                learn(buffer, loss_module, optimizer, target)
    collector.shutdown()


if __name__ == "__main__":
    main()

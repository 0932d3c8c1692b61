"""Deep Q-learning of Stable-Baselines3 on CartPole, its network on the GPU; not annotated."""

from __future__ import annotations

from driver import say
from stable_baselines3 import DQN

STEPS = 2000

if __name__ == "__main__":
    model = DQN("MlpPolicy", "CartPole-v1", device="cuda", seed=1, learning_starts=200)
    model.learn(STEPS)
    say(steps=STEPS)

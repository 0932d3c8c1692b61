"""The quick start of Stable-Baselines3: its lines are the program's own by `rls-prof --source`."""

import gymnasium as gym
from stable_baselines3 import PPO

model = PPO("MlpPolicy", gym.make("CartPole-v1"), device="cpu")
model.learn(total_timesteps=50_000)

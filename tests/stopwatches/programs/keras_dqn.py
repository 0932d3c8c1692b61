"""Deep Q-learning with Keras's own methods of models on CartPole, and a deque of transitions."""

import os
import random
import sys
from collections import deque

os.environ.setdefault("KERAS_BACKEND", "jax")

import gymnasium as gym
import keras
import numpy as np
from stopwatch import Stopwatch


class Agent:
    def __init__(self, observations, actions):
        self.memory, self.actions = deque(maxlen=5000), actions
        self.model, self.target = (self._network(observations) for _ in range(2))
        self.target.set_weights(self.model.get_weights())

    def _network(self, observations):
        model = keras.Sequential(
            [
                keras.Input((observations,)),
                keras.layers.Dense(32, activation="relu"),
                keras.layers.Dense(32, activation="relu"),
                keras.layers.Dense(self.actions),
            ]
        )
        model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
        return model

    def remember(self, *transition):
        self.memory.append(transition)

    def act(self, obs, epsilon):
        if random.random() < epsilon:
            return random.randrange(self.actions)
        return int(np.argmax(self.model.predict_on_batch(obs[None])[0]))

    def draw(self, n):
        return [np.array(column) for column in zip(*random.sample(self.memory, n), strict=True)]

    def replay(self, n=32):
        obs, actions, rewards, following, done = self.draw(n)
        best = self.target.predict_on_batch(following).max(axis=1)
        values = np.array(self.model.predict_on_batch(obs))
        values[np.arange(n), actions] = rewards + 0.99 * best * (1 - done)
        self.model.train_on_batch(obs, values)


def main(steps):
    random.seed(1)
    keras.utils.set_random_seed(1)
    env = gym.make("CartPole-v1")
    agent = Agent(4, 2)

    stopwatch = Stopwatch()
    stopwatch.watch_jax()
    stopwatch.wrap("simulation", env, "step", "reset")
    stopwatch.wrap("inference", agent, "act")
    stopwatch.wrap("replay", agent, "remember", "draw")
    stopwatch.wrap("learning", agent, "replay")
    with stopwatch:
        obs, _ = env.reset(seed=1)
        for step in range(steps):
            action = agent.act(obs, max(0.1, 1 - step / 4000))
            following, reward, terminated, truncated, _ = env.step(action)
            agent.remember(obs, action, np.float32(reward), following, np.float32(terminated))
            obs = following
            if terminated or truncated:
                obs, _ = env.reset()
            if step > 100 and step % 2 == 0:
                agent.replay()
            if step % 200 == 0:
                agent.target.set_weights(agent.model.get_weights())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 6000)

"""A replay memory in arrays, as the programs that learn off-policy share it."""

import numpy as np
import torch


class ReplayBuffer:
    def __init__(self, size, observations, actions, action_type=np.float32):
        self.observations, self.next_observations = (
            np.zeros((size, observations), np.float32) for _ in range(2)
        )
        self.actions = np.zeros((size, actions), action_type)
        self.rewards, self.dones = (np.zeros((size, 1), np.float32) for _ in range(2))
        self.count = 0

    def add(self, obs, next_obs, action, reward, done):
        place = self.count % len(self.rewards)
        self.observations[place], self.next_observations[place] = obs, next_obs
        self.actions[place], self.rewards[place], self.dones[place] = action, reward, done
        self.count += 1

    def sample(self, batch_size):
        chosen = np.random.randint(0, min(self.count, len(self.rewards)), batch_size)
        columns = (
            *(self.observations, self.next_observations, self.actions, self.rewards, self.dones),
        )
        return [torch.as_tensor(column[chosen]).to("cpu") for column in columns]

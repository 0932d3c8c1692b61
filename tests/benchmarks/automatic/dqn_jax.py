"""Deep Q-learning (Mnih et al. 2015) on CartPole in JAX, replay memory and target network.

What each compiled function is for, only its name says. Its first call, which compiles it, comes
before the loop. What it returned before is freed outside of the next call's block: that takes 2 to
4 us, and is no part of the function.
"""

import random

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np

from rlscope import operation


def make_network(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(each, (before, after)) / np.sqrt(before), jnp.zeros(after))
        for each, before, after in zip(keys, sizes, sizes[1:], strict=False)
    ]


def q_values(network, x):
    *hidden, last = network
    for weights, bias in hidden:
        x = jax.nn.relu(x @ weights + bias)
    return x @ last[0] + last[1]


@jax.jit
def act(network, obs):
    return q_values(network, obs).argmax(axis=-1)


@jax.jit
def update(network, target_network, batch):
    observations, next_observations, actions, rewards, dones = batch

    def loss(network):
        best = q_values(target_network, next_observations).max(axis=-1)
        target = jax.lax.stop_gradient(rewards + 0.99 * best * (1 - dones))
        chosen = jnp.take_along_axis(q_values(network, observations), actions[:, None], axis=1)
        return ((chosen[:, 0] - target) ** 2).mean()

    value, gradients = jax.value_and_grad(loss)(network)
    return jax.tree.map(lambda each, slope: each - 1e-3 * slope, network, gradients), value


def sample(transitions, batch_size):
    columns = zip(*random.sample(transitions, batch_size), strict=True)
    return [np.array(column) for column in columns]


def train(total_timesteps, seed=1, batch_size=128, learning_starts=200, train_frequency=4):
    random.seed(seed)
    env = gym.make("CartPole-v1")
    network = make_network(jax.random.PRNGKey(seed), (4, 120, 84, 2))
    target_network, transitions = network, []
    with operation("warm-up"):
        act(network, np.zeros(4, np.float32))
        empty = [(np.zeros(4, np.float32),) * 2 + (np.int32(0),) + (np.float32(0),) * 2]
        update(network, target_network, sample(empty * batch_size, batch_size))
    with operation("simulation"):
        obs, _ = env.reset(seed=seed)
    for step in range(total_timesteps):
        if random.random() < max(0.05, 1.0 - step / (0.5 * total_timesteps)):
            with operation("inference"):
                action = env.action_space.sample()
        else:
            with operation("inference"):
                action = int(act(network, obs))
        with operation("simulation"):
            next_obs, reward, terminated, truncated, _ = env.step(action)
        transition = obs, next_obs, np.int32(action), np.float32(reward), np.float32(terminated)
        transitions.append(transition)
        obs = next_obs
        if terminated or truncated:
            with operation("simulation"):
                obs, _ = env.reset()
        if step >= learning_starts and step % train_frequency == 0:
            batch = sample(transitions, batch_size)
            with operation("update:update"):
                updated = update(network, target_network, batch)
            network, _ = updated
            del updated
            if step % 100 == 0:
                target_network = network


if __name__ == "__main__":
    train(3000)

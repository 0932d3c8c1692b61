"""Advantage actor-critic in plain JAX on a vector of CartPoles: jitted acting and learning."""

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import optax
from stopwatch import Stopwatch

ENVS, STEPS, UPDATES = 8, 32, 400


def make_parameters(key, sizes=(4, 64, 64)):
    keys = jax.random.split(key, 4)
    body = [
        (jax.random.normal(k, (a, b)) / np.sqrt(a), jnp.zeros(b))
        for k, a, b in zip(keys, sizes[:-1], sizes[1:], strict=False)
    ]
    head, value = (jax.random.normal(k, (64, n)) / 8 for k, n in zip(keys[2:], (2, 1), strict=True))
    return {"body": body, "head": head, "value": value}


def network(parameters, x):
    for weight, bias in parameters["body"]:
        x = jnp.tanh(x @ weight + bias)
    return x @ parameters["head"], (x @ parameters["value"])[..., 0]


optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(7e-4))


@jax.jit
def select_action(parameters, obs, key):
    key, own = jax.random.split(key)
    logits, _ = network(parameters, obs)
    return jax.random.categorical(own, logits), key


@jax.jit
def train_step(parameters, state, batch):
    obs, actions, rewards, dones, last = batch

    def returns(value, row):
        reward, done = row
        value = reward + 0.99 * value * (1 - done)
        return value, value

    def loss_of(parameters):
        _, bootstrap = network(parameters, last)
        _, targets = jax.lax.scan(returns, bootstrap, (rewards, dones), reverse=True)
        logits, values = network(parameters, obs)
        advantages = jax.lax.stop_gradient(targets) - values
        chances = jax.nn.log_softmax(logits)
        chosen = jnp.take_along_axis(chances, actions[..., None], -1)[..., 0]
        entropy = -(jnp.exp(chances) * chances).sum(-1).mean()
        policy = -(chosen * jax.lax.stop_gradient(advantages)).mean()
        return policy + 0.5 * (advantages**2).mean() - 0.01 * entropy

    loss, gradients = jax.value_and_grad(loss_of)(parameters)
    updates, state = optimizer.update(gradients, state)
    return optax.apply_updates(parameters, updates), state, loss


def main():
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(ENVS)])
    key = jax.random.PRNGKey(1)
    parameters = make_parameters(key)
    state = optimizer.init(parameters)

    stopwatch = Stopwatch()
    stopwatch.watch_jax()
    stopwatch.wrap("simulation", envs, "step", "reset")
    act = stopwatch.timed("inference", select_action, then=jax.block_until_ready)
    learn = stopwatch.timed("learning", train_step, then=jax.block_until_ready)
    with stopwatch:
        obs, _ = envs.reset(seed=1)
        for _ in range(UPDATES):
            rows = []
            for _ in range(STEPS):
                action, key = act(parameters, obs, key)
                action = np.asarray(action)
                next_obs, reward, terminated, truncated, _ = envs.step(action)
                done = np.logical_or(terminated, truncated)
                rows.append((obs, action, reward.astype(np.float32), done.astype(np.float32)))
                obs = next_obs
            batch = [np.stack(column) for column in zip(*rows, strict=True)]
            parameters, state, _ = learn(parameters, state, (*batch, obs))


if __name__ == "__main__":
    main()

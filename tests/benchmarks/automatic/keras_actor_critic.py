"""Actor and critic of one network (Konda and Tsitsiklis 1999) on CartPole, in eager Keras.

An episode is played while a tape is open, and learned from at its end.
"""

import os

os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import gymnasium as gym
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

from rlscope import operation


def build_model(env):
    inputs = layers.Input(shape=env.observation_space.shape)
    common = layers.Dense(128, activation="relu")(inputs)
    action = layers.Dense(int(env.action_space.n), activation="softmax")(common)
    critic = layers.Dense(1)(common)
    return keras.Model(inputs=inputs, outputs=[action, critic])


def expected_returns(rewards, gamma=0.99):
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + gamma * total
        returns.append(total)
    array = np.array(returns[::-1])
    return (array - array.mean()) / (array.std() + 1e-7)


def train(episodes, seed=1):
    keras.utils.set_random_seed(seed)
    env = gym.make("CartPole-v1")
    model = build_model(env)
    optimizer = keras.optimizers.Adam(learning_rate=0.01)
    huber_loss = keras.losses.Huber()
    for episode in range(episodes):
        with operation("simulation"):
            state, _ = env.reset(seed=seed + episode)
        log_probabilities, values, rewards = [], [], []
        tape = tf.GradientTape()
        with tape:
            done = False
            while not done:
                with operation("inference"):
                    state = ops.expand_dims(ops.convert_to_tensor(state), 0)
                    probabilities, value = model(state)
                    chances = np.squeeze(probabilities)
                    action = np.random.choice(2, p=chances / chances.sum())
                    log_probabilities.append(ops.log(probabilities[0, action]))
                    values.append(value[0, 0])
                with operation("simulation"):
                    state, reward, terminated, truncated, _ = env.step(action)
                done = terminated or truncated
                rewards.append(reward)
        with operation("backprop"):
            losses = []
            history = zip(log_probabilities, values, expected_returns(rewards), strict=True)
            with tape:
                for log_probability, value, target in history:
                    losses.append(-log_probability * (target - value))
                    losses.append(huber_loss(ops.expand_dims(value, 0), ops.expand_dims(target, 0)))
                loss = sum(losses)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))


if __name__ == "__main__":
    train(20)

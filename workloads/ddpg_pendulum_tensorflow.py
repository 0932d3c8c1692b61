"""DDPG on Gymnasium's Pendulum-v1 with TensorFlow, annotated for rlscope.

    rls-prof python workloads/ddpg_pendulum_tensorflow.py
    rls-prof python -m rlscope.workloads.ddpg_pendulum_tensorflow --mode graph

The same networks, hyper-parameters and updates as in ddpg_pendulum.py, executed in one of three
ways. With --mode eager an update is the operations target, critic, actor and target_update. With
function and graph it is one call, in which they cannot be told apart: operation `update`.
Runs alike with and without rls-prof: unrecorded annotations cost next to nothing.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from rlscope.workloads import continuous_control
from rlscope.workloads.arguments import parse_args
from rlscope.workloads.initial_weights import uniform_weights
from rlscope.workloads.replay import Batch
from rlscope.workloads.tensorflow_training import (
    Adam,
    TensorFlowArgs,
    execution_of,
    follow,
    perceptron,
    run_training,
    variables,
)
from rlscope.workloads.training_run import no_operation


@dataclass
class Args(TensorFlowArgs, continuous_control.DDPGArgs):
    """How it is executed, and what is the same in every framework."""


class Trainer(continuous_control.Trainer):
    """One training run."""

    def __init__(self, args: Args) -> None:
        super().__init__(args)
        eager = args.mode == "eager"
        self.part = self.operation if eager else no_operation
        self.whole = no_operation if eager else self.operation
        self.execution = execution_of(args)
        with self.execution.scope():
            tf.random.set_seed(args.seed)
            self._make_networks()
            size, seen, done = args.batch_size, self.observations, self.actions
            shapes = (size, seen), (size, done), (size,), (size, seen), (size,)
            self.policy = self.execution.compiled(self._policy, (1, seen))
            self.update = self.execution.compiled(self._update, *shapes)
            self.execution.start()

    def _make_networks(self) -> None:
        rate, hidden = self.args.learning_rate, self.args.hidden
        actor = uniform_weights(self.observations, self.actions, hidden)
        critic = uniform_weights(self.observations + self.actions, 1, hidden)
        self.actor, self.critic = variables(actor), variables(critic)
        self.slow_actor = variables(actor, trainable=False)
        self.slow_critic = variables(critic, trainable=False)
        self.actor_adam, self.critic_adam = Adam(self.actor, rate), Adam(self.critic, rate)

    def act(self, observation: Any) -> Any:
        """The policy's action with noise."""
        action = self.policy(*self.execution.tensors([observation[None]]))
        return self.explored(np.asarray(action)[0])

    def learn(self) -> None:
        """One update of the critic, the policy and their slow copies."""
        with self.operation("sample"):
            batch = self.execution.tensors(self.replay.sample(self.args.batch_size))
        with self.whole("update"):
            self.update(*batch)

    def _policy(self, observation: Any) -> Any:
        return self._action(self.actor, observation)

    def _update(self, *columns: Any) -> Any:
        """One update from the columns of a batch; the critic's loss before it."""
        batch = Batch(*columns)
        with self.part("target"):
            target = self._target(batch)
        with self.part("critic"):
            with self.part("forward"), self.critic_adam.tape() as tape:
                values = self._value(self.critic, batch.observation, batch.action)
                loss = tf.reduce_mean(tf.square(values - target))
            done = self._descend(tape, loss, self.critic_adam)
        with tf.control_dependencies(done), self.part("actor"):
            with self.part("forward"), self.actor_adam.tape() as tape:
                action = self._action(self.actor, batch.observation)
                value = self._value(self.critic, batch.observation, action)
                actor_loss = -tf.reduce_mean(value)
            done = self._descend(tape, actor_loss, self.actor_adam)
        with tf.control_dependencies(done), self.part("target_update"):
            done = follow(self.slow_actor, self.actor, self.args.tau)
            done += follow(self.slow_critic, self.critic, self.args.tau)
        with tf.control_dependencies(done):
            return tf.identity(loss)

    def _target(self, batch: Batch) -> Any:
        """Reward, and discounted value of what the slow networks do and think of it next."""
        action = self._action(self.slow_actor, batch.following)
        value = self._value(self.slow_critic, batch.following, action)
        return batch.reward + self.args.gamma * (1.0 - batch.terminated) * value

    def _descend(self, tape: Any, loss: Any, adam: Adam) -> list[Any]:
        with self.part("backprop"):
            gradients = tape.gradient(loss, adam.trained)
        with self.part("optimizer"):
            return adam.apply(gradients)

    def _action(self, weights: list[Any], observation: Any) -> Any:
        """What a policy does, inside the bounds, shape (batch, actions)."""
        return self.middle + self.scale * tf.tanh(perceptron(weights, observation))

    def _value(self, weights: list[Any], observation: Any, action: Any) -> Any:
        """What a critic thinks of each action, shape (batch,)."""
        return perceptron(weights, tf.concat([observation, action], axis=1))[:, 0]


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("DDPG", parse_args(Args, "DDPG on Pendulum", argv), Trainer)


if __name__ == "__main__":
    main()

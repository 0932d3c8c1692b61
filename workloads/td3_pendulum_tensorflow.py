"""TD3 on Gymnasium's Pendulum-v1 with TensorFlow, annotated for rlscope.

    rls-prof python workloads/td3_pendulum_tensorflow.py
    rls-prof python -m rlscope.workloads.td3_pendulum_tensorflow --mode graph

The same networks, hyper-parameters and updates as in td3_pendulum.py, executed in one of three
ways. With --mode eager an update is the operations target and critic, and where the policy is
updated actor and target_update. With function and graph either half is one call, in which they
cannot be told apart: operation `update`.
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
class Args(TensorFlowArgs, continuous_control.TD3Args):
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
            batch = (size, seen), (size, done), (size,), (size, seen), (size,)
            self.policy = self.execution.compiled(self._policy, (1, seen))
            self.update_critics = self.execution.compiled(self._update_critics, *batch)
            self.update_actor = self.execution.compiled(self._update_actor, (size, seen))
            self.execution.start()
        self.updates = 0

    def _make_networks(self) -> None:
        rate, hidden = self.args.learning_rate, self.args.hidden
        actor = uniform_weights(self.observations, self.actions, hidden)
        both = self.observations + self.actions
        critics = [uniform_weights(both, 1, hidden) for _ in range(2)]
        self.actor, self.slow_actor = variables(actor), variables(actor, trainable=False)
        self.critics = [variables(critic) for critic in critics]
        self.slow_critics = [variables(critic, trainable=False) for critic in critics]
        self.actor_adam, self.critic_adam = (
            Adam(self.actor, rate),
            Adam([*self.critics[0], *self.critics[1]], rate),
        )

    def act(self, observation: Any) -> Any:
        """The policy's action with noise."""
        action = self.policy(*self.execution.tensors([observation[None]]))
        return self.explored(np.asarray(action)[0])

    def learn(self) -> None:
        """One update of the critics, and now and then of the policy and the slow copies."""
        with self.operation("sample"):
            batch = self.execution.tensors(self.replay.sample(self.args.batch_size))
        with self.whole("update"):
            self.update_critics(*batch)
        self.updates += 1
        if self.updates % self.args.policy_frequency == 0:
            with self.whole("update"):
                self.update_actor(Batch(*batch).observation)

    def _policy(self, observation: Any) -> Any:
        return self._action(self.actor, observation)

    def _update_critics(self, *columns: Any) -> Any:
        """One update of the critics from the columns of a batch; their loss before it."""
        batch = Batch(*columns)
        with self.part("target"):
            target = self._target(batch)
        with self.part("critic"):
            with self.part("forward"), self.critic_adam.tape() as tape:
                values = self._values(self.critics, batch.observation, batch.action)
                loss = tf.add_n([tf.reduce_mean(tf.square(value - target)) for value in values])
            done = self._descend(tape, loss, self.critic_adam)
        with tf.control_dependencies(done):
            return tf.identity(loss)

    def _update_actor(self, observation: Any) -> Any:
        """One update of the policy and the slow copies; the policy's loss before it."""
        with self.part("actor"):
            with self.part("forward"), self.actor_adam.tape() as tape:
                action = self._action(self.actor, observation)
                (value,) = self._values(self.critics[:1], observation, action)
                loss = -tf.reduce_mean(value)
            done = self._descend(tape, loss, self.actor_adam)
        with tf.control_dependencies(done), self.part("target_update"):
            done = follow(self.slow_actor, self.actor, self.args.tau)
            for slow, fast in zip(self.slow_critics, self.critics, strict=True):
                done += follow(slow, fast, self.args.tau)
        with tf.control_dependencies(done):
            return tf.identity(loss)

    def _target(self, batch: Batch) -> Any:
        """Reward, and discounted value of what the slow networks do and think of it next."""
        action = self._action(self.slow_actor, batch.following)
        bound = self.args.noise_clip
        noise = tf.clip_by_value(self.args.policy_noise * self._noise(action), -bound, bound)
        low, high = self.middle - self.scale, self.middle + self.scale
        action = tf.clip_by_value(action + self.scale * noise, low, high)
        first, second = self._values(self.slow_critics, batch.following, action)
        value = tf.minimum(first, second)
        return batch.reward + self.args.gamma * (1.0 - batch.terminated) * value

    def _noise(self, action: Any) -> Any:
        """Standard normal numbers of the shape of the actions."""
        return tf.random.normal(action.shape)

    def _descend(self, tape: Any, loss: Any, adam: Adam) -> list[Any]:
        with self.part("backprop"):
            gradients = tape.gradient(loss, adam.trained)
        with self.part("optimizer"):
            return adam.apply(gradients)

    def _action(self, weights: list[Any], observation: Any) -> Any:
        """What a policy does, inside the bounds, shape (batch, actions)."""
        return self.middle + self.scale * tf.tanh(perceptron(weights, observation))

    def _values(self, critics: list[list[Any]], observation: Any, action: Any) -> list[Any]:
        """What each of the critics thinks of each action, shapes (batch,)."""
        both = tf.concat([observation, action], axis=1)
        return [perceptron(weights, both)[:, 0] for weights in critics]


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("TD3", parse_args(Args, "TD3 on Pendulum", argv), Trainer)


if __name__ == "__main__":
    main()

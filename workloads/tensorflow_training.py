"""What the TensorFlow workloads share: three ways to execute, networks and Adam without Keras.

execution = execution_of(args)
with execution.scope():
    weights = variables(uniform_weights(3, 1, hidden=64))
    values = execution.compiled(lambda seen: perceptron(weights, seen), (1, 3))
    execution.start()
values(*execution.tensors([np.zeros((1, 3), np.float32)]))

In a graph of TensorFlow 1 nothing but data orders operations. So what changes variables returns a
list, and `tf.control_dependencies` of that list is around what comes after it.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import tensorflow as tf

from rlscope.workloads import training_run
from rlscope.workloads.arguments import Count


@dataclass
class TensorFlowArgs:
    mode: Literal["eager", "function", "graph"] = "function"
    """eager; function: compiled by tf.function; graph: a graph and a session of TensorFlow 1"""
    device: Literal["cpu", "cuda"] = "cpu"
    """where the networks are; networks this small are faster on a CPU"""
    tensorflow_threads: Count = 1
    """threads of TensorFlow in an operation, and for operations side by side"""


def run_training(algorithm: str, args: Any, trainer_of: Callable[[Any], Any]) -> None:
    """Trains and prints how well and how fast."""
    tf.config.threading.set_intra_op_parallelism_threads(args.tensorflow_threads)
    tf.config.threading.set_inter_op_parallelism_threads(args.tensorflow_threads)
    _use_device(args.device)
    training_run.run_training(algorithm, args, trainer_of)


def _use_device(device: str) -> None:
    """TensorFlow takes a GPU by itself where it sees one, and all of its memory."""
    gpus = tf.config.list_physical_devices("GPU")
    if device == "cpu":
        tf.config.set_visible_devices([], "GPU")
    elif not gpus:
        sys.exit(f"--device {device} cannot be used: TensorFlow finds no GPU")
    else:
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)


class Eager:
    """Python calls each operation of TensorFlow."""

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        """Around what makes variables and compiles functions."""
        return contextlib.nullcontext()

    def compiled(self, function: Callable[..., Any], *_shapes: Any) -> Callable[..., Any]:
        """A function of tensors of these shapes, all of float32."""
        return function

    def start(self) -> None:
        """At the end of the scope."""

    def tensors(self, arrays: Any) -> list[Any]:
        """What a compiled function takes."""
        return [tf.convert_to_tensor(array) for array in arrays]


class Function(Eager):
    """Python calls each compiled function."""

    def compiled(self, function: Callable[..., Any], *shapes: Any) -> Callable[..., Any]:
        signature = [tf.TensorSpec(shape, tf.float32) for shape in shapes]
        return tf.function(function, input_signature=signature)  # type: ignore[no-any-return]


class Graph(Eager):
    """Python runs a session for each compiled function."""

    def __init__(self, threads: int) -> None:
        self.graph = tf.Graph()
        config = tf.compat.v1.ConfigProto(
            intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
        )
        self.session = tf.compat.v1.Session(graph=self.graph, config=config)

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        return self.graph.as_default()  # type: ignore[no-any-return]

    def compiled(self, function: Callable[..., Any], *shapes: Any) -> Callable[..., Any]:
        inputs = [tf.compat.v1.placeholder(tf.float32, shape) for shape in shapes]
        run = self.session.make_callable(function(*inputs), feed_list=inputs)
        return run  # type: ignore[no-any-return]

    def start(self) -> None:
        self.session.run(tf.compat.v1.global_variables_initializer())

    def tensors(self, arrays: Any) -> list[Any]:
        return list(arrays)


def execution_of(args: TensorFlowArgs) -> Eager:
    """What --mode asks for."""
    if args.mode == "graph":
        return Graph(args.tensorflow_threads)
    return Eager() if args.mode == "eager" else Function()


def variables(weights: list[Any], *, trainable: bool = True) -> list[Any]:
    """Variables with these first values."""
    return [tf.Variable(value, trainable=trainable) for value in weights]


def perceptron(weights: list[Any], inputs: Any) -> Any:
    """Two hidden layers; `weights` are as in initial_weights."""
    hidden = tf.nn.relu(inputs @ weights[0] + weights[1])
    hidden = tf.nn.relu(hidden @ weights[2] + weights[3])
    return hidden @ weights[4] + weights[5]


def follow(slow: list[Any], fast: list[Any], tau: float) -> list[Any]:
    """Moves each of the slow variables by this part of its way to the fast one."""
    pairs = zip(slow, fast, strict=True)
    return [behind.assign_add(tau * (ahead - behind), read_value=False) for behind, ahead in pairs]


class Adam:
    """Kingma and Ba 2015 (arXiv:1412.6980), algorithm 1, on some variables."""

    def __init__(self, trained: list[Any], rate: float) -> None:
        self.trained = trained
        self.rate = rate
        self.betas = (0.9, 0.999)
        self.first, self.second = (
            variables([tf.zeros(variable.shape) for variable in trained], trainable=False)
            for _ in self.betas
        )
        self.powers = variables(list(self.betas), trainable=False)

    @contextlib.contextmanager
    def tape(self) -> Iterator[Any]:
        """Records what gradients of these variables need, and of no others."""
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(self.trained)
            yield tape

    def apply(self, gradients: list[Any]) -> list[Any]:
        """One step against these gradients."""
        powers = [tf.convert_to_tensor(power) for power in self.powers]
        # TensorFlow adds epsilon to a root that is not yet corrected for its bias.
        epsilon = 1e-8 * tf.sqrt(1.0 - powers[1])
        rows = zip(self.trained, self.first, self.second, gradients, strict=True)
        done = [
            tf.raw_ops.ResourceApplyAdam(
                var=variable.handle,
                m=first.handle,
                v=second.handle,
                beta1_power=powers[0],
                beta2_power=powers[1],
                lr=self.rate,
                beta1=self.betas[0],
                beta2=self.betas[1],
                epsilon=epsilon,
                grad=gradient,
            )
            for variable, first, second, gradient in rows
        ]
        with tf.control_dependencies(done):
            pairs = zip(self.powers, powers, self.betas, strict=True)
            return [power.assign(value * beta, read_value=False) for power, value, beta in pairs]

"""TensorFlow: calls of the functions that `tf.function` makes, Keras's own train steps included;
GradientTape."""

from types import ModuleType

from rlscope.auto import rules
from rlscope.auto.calls import watch_from_c, watch_method


def watch_function(module: ModuleType) -> None:
    """tensorflow.python.eager.polymorphic_function.polymorphic_function."""
    watch_from_c("compiled", module.Function, "__call__")
    rules.watches("compiled", "tf.function")


def watch_tape(module: ModuleType) -> None:
    """tensorflow.python.eager.backprop."""
    watch_method("tape enter", module.GradientTape, "__enter__")
    watch_method("tape exit", module.GradientTape, "__exit__")
    for name in ("gradient", "jacobian", "batch_jacobian"):
        watch_method("backward", module.GradientTape, name)

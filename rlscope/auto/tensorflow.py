"""TensorFlow: calls of the functions that `tf.function` makes, Keras's own train steps included."""

from types import ModuleType

from rlscope.auto import rules
from rlscope.auto.calls import watch_from_c


def watch_function(module: ModuleType) -> None:
    """tensorflow.python.eager.polymorphic_function.polymorphic_function."""
    watch_from_c("compiled", module.Function, "__call__")
    rules.watches("compiled", "tf.function")

"""TensorFlow: calls of the functions that `tf.function` makes, Keras's own train steps included;
tracing them; GradientTape; changes of variables; checkpoints."""

import inspect
from types import ModuleType
from typing import Any

from rlscope.auto import compilations, rules
from rlscope.auto.calls import watch_from_c, watch_global, watch_method


def watch_function(module: ModuleType) -> None:
    """tensorflow.python.eager.polymorphic_function.polymorphic_function."""
    watch_from_c("compiled", module.Function, "__call__")
    rules.watches_compiled("tf.function")


def watch_tracing(module: Any) -> None:
    """tensorflow.python.eager.polymorphic_function.tracing_compilation."""
    module._create_concrete_function = compilations.timed(
        "TensorFlow", module._create_concrete_function, _traced
    )
    watch_global("compilation", module._create_concrete_function, module)
    rules.watches("compilation", "tf.function")


def _traced(*args: Any, **kwargs: Any) -> tuple[str, Any]:
    """The function of Python that is traced, from the options among the arguments."""
    for each in (*args, *kwargs.values()):
        if hasattr(each, "python_function"):
            function = inspect.unwrap(each.python_function)
            code = getattr(function, "__code__", None)
            return str(each.name or getattr(function, "__qualname__", "")), code
    return "", None


def watch_variable(module: Any) -> None:
    """tensorflow.python.ops.resource_variable_ops."""
    for name in ("assign", "assign_add", "assign_sub"):
        watch_method("change", module.BaseResourceVariable, name)


def watch_checkpoint(module: ModuleType) -> None:
    """tensorflow.python.checkpoint.checkpoint."""
    events = {"save": "saving", "write": "saving", "restore": "loading", "read": "loading"}
    for name, event in events.items():
        watch_method(event, module.Checkpoint, name)
        rules.watches(event, f"tf.train.Checkpoint.{name}")


def watch_tape(module: ModuleType) -> None:
    """tensorflow.python.eager.backprop."""
    watch_method("tape enter", module.GradientTape, "__enter__")
    watch_method("tape exit", module.GradientTape, "__exit__")
    for name in ("gradient", "jacobian", "batch_jacobian"):
        watch_method("backward", module.GradientTape, name)

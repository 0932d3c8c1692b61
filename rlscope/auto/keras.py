"""Keras: calls of layers and models, steps of optimizers, outside of what is compiled; evaluations,
and models that are saved and loaded.

Keras 3 on PyTorch has PyTorch's gradient mode. On other backends, and in Keras 2, TensorFlow's
tapes say whether a call has gradients. A call that JAX computes gradients of is in compiled code.
"""

import sys
from typing import Any

from rlscope.auto import draws, rules
from rlscope.auto.calls import watch_from_c, watch_global, watch_method

_EVENTS = {
    "training": ("fit", "train_on_batch"),
    "prediction": ("predict", "predict_on_batch"),
    "evaluation": ("evaluate",),
}
"""Event -> methods of models."""
_OPERATIONS = {"update": "training", "inference": "prediction", "evaluation": "evaluation"}


def watch_layer(module: Any) -> None:
    """keras.src.layers.layer."""
    watch_from_c("forward" if _backend() == "torch" else "taped forward", module.Layer, "__call__")
    for operation in rules.OF_FORWARDS:
        rules.watches(operation, "keras.Layer")
    draws.watch()


def watch_variable(module: Any) -> None:
    """keras.src.backend.common.variables. On other backends the library's own variables change."""
    owner = getattr(module, "Variable", None) or getattr(module, "KerasVariable", None)
    if owner is not None and _backend() == "jax":
        watch_method("change", owner, "assign")


def _backend() -> str:
    backend = getattr(sys.modules.get("keras.src.backend.config"), "backend", None)
    return "" if backend is None else str(backend())


def watch_optimizer(module: Any) -> None:
    """keras.src.optimizers.base_optimizer."""
    watch_method("step", module.BaseOptimizer, "apply")


def watch_model(module: Any) -> None:
    """keras.src.models.model."""
    events = {"save": "saving", "save_weights": "saving", "load_weights": "loading"}
    for name, event in events.items():
        rules.watch_methods(event, module.Model, name)


def watch_loading(module: Any) -> None:
    """keras.src.saving.saving_api."""
    watch_global("loading", module.load_model, module)
    rules.watches("loading", "keras.models.load_model")


def watch_trainer(module: Any) -> None:
    """keras.src.backend.*.trainer, keras.src.engine.training: the class that trains models."""
    for owner in list(vars(module).values()):
        if isinstance(owner, type) and owner.__module__ == module.__name__:
            for event, names in _EVENTS.items():
                for name in names:
                    watch_method(event, owner, name)
    for operation, event in _OPERATIONS.items():
        rules.watches(operation, *(f"keras.Model.{name}" for name in _EVENTS[event]))

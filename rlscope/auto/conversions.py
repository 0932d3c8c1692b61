"""Functions of Python code that make a tensor of an observation, or change one for a forward.

PyTorch's are C code, and stay in their place (torch.py).
"""

import sys
from typing import Any

from rlscope.auto.calls import watch_global
from rlscope.recorder import runtime

_KERAS = {
    "keras.src.ops.core": ("convert_to_tensor", "cast"),
    "keras.src.ops.numpy": ("expand_dims", "reshape"),
}
_TENSORFLOW = {
    "tensorflow.python.framework.tensor_conversion": ("convert_to_tensor_v2_with_dispatch",),
    "tensorflow.python.framework.constant_op": ("constant",),
    "tensorflow.python.ops.array_ops": ("expand_dims_v2", "reshape"),
    "tensorflow.python.ops.math_ops": ("cast",),
}
_JAX = {
    "jax._src.api": ("device_put",),
    "jax._src.numpy.array_constructors": ("array", "asarray"),
    "jax._src.numpy.lax_numpy": ("array", "asarray", "expand_dims", "reshape"),
}
FUNCTIONS = _KERAS | _TENSORFLOW | _JAX
"""Module -> its functions that count; which of them a module has depends on the release."""


def watch(module: Any) -> None:
    """Any module of FUNCTIONS."""
    for name in FUNCTIONS[module.__name__]:
        function: Any = getattr(module, name, None)
        if hasattr(function, "_tf_decorator"):
            # TensorFlow dispatches by the identity of its wrapper, which calls this with *args.
            runtime.watch_in_place("conversion", function.__wrapped__)
        elif function is not None:
            watch_global("conversion", function, module)


def watch_keys(module: Any) -> None:
    """jax._src.random: a program makes a key for the action that a policy draws."""
    holders = [module, *filter(None, [sys.modules.get("jax.random")])]
    for name in ("split", "fold_in", "PRNGKey", "key"):
        function = getattr(module, name, None)
        if function is not None:
            watch_global("random key", function, *holders)


def watch_tianshou(module: Any) -> None:
    """tianshou.data.collector: makes a part of the batch that a policy is given."""
    watch_global("connector", module._HACKY_create_info_batch, module)

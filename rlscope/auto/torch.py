"""PyTorch: conversions, forwards of modules, no-grad blocks, backward, steps of optimizers."""

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from rlscope.auto import compilations, draws, rules, tokens
from rlscope.auto.calls import subclasses, watch_from_c, watch_global, watch_method
from rlscope.recorder import runtime

_MAKINGS = ("as_tensor", "asarray", "from_numpy", "tensor")
_TYPES = ("Tensor", "FloatTensor", "DoubleTensor", "LongTensor", "ByteTensor")
_CONVERSION_METHODS = (
    *("to", "cuda", "type", "float", "double", "half", "bfloat16", "long"),
    *("unsqueeze", "view", "reshape", "flatten", "permute"),
)
"""Of Tensor: what else is done to an observation, before it is given to a module."""
_OUTPUTS = ("numpy", "__array__")
"""Of Tensor: what makes something else of what a module returned."""
_VALUES = ("item", "tolist", "__int__", "__float__")
"""Of Tensor: what makes numbers of it."""

_CHANGES = ("add_", "copy_", "lerp_", "mul_", "sub_")
"""Of Tensor: with what a program moves a target network, or steps without an optimizer."""
_LIST_CHANGES = tuple(f"_foreach_{name}" for name in _CHANGES)


def watch(module: ModuleType) -> None:
    """torch."""
    runtime.ask_gradients(os.path.join(os.path.dirname(module.__file__ or ""), "lib", "libc10.so"))
    watch_from_c("forward", module.nn.Module, "__call__")
    for block in (module.no_grad, module.inference_mode):
        watch_method("block enter", block, "__enter__")
        watch_method("block exit", block, "__exit__")
    watch_method("mode enter", module.set_grad_enabled, "__enter__")
    watch_method("block exit", module.set_grad_enabled, "__exit__")
    _watch_calls_of_tensors(module)
    _watch_backward(module)
    _watch_optimizers(module.optim.Optimizer)
    for event, name in (("saving", "save"), ("loading", "load")):
        watch_global(event, getattr(module, name), module, module.serialization)
        rules.watches(event, f"torch.{name}")
    for operation in rules.OF_FORWARDS:
        rules.watches(operation, "torch.nn.Module")
    tokens.watch()
    draws.watch()
    draws.watch_torch(module)


def watch_loader(module: Any) -> None:
    """torch.utils.data.dataloader: every iterator of a DataLoader gives its batches by one method,
    which a loop calls from C code."""
    watch_from_c("sampling", module._BaseDataLoaderIter, "__next__")
    rules.watches("replay", "torch.utils.data.DataLoader")


def watch_dynamo(module: ModuleType) -> None:
    """torch._dynamo.eval_frame: a compiled module calls Module.__call__ from Python code."""
    watch_from_c("forward", module.OptimizedModule, "__call__")
    watch_method("compile", module._TorchDynamoContext, "__call__")


def watch_frames(module: Any) -> None:
    """torch._dynamo.convert_frame: TorchDynamo and its compiler make code of one function."""
    module._compile = compilations.timed("torch.compile", module._compile, _frame)
    watch_global("compilation", module._compile, module)
    rules.watches("compilation", "torch.compile")


def _frame(code: CodeType, *args: Any, **kwargs: Any) -> tuple[str, CodeType]:
    return getattr(code, "co_qualname", code.co_name), code


def watch_lazy_compilation(module: Any) -> None:
    """torch._dynamo.callback: PyTorch says when it compiles what it had put off, as a backward."""
    owner = module.CompilationCallbackHandler
    make = getattr(owner, "install_callbacks", None)  # since 2.6
    if make is None:
        return
    begins, ends = (
        runtime.watch(f"compilation {edge}", lambda: None) for edge in ("enter", "exit")
    )

    @functools.wraps(make)
    @contextlib.contextmanager
    def install_callbacks(*args: Any, **kwargs: Any) -> Iterator[None]:
        begins()
        is_backward = any("BACKWARD" in str(each) for each in (*args, *kwargs.values()))
        if is_backward:
            compilations.begin()
        try:
            with make(*args, **kwargs):
                yield
        finally:
            if is_backward:  # else it is a part of a frame
                compilations.end("torch.compile", "(backward)")
            ends()

    owner.install_callbacks = install_callbacks


def watch_tracing(module: ModuleType) -> None:
    """torch._dynamo.variables.nn_module: TorchDynamo's view of a module while it traces a call."""
    for name in ("NNModuleVariable", "UnspecializedNNModuleVariable"):
        if hasattr(module, name):
            watch_method("traces module", getattr(module, name), "call_function")


def _watch_calls_of_tensors(torch: Any) -> None:
    for event, owner, names in (
        ("making", torch, _MAKINGS + _TYPES),
        ("conversion", torch.Tensor, _CONVERSION_METHODS),
        ("output", torch.Tensor, _OUTPUTS),
        ("value", torch.Tensor, _VALUES),
        ("change", torch.Tensor, _CHANGES),
        ("change", torch, _LIST_CHANGES),
    ):
        for name in names:
            if hasattr(owner, name):
                runtime.watch_in_place(event, getattr(owner, name))


def _watch_backward(torch: ModuleType) -> None:
    """Tensor.backward, autograd.backward and autograd.grad all call one function."""
    graph = torch.autograd.graph
    if hasattr(graph, "_engine_run_backward"):
        watch_global("backward", graph._engine_run_backward, graph, torch.autograd)
        return
    for name in ("backward", "grad"):  # before 2.3
        watch_global("backward", getattr(torch.autograd, name), torch.autograd)


def _watch_optimizers(optimizer: Any) -> None:
    """PyTorch wraps the `step` of each class when the first object of it is made, and its wrapper
    unpacks the arguments, so that the function inside can be watched in place."""
    wrap: Callable[..., Any] = optimizer.profile_hook_step

    def profile_hook_step(func: Callable[..., Any]) -> Callable[..., Any]:
        wrapped: Callable[..., Any] = wrap(_watched_step(func))
        runtime.watch_in_place("step", wrapped)  # the wrapper too, where that can be seen
        return wrapped

    profile_hook_step.__wrapped__ = wrap  # type: ignore[attr-defined]
    optimizer.profile_hook_step = staticmethod(profile_hook_step)
    for owner in subclasses(optimizer):
        step = vars(owner).get("step")
        if isinstance(step, FunctionType) and getattr(step, "hooked", False):
            _watched_step(step.__wrapped__)  # type: ignore[attr-defined]
            runtime.watch_in_place("step", step)


def _watched_step(function: Callable[..., Any]) -> Callable[..., Any]:
    if runtime.watch_in_place("step", function):
        return function
    return runtime.watch("step", function)

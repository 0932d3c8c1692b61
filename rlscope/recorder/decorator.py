"""`@rls.operation(name)`: one wrapper for each kind of function.

A plain function gets a wrapper in C. A function that suspends (generator, coroutine, asynchronous
generator) gets one of its own kind that holds the operation open from its first step to its end,
as `with` around its body would.
"""

import functools
import inspect
import types
from collections.abc import AsyncGenerator, Callable, Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlscope._runtime import Operation

_Function = Callable[..., Any]
_Wrap = Callable[["Operation", _Function], _Function]


def decorate(operation: "Operation", function: Any, annotate_calls: "_Wrap") -> Any:
    """What `operation(function)` returns.

    `annotate_calls` wraps a plain function: it is of the recorder, or of its stand-in, that made
    the operation.

    Raises:
        TypeError: function is a class, or cannot be called.
    """
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorate(operation, function.__func__, annotate_calls))
    if isinstance(function, type):
        raise TypeError(f"an operation decorates functions: decorate a method of {function!r}")
    if not callable(function):
        raise TypeError(f"an operation decorates functions, not {type(function).__name__}")
    wrap = _wrapper_of_suspending(function) or annotate_calls
    return wrap(operation, function)


def _wrapper_of_suspending(function: _Function) -> "_Wrap | None":
    if inspect.isasyncgenfunction(function):
        return _wrap_async_generator
    if inspect.iscoroutinefunction(function):
        return _wrap_coroutine
    if inspect.isgeneratorfunction(function):
        return _wrap_generator
    return None


def _wrap_coroutine(operation: "Operation", function: _Function) -> _Function:
    @functools.wraps(function)
    async def annotated(*args: Any, **kwargs: Any) -> Any:
        with operation:
            return await function(*args, **kwargs)

    return annotated


def _wrap_generator(operation: "Operation", function: _Function) -> _Function:
    @functools.wraps(function)
    def annotated(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        with operation:
            return (yield from function(*args, **kwargs))

    if _is_awaitable_generator(function):
        awaitable: _Function = types.coroutine(annotated)
        return awaitable
    return annotated


def _is_awaitable_generator(function: _Function) -> bool:
    """A generator function under @types.coroutine: what it returns can be awaited."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code is not None and bool(code.co_flags & inspect.CO_ITERABLE_COROUTINE)


def _wrap_async_generator(operation: "Operation", function: _Function) -> _Function:
    @functools.wraps(function)
    async def annotated(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        with operation:
            inner = function(*args, **kwargs)
            try:
                step = inner.__anext__()
                while True:
                    try:
                        value = await step
                    except StopAsyncIteration:
                        return
                    try:
                        sent = yield value
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        step = inner.athrow(error)
                    else:
                        step = inner.asend(sent)
            finally:
                await inner.aclose()

    return annotated

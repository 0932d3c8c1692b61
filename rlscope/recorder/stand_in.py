"""Stands in for `_runtime` where that cannot be loaded: the same functions, which do nothing.

Only what the annotations and rls.profile call. They raise the same TypeErrors as the extension,
so that a program has no mistakes that show on some machines only.
"""

import functools
from collections.abc import Callable
from typing import Any


class Operation:
    """Context manager and decorator that records nothing."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> "Operation":
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def __call__(self, function: Callable[..., Any], /) -> Any:
        from rlscope.recorder.decorator import decorate

        return decorate(self, function, annotate_calls)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"rlscope.operation({self.name!r})"


@functools.lru_cache(maxsize=1024)
def _operation(name: str) -> Operation:
    return Operation(name)


def operation(name: str, /) -> Operation:
    _check(name, "name of an operation")
    return _operation(name)


def set_operation(name: str, /) -> None:
    _check(name, "name of an operation")


def end_operation(name: str, /) -> None:
    _check(name, "name of an operation")


def annotate_calls(operation: Operation, function: Callable[..., Any], /) -> Callable[..., Any]:
    return function


def begin_phase(name: str | None, /) -> str | None:
    if name is not None:
        _check(name, "name of a phase")
    return None


def iteration(automatic: bool = False, /) -> bool:
    return False


def raise_in_thread(identifier: int, exception: type[BaseException], /) -> None:
    return None


def process_name(name: str, /) -> None:
    _check(name, "name of a process")


def metadata(key: str, json: str, /) -> None:
    return None


def progress(done: float, total: float, /) -> None:
    float(done), float(total)


def start() -> None:
    return None


def stop() -> None:
    return None


def is_recording() -> bool:
    return False


def state() -> str:
    return "off"


def process_records(data: bytes, /) -> tuple[list[bytes], int]:
    return [], len(data)


def python_begin(version: str, executable: str, /) -> None:
    return None


def _check(name: object, what: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{what} must be str, not {type(name).__name__}")

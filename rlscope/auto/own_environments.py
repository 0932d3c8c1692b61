"""Environments of no known library: a class with a `step` and a `reset` may be one.

Such classes of the program's own code are watched as soon as they are made. If a process calls a
module before it has an environment, those of libraries are watched from then on, too. What their
steps do decides (csrc/python/runtime_module/own_environments.h). A program can also name its class,
by rls.environment() or `rls-prof --environment`.
"""

import sys
from _weakref import ref  # of the interpreter: weakref itself takes 1 ms
from types import FunctionType
from typing import Any

from rlscope.auto import ENVIRONMENT_METHODS, ROWS, is_automatic, named_environments, rules
from rlscope.auto.calls import watch_method
from rlscope.auto.environments import is_environment, watch_environments
from rlscope.capture import native
from rlscope.rundir.own_code import is_own

# Libraries whose classes with these methods are known not to be environments, or are watched.
_LIBRARIES = {name.partition(".")[0] for name in ROWS} | {"numpy", "rlscope"}
# As NumPy's dtype.kind has them.
_FLOAT, _TRUTH = "f", "b"
_NUMBERS = frozenset((_FLOAT, "i", "u"))
_waiting: "list[ref[type]]" = []
_looks = False


def watch_named(module: Any) -> None:
    """A module with classes that the user named, once it is imported."""
    for owner, name in named_environments():
        found: Any = module
        for part in name.split("."):
            found = getattr(found, part, None)
        if owner == module.__name__ and isinstance(found, type):
            watch_class(found)


def watch_class(owner: type) -> None:
    """A class of environments, by word of the user; nothing where no operations are found."""
    if is_automatic() and not is_environment(owner):
        watch_environments(owner)


def watch(owner: type) -> None:
    """A class that was made."""
    module = "__main__" if owner.__module__ == "__mp_main__" else owner.__module__  # if spawned
    if (module, owner.__qualname__) in named_environments():
        watch_class(owner)
    elif not _may_simulate(owner):
        return
    elif _looks or _is_of_program(owner):
        _watch(owner)
    else:
        _waiting.append(ref(owner))


def look() -> None:
    """A module is called, and there is no environment so far."""
    global _looks
    _looks = True
    for each in _waiting:
        if (owner := each()) is not None:
            _watch(owner)
    _waiting.clear()


def found(owner: "type | None") -> None:
    """The steps of a class are an environment's; None: those of environments in other processes."""
    native.record_collections()
    if owner is None:
        rules.watches("simulation", "environments in other processes")
        return
    name = f"{owner.__module__}.{owner.__qualname__}"
    rules.watches("simulation", name)
    for event, method in (("rendering", "render"), ("closing", "close")):
        base = next((each for each in owner.__mro__ if method in vars(each)), None)
        if base is not None:
            watch_method(event, base, method)
            rules.watches(event, f"{name}.{method}")


def is_transition(result: object) -> bool:
    """Whether a step returned what Gym's do: what it observed, then a reward or an array of them,
    then whether the episode is over, of each environment. At most two things more may follow.
    Textbooks leave one of the first three out: what is observed, or whether it is over."""
    if not isinstance(result, tuple) or not 2 <= len(result) <= 5:
        return False
    if len(result) == 2:
        first, last = result
        if _is_number(first):
            return _kind(last) == _TRUTH
        observed = isinstance(first, (list, tuple)) or type(first).__module__ == "numpy"
        return observed and (_is_number(last) or _are_rewards_of(first, last))
    rewards, ends = (_kind(each) for each in result[1:3])
    return rewards in _NUMBERS and ends == _TRUTH


def _are_rewards_of(observed: object, rewards: object) -> bool:
    """Whether both are arrays, and the second has a number for each row of the first."""
    if any(type(each).__module__ != "numpy" for each in (observed, rewards)):
        return False
    shapes = [getattr(each, "shape", ()) for each in (observed, rewards)]
    return len(shapes[0]) > 1 and shapes[1] == shapes[0][:1] and _kind(rewards) == _FLOAT


def _is_number(value: object) -> bool:
    """Whether it is one, and no list or array of some."""
    if isinstance(value, (list, tuple)) or _kind(value) not in _NUMBERS:
        return False
    return not (type(value).__module__ == "numpy" and value.ndim)  # type: ignore[attr-defined]


def _kind(value: object) -> str:
    """Of a list: that of its first item. Empty: neither number nor truth value."""
    if isinstance(value, (list, tuple)) and value:
        value = value[0]
    if isinstance(value, bool):
        return _TRUTH
    if isinstance(value, (int, float)):
        return _FLOAT
    # No code of the program may run here, as it would if it has an attribute `dtype`.
    return str(value.dtype.kind) if type(value).__module__ == "numpy" else ""  # type: ignore[attr-defined]


def _is_of_program(owner: type) -> bool:
    """Whether a class is the program's own; one that is typed has no file."""
    module = sys.modules.get(owner.__module__)
    file = getattr(module, "__file__", None)
    return owner.__module__ == "__main__" if file is None else is_own(str(file))


def _may_simulate(owner: type) -> bool:
    module: object = owner.__module__  # a class can put anything there
    library = module.partition(".")[0] if isinstance(module, str) else ""
    if (
        not library
        or library in _LIBRARIES
        or library in sys.stdlib_module_names
        or is_environment(owner)
    ):
        return False
    if _is_module_or_optimizer(owner):
        return False
    return all(isinstance(getattr(owner, name, None), FunctionType) for name in ENVIRONMENT_METHODS)


def _is_module_or_optimizer(owner: type) -> bool:
    """Of PyTorch, which knows the functions of its classes by identity."""
    return any(str(base.__module__).partition(".")[0] == "torch" for base in owner.__mro__)


def _watch(owner: type) -> None:
    for name in ENVIRONMENT_METHODS:
        defines = next(base for base in owner.__mro__ if name in vars(base))
        watch_method(f"own {name}", defines, name)

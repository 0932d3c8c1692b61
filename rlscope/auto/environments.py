"""Classes of environments: a call of their step or reset is a simulation."""

from typing import Any

from rlscope.auto import rules
from rlscope.auto.calls import watch_method
from rlscope.recorder import runtime

METHODS = ("step", "reset", "step_async", "step_wait", "reset_async", "reset_wait")
"""Methods of an environment, or of a vector of them."""

_roots: dict[type, tuple[str, ...]] = {}


def watch_environments(root: type, methods: tuple[str, ...] = METHODS) -> None:
    """Makes calls of `methods` simulations, for every class below `root`, now and later.

    An environment in wrappers is one simulation: only the outermost counts.
    """
    _roots[root] = methods
    runtime.watch_mixins(root)
    _follow_subclasses(root, methods)
    for owner in subclasses(root):
        watch_class(owner, root, methods)
    library = root.__module__.partition(".")[0]
    rules.watches("simulation", f"{library}.{root.__qualname__}")


def is_environment(owner: type) -> bool:
    """Whether a class is below one that is watched."""
    return not _roots.keys().isdisjoint(owner.__mro__)


def watch_filled(owner: type) -> None:
    """A class that got its methods after it was made, if it is one of environments."""
    for root in _roots.keys() & set(owner.__mro__):
        watch_class(owner, root, _roots[root])


def watch_class(owner: type, root: type, methods: tuple[str, ...]) -> None:
    """A class with its mixins, which need not be environments themselves: what else has their
    methods, a buffer with `reset`, does not simulate."""
    for base in owner.__mro__:
        event = "simulation" if root in base.__mro__ else "mixin"
        for name in methods:
            watch_method(event, base, name)


def subclasses(root: type) -> set[type]:
    found, waiting = {root}, [root]
    while waiting:
        new: set[type] = set(type.__subclasses__(waiting.pop())) - found
        found |= new
        waiting += new
    return found


def _follow_subclasses(root: type, methods: tuple[str, ...]) -> None:
    """Classes that are defined later report themselves, as soon as they exist."""
    own = vars(root).get("__init_subclass__")

    def __init_subclass__(cls: type, /, **options: Any) -> None:
        if own is None:
            super(root, cls).__init_subclass__(**options)  # type: ignore[arg-type]
        else:
            own.__get__(None, cls)(**options)
        try:
            watch_class(cls, root, methods)
        except Exception:  # a class that cannot be changed stays as it is
            return

    __init_subclass__.__qualname__ = f"{root.__qualname__}.__init_subclass__"
    __init_subclass__.__module__ = root.__module__
    setattr(root, "__init_subclass__", classmethod(__init_subclass__))  # noqa: B010

"""Classes of environments: a call of their step or reset is a simulation."""

from types import ModuleType

from rlscope.auto import rules
from rlscope.auto.calls import follow_subclasses, subclasses, watch_method
from rlscope.recorder import runtime

METHODS = ("step", "reset", "step_async", "step_wait", "reset_async", "reset_wait")
"""Methods of an environment, or of a vector of them."""

CLASSES = {
    "tianshou.env.venvs": ("BaseVectorEnv",),
    "skrl.envs.wrappers.torch.base": ("Wrapper", "MultiAgentEnvWrapper"),
    "skrl.envs.wrappers.jax.base": ("Wrapper", "MultiAgentEnvWrapper"),
    "open_spiel.python.rl_environment": ("Environment",),
    "open_spiel.python.vector_env": ("SyncVectorEnv",),
}
"""Module of a library -> its classes of environments that derive from no other library's."""

_roots: dict[type, tuple[str, ...]] = {}


def watch_library(module: ModuleType) -> None:
    """Any module of CLASSES."""
    for name in CLASSES[module.__name__]:
        watch_environments(getattr(module, name))


def watch_environments(root: type, methods: tuple[str, ...] = METHODS) -> None:
    """Makes calls of `methods` simulations, for every class below `root`, now and later.

    An environment in wrappers is one simulation: only the outermost counts.
    """
    _roots[root] = methods
    runtime.watch_mixins(root)
    follow_subclasses(root, lambda owner: watch_class(owner, root, methods))
    for owner in subclasses(root):
        watch_class(owner, root, methods)
    library = root.__module__.partition(".")[0]
    rules.watches("simulation", f"{library}.{root.__qualname__}")
    rules.watches("rendering", f"{library}.{root.__qualname__}.render")
    rules.watches("closing", f"{library}.{root.__qualname__}.close")


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
        if root in base.__mro__:
            watch_method("rendering", base, "render")
            watch_method("closing", base, "close")

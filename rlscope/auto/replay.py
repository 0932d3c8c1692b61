"""Replay buffers: where a program, or a library, stores its experience and takes batches of it.

No library has a class that all of them derive from. So a class counts by what it says of itself:
its name, or that of a class above it, has one of the words of rlscope.auto.BUFFER_WORDS in it, and
it has both a method that stores and one that samples.
"""

from typing import Any

from rlscope.auto import BUFFER_WORDS, rules
from rlscope.auto.calls import watch_method

_STORES = {
    *("add", "add_batch", "add_experience", "add_sample", "add_samples", "add_transition"),
    *("add_transitions", "append", "extend", "feed", "feed_batch", "insert", "push", "put"),
    *("remember", "store", "store_transition", "store_transitions"),
}
_SAMPLES = {
    *("get_batch", "get_minibatch", "get_random_experience", "sample", "sample_all"),
    *("sample_batch", "sample_buffer", "sample_memory", "sample_transitions"),
    "_get_samples",  # Stable-Baselines3's generator of batches calls it
    # Generators of storages of rollouts, which show what these are.
    *("feed_forward_generator", "mini_batch_generator", "recurrent_generator"),
}
_CHECKS = {"hasnull"}
"""Tianshou looks for NaN in the whole buffer after each collection."""
_PRIORITIES = {
    *("batch_update", "set_priorities", "update_batch", "update_errors", "update_many"),
    *("update_priorities", "update_priority", "update_weight"),
}


def watch(owner: type) -> None:
    """A class, if it is one of buffers, with those above it that its library has."""
    if not any(_is_named(each) for each in owner.__mro__) or not _is_buffer(owner):
        return
    for each in owner.__mro__:
        if _library(each) == _library(owner):
            for name in _STORES | _CHECKS | _PRIORITIES:
                watch_method("replay", each, name)
            for name in _SAMPLES:
                watch_method("sampling", each, name)
            if _takes_priorities(each):
                watch_method("replay", each, "update")
    derives = any(_is_named(above) and _is_buffer(above) for above in owner.__mro__[1:])
    if not derives and not owner.__name__.startswith("_"):
        rules.watches("replay", f"{_library(owner)}.{owner.__qualname__}")


def _is_named(owner: type) -> bool:
    return any(word in owner.__name__.lower() for word in BUFFER_WORDS)


def _is_buffer(owner: type) -> bool:
    names: set[Any] = {name for each in owner.__mro__ for name in vars(each)}
    return not (names.isdisjoint(_STORES) or names.isdisjoint(_SAMPLES))


def _takes_priorities(owner: type) -> bool:
    """Whether `update` is given entries and something of each. Else it may be anything."""
    code = getattr(vars(owner).get("update"), "__code__", None)
    return code is not None and code.co_argcount > 2


def _library(owner: type) -> str:
    return owner.__module__.partition(".")[0]

"""Classes that count by what they are, and not by a library's class that they derive from: replay
buffers, and environments of no known library."""

from contextlib import suppress

from rlscope.auto import own_environments, replay
from rlscope.auto.calls import subclasses


def watch(owner: type) -> None:
    """A class that was just made, or got its methods."""
    replay.watch(owner)
    own_environments.watch(owner)


def watch_made() -> None:
    """Classes that are there already."""
    for owner in subclasses(object):
        with suppress(Exception):  # a class that is not like others stays as it is
            watch(owner)

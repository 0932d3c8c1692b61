"""Greenlets (greenlet, and so gevent): each has operations of its own, like a task of asyncio."""

from rlscope.recorder import runtime

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from types import ModuleType


def watch(module: "ModuleType") -> None:
    """greenlet._greenlet, which switches them. Releases before 2.0 have another C interface, and
    not this function."""
    if hasattr(module, "get_total_main_greenlets"):
        runtime.intercept_greenlets(module)

"""Compilers that programs call beside those of their frameworks: Numba, and C++ for PyTorch."""

from typing import Any

from rlscope.auto import rules
from rlscope.auto.calls import watch_global
from rlscope.recorder import runtime


def watch_numba(module: Any) -> None:
    """numba. It tells listeners who has the lock of its compilers: whatever compiles a function, a
    ufunc, a C callback or a kernel, or loads it from a cache."""
    events: Any = module.core.event
    begins, ends = (
        runtime.watch(f"compilation {edge}", lambda: None) for edge in ("enter", "exit")
    )

    class Compilation(events.Listener):  # type: ignore[misc]
        """An event at either end."""

        def on_start(self, event: Any) -> None:
            begins()

        def on_end(self, event: Any) -> None:
            ends()

    events.register("numba:compiler_lock", Compilation())
    rules.watches("compilation", "Numba")


def watch_extensions(module: Any) -> None:
    """torch.utils.cpp_extension."""
    for name in ("load", "load_inline"):
        watch_global("compilation", getattr(module, name), module)
        rules.watches("compilation", f"torch.utils.cpp_extension.{name}")

"""Compilers that programs call beside those of their frameworks: Numba, Triton, and C++ for
PyTorch."""

from typing import Any

from rlscope.auto import compilations, rules
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

    class Function(events.Listener):  # type: ignore[misc]
        """The function that is compiled."""

        def on_start(self, event: Any) -> None:
            compilations.begin()

        def on_end(self, event: Any) -> None:
            function = event.data["dispatcher"].py_func
            compilations.end("Numba", function.__qualname__, code=function.__code__)

    events.register("numba:compiler_lock", Compilation())
    events.register("numba:compile", Function())
    rules.watches("compilation", "Numba")


def watch_extensions(module: Any) -> None:
    """torch.utils.cpp_extension."""
    for name in ("load", "load_inline"):
        watch_global("compilation", getattr(module, name), module)
        rules.watches("compilation", f"torch.utils.cpp_extension.{name}")


def watch_triton(module: Any) -> None:
    """triton.compiler: what makes a kernel of a function of Python."""

    def name_of(source: Any, *args: Any, **kwargs: Any) -> tuple[str, Any]:
        function = getattr(getattr(source, "fn", None), "fn", None)
        name = getattr(function, "__qualname__", None) or getattr(source, "name", "")
        return str(name), getattr(function, "__code__", None)

    module.compile = compilations.timed("Triton", module.compile, name_of)
    watch_global("compilation", module.compile, module)
    rules.watches("compilation", "Triton")

"""A library with native code and the places of its shared objects: a row of a framework or a
simulator describes one (rlscope/frameworks, rlscope/simulators)."""

import os
import sys

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FRAMEWORK = "framework"
SIMULATOR = "simulator"
LAYERS = (FRAMEWORK, SIMULATOR)


class Library:
    """The shared objects whose calls are a layer of their own.

    Args:
        packages: import names; every shared object in their folders belongs to the library, those
            that it loads later too. A module that is itself a shared object is just that file.
        files: globs over real paths of shared objects that lie elsewhere, such as kernels that are
            compiled while the program runs.

    A package is known by where it was imported from, never by a part of a path: a checkout in a
    folder called torch is not PyTorch.
    """

    __slots__ = ("files", "packages")

    def __init__(self, packages: "Iterable[str]", *, files: "Iterable[str]" = ()) -> None:
        self.packages = tuple(packages)
        self.files = tuple(files)

    def patterns(self, loading: "Mapping[str, str]") -> list[str]:
        """Globs of what is imported by now, in which "*" matches "/" too.

        `loading` are files of extension modules, by their names: one that is being imported is
        loaded before it is in sys.modules.
        """
        found = [pattern for name in self.packages for pattern in module_patterns(name, loading)]
        return [*found, *self.files] if found else []


def module_patterns(name: str, loading: "Mapping[str, str]") -> list[str]:
    """Globs of an imported module's shared objects: all below its folders, or itself; [] when it
    is not imported.

    >>> module_patterns("mysim", {"mysim": "/opt/mysim.so"})
    ['/opt/mysim.so']
    """
    namespace = _namespace_of(sys.modules.get(name))
    folders = namespace.get("__path__")
    if folders is not None:
        return [f"{literal(os.path.realpath(folder))}/*" for folder in _texts(folders)]
    files = _texts([namespace.get("__file__", loading.get(name))])
    return [literal(os.path.realpath(file)) for file in files if ".so" in os.path.basename(file)]


def literal(path: str) -> str:
    """The glob that matches this path alone."""
    return "".join(f"[{each}]" if each in "*?[" else each for each in path)


def _namespace_of(module: object) -> "dict[str, object]":
    """Its dictionary, read past a module's own __getattribute__: a lazy one would import now."""
    try:
        namespace: dict[str, object] = object.__getattribute__(module, "__dict__")
    except AttributeError:
        return {}
    return namespace if isinstance(namespace, dict) else {}


def _texts(values: object) -> list[str]:
    try:
        return [value for value in values if isinstance(value, str)]  # type: ignore[attr-defined]
    except TypeError:
        return []

"""The libraries whose native calls are recorded, found by the packages that are imported.

A row of the registry is read once the package it is named after is in sys.modules, so that a
program without PyTorch never reads what rlscope knows of PyTorch.
"""

from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase

from rlscope import registry
from rlscope.capture.library import FRAMEWORK, SIMULATOR, Library
from rlscope.errors import RlscopeError

_GROUPS = {registry.SIMULATORS: SIMULATOR, registry.FRAMEWORKS: FRAMEWORK}

# Rows that are read only when the run asks for them, by an option of rls-prof each.
_ON_REQUEST = {"numpy": "RLSCOPE_NUMPY"}

_MAPS = "/proc/self/maps"
_MAPPED_PATH = 5  # field of a line of /proc/self/maps

Watch = tuple[str, str]
"""A glob of real paths of shared objects, and their layer."""


class Watched:
    """The libraries of a process: those it imported, and those that its user named."""

    def __init__(self, *, named: Collection[str] = (), left_out: Collection[str] = ()) -> None:
        self.problems: list[str] = []
        """Rows of other packages that could not be read, a sentence each."""
        self._rows = {
            name: group
            for group in _GROUPS
            for name in registry.names(group)
            if name not in left_out
        }
        self._named: set[str] = set()
        self._extensions: dict[str, str] = {}  # name to file
        self._libraries: dict[str, tuple[str, Library]] = {}
        self._patterns: dict[str, str] = {}  # to the name of the library that has it
        for module in named:
            self.add(SIMULATOR, module)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Watched":
        """As the options of rls-prof say."""
        return cls(
            named=[name for name in environ.get("RLSCOPE_SIMULATORS", "").split(",") if name],
            left_out=[row for row, variable in _ON_REQUEST.items() if environ.get(variable) != "1"],
        )

    def add(self, layer: str, module: str) -> None:
        """A library by the name of its module; the user's replaces a row of that name."""
        self._rows.pop(module, None)
        self._named.add(module)
        self._libraries[module] = (layer, Library([module]))

    def add_extension(self, name: str, file: str) -> None:
        """An extension module that is being imported, and will be in sys.modules in a moment."""
        self._extensions[name] = file

    def update(self, modules: Mapping[str, object]) -> list[Watch]:
        """The libraries to watch beside the present ones, now that these modules are imported."""
        present = modules.keys() | self._extensions.keys()
        for name in sorted(self._rows.keys() & present):
            self._read(name, self._rows.pop(name))
        return list(self._new_watches())

    def any(self) -> bool:
        """Whether anything is watched at all."""
        return bool(self._patterns)

    def loaded(self) -> dict[str, str]:
        """Name -> layer of the watched libraries that have a shared object in this process."""
        objects = _shared_objects()
        return {
            name: self._libraries[name][0]
            for pattern, name in sorted(self._patterns.items(), key=lambda item: item[1])
            if any(fnmatchcase(path, pattern) for path in objects)
        }

    def _read(self, name: str, group: str) -> None:
        try:
            library = registry.load(group, name)
        except RlscopeError as error:
            self.problems.append(str(error))
        else:
            self._libraries[name] = (_GROUPS[group], library)

    def _new_watches(self) -> Iterator[Watch]:
        """The last one decides: the user's libraries come after the rows."""
        for name in sorted(self._libraries, key=self._named.__contains__):
            layer, library = self._libraries[name]
            for pattern in library.patterns(self._extensions):
                if pattern not in self._patterns:
                    self._patterns[pattern] = name
                    yield pattern, layer


def _shared_objects() -> set[str]:
    """Paths of the files that are mapped executable in this process."""
    with open(_MAPS, encoding="utf-8", errors="surrogateescape") as maps:
        lines = [line.rstrip("\n").split(None, _MAPPED_PATH) for line in maps]
    return {
        fields[_MAPPED_PATH] for fields in lines if len(fields) > _MAPPED_PATH and "x" in fields[1]
    }

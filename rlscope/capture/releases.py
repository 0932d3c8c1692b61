"""The releases of the libraries that a process imported, noted in its metadata as it ends."""

import sys

from rlscope.recorder import runtime

METADATA = "rlscope.releases"
"""Key of the note, JSON: a list of [name, release], by name. Libraries are modules that are not
Python's own and have a `__version__`."""

_MOST = 200
_LONGEST = 40
_OURS = "rlscope"


def note() -> None:
    """Called as one of the last exit functions. Imports nothing: that would be an operation of the
    program."""
    try:
        if found := sorted(_releases())[:_MOST]:
            rows = ", ".join(f'["{name}", "{release}"]' for name, release in found)
            runtime.metadata(METADATA, f"[{rows}]")
    except Exception:  # whatever the program stored in sys.modules
        return


def _releases() -> "list[tuple[str, str]]":
    """Nothing is asked of a module: one that makes its attributes on demand would."""
    found = []
    for name, module in list(sys.modules.items()):
        if not _is_library(name) or not isinstance(module, type(sys)):
            continue
        release = vars(module).get("__version__")
        if isinstance(release, str) and _is_plain(release):
            found.append((name, str(release)))
    return found


def _is_library(name: str) -> bool:
    own = name in sys.stdlib_module_names or name == _OURS
    return name.isidentifier() and name.isascii() and not own and not name.startswith("_")


def _is_plain(release: str) -> bool:
    """Whether it is as PEP 440 has it, about."""
    return 0 < len(release) <= _LONGEST and all(
        each.isascii() and (each.isalnum() or each in ".+-_!") for each in release
    )

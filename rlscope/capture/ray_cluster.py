"""Notes that the program connected to a Ray cluster whose workers are not recorded.

The workers of a Ray that the program starts inherit the variables that make them record. Those of a
cluster that was running before have them from rlscope.integrations.ray, or not at all.
"""

import os
import sys

from rlscope.recorder import runtime

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

METADATA = "rlscope.ray"
"""Key of the note: CONNECTED, or NOTHING where it was taken back."""
CONNECTED = '{"cluster": "not recorded"}'
NOTHING = "{}"

_given = False
_noted = False


def watch(worker: "ModuleType") -> None:
    """ray._private.worker: the package takes `init` from it afterwards."""
    from functools import wraps

    init: Any = worker.init

    @wraps(init)
    def watched(*arguments: "Any", **named: "Any") -> "Any":
        context = init(*arguments, **named)
        try:
            _note_connected(worker._global_node, named.get("runtime_env"))
        except Exception:  # another release of Ray: the report then says nothing of it
            pass
        return context

    worker.init = watched  # type: ignore[attr-defined]


def note_given() -> None:
    """Workers, of the whole cluster or of some actors, are recorded from now on."""
    global _given, _noted
    _given = True
    if _noted:
        _noted = False
        runtime.metadata(METADATA, NOTHING)


def _note_connected(node: "Any", environment: "Any") -> None:
    """`node`: None in a client, whose cluster knows the environment that it was given."""
    global _noted
    if node is not None:
        if node.head:
            return
        environment = sys.modules["ray"].get_runtime_context().runtime_env
    if not _given and not _is_recorded(environment or {}):
        _noted = True
        runtime.metadata(METADATA, CONNECTED)


def _is_recorded(environment: "Any") -> bool:
    """Whether a runtime environment has our variables, however it came to them."""
    variables = environment.get("env_vars") or {}
    return variables.get("RLSCOPE_DIR") == os.environ.get("RLSCOPE_DIR")

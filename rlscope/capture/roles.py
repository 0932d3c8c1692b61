"""What a process knows of its own role, noted in its metadata when it begins to work.

multiprocessing and Ray know what a process is for, and no system call tells: a worker that was
forked has the command line of its parent. The reader makes names and roles of the notes
(rlscope/relations/rows/roles.py).
"""

import os
import sys

from rlscope.recorder import runtime

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType
    from typing import Any

METADATA = "rlscope.role"
"""Key of the note. A child of multiprocessing has `class`, `name`, `number`, `target` and `index`,
a Ray worker `actor` or `tasks`, a server of multiprocessing `helper`."""

RANK = "rlscope.rank"
"""Key of `rank`, `local_rank` and `world_size`, of a process that torchrun started, and of every
interpreter below it: they inherit the variables."""

_SERVERS = {
    "resource_tracker import main": "resource tracker",
    "forkserver import main": "fork server",
}
_INDEXES = ("worker_id", "index", "idx", "env_id", "rank")
_FUNCTIONS = ("function", "method", "builtin_function_or_method", "cython_function_or_method")
_DIGITS = 10
_MOST_TASKS = 3
_LONGEST = 200

_tasks: list[str] = []
_actors: list[str] = []


def note_start() -> None:
    """Notes what the environment and the command line of the interpreter say."""
    if "TORCHELASTIC_RUN_ID" in os.environ:
        _note_rank(os.environ)
    code = sys.orig_argv[-1] if "-c" in sys.orig_argv[:-1] else ""
    for part, name in _SERVERS.items():
        if part in code:
            _note(METADATA, {"helper": name})


def _note_rank(environ: "Mapping[str, str]") -> None:
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE")
    texts = {name.lower(): environ.get(name, "") for name in names}
    known = {name: text for name, text in texts.items() if text.isdecimal() and len(text) < _DIGITS}
    numbers = {name: int(text) for name, text in known.items()}
    if "rank" in numbers:
        _note(RANK, numbers)


def watch_children(util: "ModuleType") -> None:
    """multiprocessing.util: its hook runs in a forked child before the target."""
    util.register_after_fork(util.process, _note_child)


def watch_spawned(context: "ModuleType") -> None:
    """multiprocessing.context: since Python 3.11.4 that hook does not run in a spawned child."""
    owner = context.SpawnProcess
    if "_after_fork" not in vars(owner):
        return
    after_fork = owner._after_fork

    def _after_fork() -> None:
        _note_child(context.process)
        after_fork()

    owner._after_fork = staticmethod(_after_fork)


def watch_ray(manager: "ModuleType") -> None:
    """ray._private.function_manager: a worker asks it for its own class first, then for those of
    actors that it calls, and for each function."""
    owner = manager.FunctionActorManager
    _call_beside(owner, "load_actor_class", _note_actor)
    _call_beside(owner, "get_execution_info", _note_task)


def _note_child(module: "Any") -> None:
    """`module`: multiprocessing.process."""
    try:
        _note(METADATA, _facts(module.current_process()))
    except Exception:  # hidden from the program: the process is then a fork or a program
        return


def _facts(process: "Any") -> "dict[str, str | int | None]":
    """By the attributes of the object alone: what a class of the program defines is not called."""
    own, made_by = vars(process), type(process)
    target, arguments, named = _below_partials(
        own.get("_target"), own.get("_args", ()), own.get("_kwargs", {})
    )
    name = _name_of(made_by if target is None else target)
    if name == "torch.multiprocessing.spawn._wrap":  # its arguments: the function, its number
        target, number = arguments[:2]
        name, arguments, named = _name_of(target), (), {"index": number}
    return {
        "class": made_by.__qualname__,
        "name": own.get("_name"),
        "number": own["_identity"][-1] if own.get("_identity") else None,
        "target": name,
        "index": _index(target, arguments, named),
    }


def _below_partials(
    target: "Any", arguments: "tuple[Any, ...]", named: "Mapping[str, Any]"
) -> "tuple[Any, tuple[Any, ...], Mapping[str, Any]]":
    """A call of functools.partial objects as the call that they make."""
    partial = getattr(sys.modules.get("functools"), "partial", None)
    while partial is not None and type(target) is partial:
        arguments, named = target.args + arguments, {**target.keywords, **named}
        target = target.func
    return target, arguments, named


def _name_of(target: "Any") -> str:
    """ "module.qualified name" of a function or class, of another object that of its class."""
    is_named = isinstance(target, type) or type(target).__name__ in _FUNCTIONS
    named = target if is_named else type(target)
    return f"{named.__module__}.{named.__qualname__}"


def _index(target: "Any", arguments: "tuple[Any, ...]", named: "Mapping[str, Any]") -> int | None:
    """The number that the program gave to this process, by the name of the argument."""
    if type(target).__name__ == "method":
        target, arguments = target.__func__, (target.__self__, *arguments)
    code = target.__code__ if type(target).__name__ == "function" else None
    names = code.co_varnames[: code.co_argcount] if code is not None else ()
    values = {**dict(zip(names, arguments, strict=False)), **named}
    return next((values[name] for name in _INDEXES if type(values.get(name)) is int), None)


def _call_beside(owner: type, name: str, note: "Any") -> None:
    """Makes the method note its descriptor of a class or function, and what it returns."""
    method: Any = vars(owner)[name]

    def call(self: "Any", job_id: "Any", descriptor: "Any") -> "Any":
        found = method(self, job_id, descriptor)
        try:
            note(descriptor, found)
        except Exception:  # another release of Ray: its workers have no names
            pass
        return found

    call.__name__, call.__qualname__ = method.__name__, method.__qualname__
    setattr(owner, name, call)


def _note_actor(descriptor: "Any", found: "Any") -> None:
    if not _actors and _is_actor():
        _actors.append(_actor_name(descriptor.class_name, found))
        _note(METADATA, {"actor": _actors[0]})


def _is_actor() -> bool:
    """Whether Ray makes an object in this process, or has; True where this Ray does not say."""
    worker = getattr(sys.modules.get("ray._private.worker"), "global_worker", None)
    return worker is None or not worker.actor_id.is_nil()


def _actor_name(class_name: str, found: "Any") -> str:
    """The class; of a private one that a library made around a class, that class."""
    local, _, own = class_name.rpartition("<locals>.")
    if local and own.startswith("_"):
        bases = (base.__name__ for base in found.__mro__ if base is not object)
        return next((name for name in bases if not name.startswith("_")), own)
    return own


def _note_task(descriptor: "Any", _found: "Any") -> None:
    if descriptor.class_name or len(_tasks) > _MOST_TASKS:
        return
    name = descriptor.function_name.rpartition(".")[2]
    if name not in _tasks:
        _tasks.append(name)
        shown = [*_tasks[:_MOST_TASKS], *(["..."] if len(_tasks) > _MOST_TASKS else [])]
        _note(METADATA, {"tasks": ", ".join(shown)})


def _note(key: str, facts: "Mapping[str, str | int | None]") -> None:
    values = {
        name: _quoted(value[:_LONGEST]) if isinstance(value, str) else str(value)
        for name, value in facts.items()
        if isinstance(value, str) or type(value) is int
    }
    text = ", ".join(f'"{name}": {value}' for name, value in values.items())
    runtime.metadata(key, f"{{{text}}}")


def _quoted(text: str) -> str:
    """The text in JSON. The module json takes 3 ms to import, its part in C 1 ms."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if " " <= character <= "~" and character not in '"\\':
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))

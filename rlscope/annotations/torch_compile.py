"""Annotations inside functions that torch.compile traces: they break no graph, and record nothing.

torch._dynamo follows Python bytecode and gives a function up where it meets a context manager or a
function written in C, as annotations are. Once it is imported, rlscope gives it their equals in a
graph: a nullcontext, a function that does nothing, the function that was decorated. So a program
compiles alike with rlscope and without, recorded or not; the time of a compiled function belongs to
the operation around it.

To import torch._dynamo takes a second that most programs never spend, so it is not imported here:
the finder of PyTorch's own folder, which only `import torch.<name>` asks, is made to report when
the program does.
"""

import os
import sys
from _frozen_importlib_external import FileFinder, SourceFileLoader

from rlscope.recorder import runtime

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

_TRACER = "torch._dynamo"


def prepare(*classes: type) -> None:
    """Tells torch.compile of the annotations, now or when it is imported. Cheap to repeat.

    Args:
        classes: context managers written in Python whose blocks come to nothing in a graph.
    """
    _classes.update({id(each): each for each in classes})
    if _TRACER in sys.modules:
        _register()
        return
    for folder in _torch_folders():
        finder = _finder_of(folder)
        if type(finder) is FileFinder:
            finder.__class__ = _Finder


_classes: "dict[int, type]" = {}


def _torch_folders() -> "list[str]":
    """Where torch is, or where its import would find it."""
    torch = sys.modules.get("torch")
    path = torch.__dict__.get("__path__") if torch is not None else None
    if path is not None:
        return list(path)
    candidates = (os.path.join(entry or ".", "torch") for entry in sys.path)
    return [folder for folder in candidates if os.path.isdir(os.path.join(folder, "_dynamo"))][:1]


def _finder_of(folder: str) -> object:
    """What imports from a folder, made as the import system makes it."""
    known = sys.path_importer_cache.get(folder)
    if known is not None:
        return known
    for hook in sys.path_hooks:
        try:
            finder = hook(folder)
        except ImportError:
            continue
        sys.path_importer_cache[folder] = finder
        return finder
    return None


class _Finder(FileFinder):
    def find_spec(self, fullname: str, target: "ModuleType | None" = None) -> "ModuleSpec | None":
        spec = super().find_spec(fullname, target)
        if fullname == _TRACER and spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader.__class__ = _Loader
        return spec


class _Loader(SourceFileLoader):
    def exec_module(self, module: "ModuleType") -> None:
        super().exec_module(module)
        try:
            _register()
        except Exception:  # another release of torch: annotations break graphs, as they used to
            return


def _register() -> None:
    """Puts our answer before those of torch._dynamo's own tables of Python values, once."""
    from torch._dynamo.variables.builder import VariableBuilder
    from torch._dynamo.variables.user_defined import UserDefinedObjectVariable

    wrap = VariableBuilder._wrap
    if getattr(wrap, "annotations", None) is _stand_in:
        return

    def wrap_annotation(builder: "Any", value: object) -> "Any":
        stand_in = _stand_in(value)
        return wrap(builder, value) if stand_in is None else stand_in(builder, value)

    wrap_annotation.annotations = _stand_in  # type: ignore[attr-defined]
    VariableBuilder._wrap = wrap_annotation
    resolve = getattr(UserDefinedObjectVariable, "resolve_type_attr", None)
    if resolve is not None:  # from 2.13 on
        UserDefinedObjectVariable.resolve_type_attr = _resolving_methods(resolve)


def _resolving_methods(resolve: "Callable[..., Any]") -> "Callable[..., Any]":
    """As `resolve`, but a decorated method is bound: torch._dynamo binds functions and the methods
    of functools.lru_cache, which hold theirs the way ours do, and nothing else written in C."""

    def resolve_method(
        owner: "Any", tx: "Any", name: str, attribute: object, source: "Any"
    ) -> "Any":
        if not _is_decorated(attribute):
            return resolve(owner, tx, name, attribute, source)
        from torch._dynamo.variables.functions import WrapperUserMethodVariable

        return WrapperUserMethodVariable(attribute, "__wrapped__", owner, source=source)

    return resolve_method


def _stand_in(value: object) -> "Callable[[Any, Any], Any] | None":
    """How a value of ours is represented in a graph; None for any other value."""
    if type(value) is runtime.Operation:
        return _as_null_context
    if _is_decorated(value):
        return _as_decorated
    if _is_one_of(value, (runtime.operation, *_classes.values())):
        return _as_maker_of_null_contexts
    if _is_one_of(value, (runtime.set_operation, runtime.end_operation)):
        return _as_nothing
    return None


def _is_decorated(value: object) -> bool:
    """Whether @rls.operation made it of a function, other than a generator or coroutine."""
    global _decorated
    if _decorated is None:
        _decorated = type(runtime.annotate_calls(runtime.operation("compiled"), _nothing))
    # Where nothing can be recorded a decorated function is the function itself.
    return type(value) is _decorated and _decorated is not type(_nothing)


_decorated: "type | None" = None


def _is_one_of(value: object, ours: "Sequence[object]") -> bool:
    return any(value is each for each in ours)


def _as_null_context(builder: "Any", value: object) -> "Any":
    from torch._dynamo.guards import GuardBuilder
    from torch._dynamo.variables.ctx_manager import NullContextVariable

    return NullContextVariable(**builder.install_guards(GuardBuilder.TYPE_MATCH))


def _as_decorated(builder: "Any", value: "Any") -> "Any":
    from torch._dynamo.source import AttrSource
    from torch._dynamo.variables.builder import VariableBuilder

    source = AttrSource(builder.source, "__wrapped__")
    return VariableBuilder(builder.tx, source)(value.__wrapped__)


def _as_maker_of_null_contexts(builder: "Any", value: object) -> "Any":
    return _traced(builder, _null_context)


def _as_nothing(builder: "Any", value: object) -> "Any":
    return _traced(builder, _nothing)


def _traced(builder: "Any", function: "Callable[[str], object]") -> "Any":
    from torch._dynamo.guards import GuardBuilder
    from torch._dynamo.variables.functions import UserFunctionVariable

    return UserFunctionVariable(function, **builder.install_guards(GuardBuilder.ID_MATCH))


def _null_context(name: str) -> object:
    from contextlib import nullcontext

    return nullcontext()


def _nothing(name: str) -> None:
    return None

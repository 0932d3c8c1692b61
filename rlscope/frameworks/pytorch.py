"""PyTorch: everything below the folder of `torch`, and what it compiles while a program runs.

torch/_C*.so holds the Python bindings, torch/lib/*.so what they call and, for torch.ops and
autograd, more entry points. The libraries around it that bind native code of their own:
functorch (functorch/_C.so), torchvision, torchaudio, and Triton, whose compiler runs inside
torch.compile.

Kernels compiled at run time lie elsewhere: Inductor's in TORCHINDUCTOR_CACHE_DIR or in a folder
torchinductor_<user> of the temporary one (without them 12 % instead of 87 % of a compiled
program's framework time were seen), Triton's launchers in its cache, and C++ extensions
that torch.utils.cpp_extension.load built in torch_extensions.
"""

import functools
import gc
import os

from rlscope.capture.library import Library, literal
from rlscope.recorder import runtime

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from typing import Any


def _compiled() -> list[str]:
    folders = [
        os.environ.get("TORCHINDUCTOR_CACHE_DIR", ""),
        os.environ.get("TRITON_CACHE_DIR", ""),
        os.environ.get("TORCH_EXTENSIONS_DIR", ""),
    ]
    chosen = [f"{literal(os.path.realpath(folder))}/*" for folder in folders if folder]
    usual = ["*/torchinductor_*/*.so", "*/.triton/cache/*.so", "*/torch_extensions/*.so"]
    return [*chosen, *usual]


LIBRARY = Library(
    ["torch", "functorch", "torchvision", "torchaudio", "triton"],
    files=_compiled(),
)


def name_new(module: "Any") -> None:
    """torch._ops: the C functions of an operator and of its overloads are recorded under the names
    by which programs call them, torch.ops.aten:relu and torch.ops.aten:relu.default."""
    for kind in _kinds(module):
        kind.__init__ = _naming(kind.__init__)


def name_made(module: "Any") -> None:
    kinds = _kinds(module)
    for each in gc.get_objects():
        if issubclass(type(each), kinds):
            _name_operator(each)


def _kinds(module: "Any") -> "tuple[Any, ...]":
    return module.OpOverloadPacket, module.OpOverload


def _naming(make: "Any") -> "Any":
    @functools.wraps(make)
    def __init__(self: "Any", *args: "Any", **kwargs: "Any") -> None:
        make(self, *args, **kwargs)
        _name_operator(self)

    return __init__


def _name_operator(operator: "Any") -> None:
    namespace, _, name = str(operator).partition(".")
    for attribute in ("_op", "_op_dk"):
        runtime.intercept_name(vars(operator).get(attribute), f"torch.ops.{namespace}:{name}")

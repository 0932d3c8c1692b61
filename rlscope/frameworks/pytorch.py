"""PyTorch: everything below the folder of `torch`, and what it compiles while a program runs.

torch/_C*.so holds the Python bindings, torch/lib/*.so what they call and, for torch.ops and
autograd, more entry points. Of the libraries around it those that bind native code of their own:
functorch (functorch/_C.so), torchvision, torchaudio, and Triton, whose compiler runs inside
torch.compile.

Kernels compiled at run time lie elsewhere: Inductor's in TORCHINDUCTOR_CACHE_DIR or in a folder
torchinductor_<user> of the temporary one (without them 12 % instead of 87 % of a compiled
program's framework time were seen), Triton's launchers in its cache, and C++ extensions
that torch.utils.cpp_extension.load built in torch_extensions.
"""

import os

from rlscope.capture.library import Library, literal


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

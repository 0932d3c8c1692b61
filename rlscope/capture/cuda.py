"""Where the CUPTI of this interpreter's own CUDA wheels lies, for the recorder to find it.

PyTorch's CUDA libraries are mapped when CUDA starts, and CUPTI is found beside them; JAX's and
TensorFlow's are not, and lie in wheels of NVIDIA's that the interpreter has in its site-packages.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # typing and collections cost a traced program 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable

VARIABLE = "RLSCOPE_CUPTI"
# Below nvidia/; before CUDA 13 each library has a folder.
_WHEELS = ("cu13/lib", "cuda_cupti/lib")


def cupti_folders(paths: Iterable[str]) -> list[str]:
    """Folders with a CUPTI of NVIDIA's wheels below `paths` (as of sys.path), in their order."""
    roots = (os.path.join(path, "nvidia") for path in paths if path)
    wheels = (os.path.join(root, name) for root in roots if os.path.isdir(root) for name in _WHEELS)
    return [wheel for wheel in wheels if os.path.isdir(wheel) and ":" not in wheel]


def variable(paths: Iterable[str], before: str) -> str:
    """The value of RLSCOPE_CUPTI with the folders of this interpreter in front of those `before`.

    >>> variable([], "/opt/cupti")
    '/opt/cupti'
    """
    folders = [*cupti_folders(paths), *filter(None, before.split(":"))]
    return ":".join(dict.fromkeys(folders))

"""Compiles coverage_oracle.cpp against the installed PyTorch and the recorder of this checkout."""

from __future__ import annotations

import importlib.util
import subprocess
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def build_oracle(folder: Path) -> Path:
    """The extension module, in `folder`; it finds the loaded librlscope.so by its name."""
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.origin is not None
    torch = Path(spec.origin).parent
    library = folder / f"coverage_oracle{sysconfig.get_config_var('EXT_SUFFIX')}"
    includes = [torch / "include", sysconfig.get_paths()["include"], ROOT / "csrc"]
    command = ["c++", "-std=c++20", "-O1", "-shared", "-fPIC", "-w"]
    command += [f"-I{include}" for include in includes]
    command += [str(HERE / "coverage_oracle.cpp"), "-o", str(library)]
    command += [f"-L{torch / 'lib'}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{torch / 'lib'}"]
    command += [str(ROOT / "rlscope" / "librlscope.so")]
    subprocess.run(command, check=True)
    return library

"""Compiles and imports the test extension, as often as a test needs it as a separate library."""

import importlib.util
import subprocess
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent


def compile_extension(
    name: str, sources: Iterable[Path], folder: Path, defines: Iterable[str] = ()
) -> Path:
    """An extension module for the running interpreter; RELRO as distributions link theirs."""
    library = folder / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    folder.mkdir(parents=True, exist_ok=True)
    include = sysconfig.get_paths()["include"]
    options = ["-O2", "-shared", "-fPIC", "-pthread", "-Wl,-z,relro,-z,now", f"-I{include}"]
    options += [f"-D{name}" for name in defines]
    command = ["cc", *options, *map(str, sources), "-o", str(library)]
    subprocess.run(command, check=True)
    return library


def build_sample(folder: Path, *, makes_callables: bool = True) -> Path:
    """The library `sample` in that folder; another folder is another library.

    `makes_callables`: with the type whose instances carry a vectorcall pointer each. What such a
    library's functions return must be looked at.
    """
    defines = [] if makes_callables else ["SAMPLE_WITHOUT_CALLABLE"]
    return compile_extension("sample", sorted(HERE.glob("sample_*.c")), folder, defines)


def import_library(library: Path) -> ModuleType:
    """Imports an extension module from its file, under the name before the first dot."""
    spec = importlib.util.spec_from_file_location(library.name.split(".")[0], library)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

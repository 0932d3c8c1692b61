"""Stands in for the libraries that PyTorch's CUDA wheel links and that are not simulated: cuBLAS...

A wheel's libraries name every symbol they want, most of them with the library's name as version.
For each library a shared object with just these symbols is compiled. Functions answer "success";
the ones that would multiply matrices launch a kernel called sim_<function>; the rest of what they
would compute stays as it was in memory.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections import defaultdict
from pathlib import Path

# Symbols without a version belong to the library that their name begins like.
PREFIXES = {
    "cudnn": "libcudnn.so.9",
    "nccl": "libnccl.so.2",
    "pnccl": "libnccl.so.2",
    "nvshmem": "libnvshmem_host.so.3",
    "cusparseLt": "libcusparseLt.so.0",
    "cuFile": "libcufile.so.0",
}
SIMULATED = ("libcuda.so", "libcudart.so", "libcupti.so")
# Libraries whose handles must look made; the others say 1, "not here".
WORKING = ("libcublas", "libcublasLt", "libcusolver", "libcusparse", "libcufft", "libcudnn")

LAUNCH = """\
#include <dlfcn.h>
#include <stddef.h>
typedef int (*Find)(void**, void*, const char*);
typedef int (*Load)(void**, const void*);
typedef int (*Start)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     void*, void**, void**);
/* One kernel on the default stream of the current device. */
static int Launch(const char* name) {
  static void* module;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* kernel = NULL;
  if (driver == NULL) return 1;
  if (module == NULL) ((Load)dlsym(driver, "cuModuleLoadData"))(&module, "");
  ((Find)dlsym(driver, "cuModuleGetFunction"))(&kernel, module, name);
  return ((Start)dlsym(driver, "cuLaunchKernel"))(kernel, 1, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL);
}
"""


def wheel_folder(command: list[str]) -> Path | None:
    """torch/lib of the first Python that the command names, where that torch is a CUDA build."""
    for word in command:
        for prefix in python_prefixes(word):
            for folder in prefix.glob("lib/python3*/site-packages/torch/lib"):
                if (folder / "libtorch_cuda.so").exists():
                    return folder
    return None


def python_prefixes(word: str) -> list[Path]:
    """Where the packages may be of a word that is a Python, or a script that a Python runs."""
    path = next((p for p in candidates(word) if p.is_file() and os.access(p, os.X_OK)), None)
    if path is None:
        return []
    with open(path, "rb") as file:
        start = file.readline(256)
    shebang = re.match(rb"#!\s*(\S*python\S*)", start)
    if shebang:
        path = Path(os.fsdecode(shebang[1]))
    return [path.parent.parent] if "python" in path.name else []


def candidates(word: str) -> list[Path]:
    if "/" in word:
        return [Path(word)]
    return [Path(folder) / word for folder in os.get_exec_path()]


def wanted_symbols(folder: Path) -> dict[str, set[str]]:
    """The undefined symbols of the folder's libraries, by the library that should have them.

    A library that is linked without a symbol of it is there with none.
    """
    wanted: dict[str, set[str]] = defaultdict(set)
    wanted.update((library, set()) for library in needed_libraries(folder))
    for file in sorted(folder.glob("*.so*")):
        symbols = subprocess.run(["nm", "-D", "-u", file], capture_output=True, text=True).stdout
        for line in symbols.splitlines():
            name, _, version = line.split()[-1].partition("@")
            library = owner(name, version.lstrip("@"))
            if library is not None and not library.startswith(SIMULATED):
                wanted[library].add(name)
    return wanted


def needed_libraries(folder: Path) -> set[str]:
    """NVIDIA's libraries that the folder's libraries are linked to, wanted symbols or not."""
    needed: set[str] = set()
    for file in folder.glob("*.so*"):
        section = subprocess.run(["readelf", "-d", file], capture_output=True, text=True).stdout
        needed |= set(re.findall(r"NEEDED.*\[(lib(?:cu|nv|nccl)[^\]]*)\]", section))
    return {name for name in needed if not name.startswith(SIMULATED)}


def owner(name: str, version: str) -> str | None:
    if version.startswith("lib") and ".so" in version:
        return version
    if version == "NVSHMEM":
        return PREFIXES["nvshmem"]
    return next((library for start, library in PREFIXES.items() if name.startswith(start)), None)


def function(library: str, name: str) -> str:
    """The C source of one stub."""
    multiplies = re.search(r"gemm|gemv|Matmul$|Sdot_v2$", name, re.IGNORECASE)
    if name == "cublasLtMatmulAlgoGetHeuristic":
        # The last of its ten parameters is where the number of algorithms found goes: one.
        return (
            f"int {name}(void* a, void* b, void* c, void* d, void* e, void* f, void* g, int h,"
            " void* i, int* found) { *found = 1; return 0; }"
        )
    if library.split(".")[0] not in WORKING:
        return f"int {name}() {{ return 1; }}"
    if multiplies:
        return f'int {name}() {{ return Launch("sim_{name}"); }}'
    if "Create" in name:
        return f"int {name}(void** made) {{ if (made != NULL) *made = (void*)64; return 0; }}"
    return f"int {name}() {{ return 0; }}"


def compile_stub(library: str, names: set[str], folder: Path) -> None:
    source = folder / f"{library}.c"
    script = folder / f"{library}.map"
    source.write_text(LAUNCH + "\n".join(function(library, name) for name in sorted(names)) + "\n")
    node = "NVSHMEM" if "nvshmem" in library else library
    script.write_text(f"{node} {{ global: *; }};\n")
    flags = ["-w", "-shared", "-fPIC", f"-Wl,-soname,{library}", f"-Wl,--version-script={script}"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(folder / library)], check=True)
    source.unlink()
    script.unlink()


def torch_stubs(command: list[str], root: Path) -> Path | None:
    """The stubs for the CUDA wheel that the command would import, made on first use; or None."""
    wheel = wheel_folder(command)
    if wheel is None:
        return None
    stamp = (wheel / "libtorch_cuda.so").stat()
    key = hashlib.sha256(f"{wheel}{stamp.st_size}{stamp.st_mtime_ns}".encode()).hexdigest()[:16]
    folder = root / key
    if not folder.exists():
        making = root / f"{key}.{os.getpid()}"
        making.mkdir(parents=True)
        for library, names in wanted_symbols(wheel).items():
            compile_stub(library, names, making)
        try:
            making.rename(folder)
        except OSError:  # another process was first
            pass
    return folder

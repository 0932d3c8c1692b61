"""What `tests/simcuda/run` does for PyTorch's CUDA wheel, on a wheel of a few lines."""

import subprocess
from pathlib import Path

from support.cuda.simcuda_runs import run_simulated

# libcublas as the wheel's libraries saw it when they were linked, with their symbol version.
CUBLAS = """\
int cublasCreate_v2(void** handle) { return 9; }
int cublasSgemm_v2(void) { return 9; }
"""
TORCH = """\
int cublasCreate_v2(void** handle);
int cublasSgemm_v2(void);
int ncclGetVersion(int* version) __attribute__((weak));
int Multiply(void) {
  void* handle = 0;
  return cublasCreate_v2(&handle) == 0 && handle != 0 ? cublasSgemm_v2() : 1;
}
"""
PYTHON = """\
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** words) {
  int count_of_devices;
  void* runtime = dlopen("libcudart.so.13", RTLD_NOW);
  ((int (*)(int*))dlsym(runtime, "cudaGetDeviceCount"))(&count_of_devices);
  ((int (*)(void*))dlsym(runtime, "cudaFree"))(NULL);
  void* torch = dlopen(words[1], RTLD_NOW);
  if (torch == NULL) return puts(dlerror()), 1;
  return ((int (*)(void))dlsym(torch, "Multiply"))();
}
"""


def compile_c(source: str, output: Path, *flags: str) -> None:
    file = output.with_suffix(".c")
    file.write_text(source)
    subprocess.run(["gcc", "-w", "-fPIC", str(file), "-o", str(output), *flags], check=True)


def make_wheel(prefix: Path) -> tuple[Path, Path]:
    """A Python that is none, and the libtorch_cuda.so among its packages."""
    folder = prefix / "lib" / "python3.11" / "site-packages" / "torch" / "lib"
    for made in (folder, prefix / "bin", prefix / "linked"):
        made.mkdir(parents=True)
    script = prefix / "linked" / "cublas.map"
    script.write_text("libcublas.so.13 { global: *; };\n")
    cublas = prefix / "linked" / "libcublas.so.13"
    shared = ["-shared", "-Wl,-soname,libcublas.so.13", f"-Wl,--version-script={script}"]
    compile_c(CUBLAS, cublas, *shared)
    compile_c(TORCH, folder / "libtorch_cuda.so", "-shared", str(cublas))
    compile_c(PYTHON, prefix / "bin" / "python3.11", "-ldl")
    return prefix / "bin" / "python3.11", folder / "libtorch_cuda.so"


def test_libraries_of_the_wheel_are_stood_in_for(tmp_path: Path) -> None:
    python, torch = make_wheel(tmp_path / "venv")
    done = run_simulated(tmp_path, [str(python), str(torch)])
    assert (done.code, done.out, done.err) == (0, "", "")
    (kernel,) = done.operations(kind="kernel")
    assert kernel["name"] == "sim_cublasSgemm_v2"

"""Where the loader finds the CUDA driver, looked up in its files: nothing is loaded."""

import os
import re
from collections.abc import Iterator, Mapping

_CACHE = "/etc/ld.so.cache"
_CACHED = re.compile(rb"/[^\0]*/libcuda\.so\.1(?=\0)")
_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")
_ELF_OF_64_BITS = b"\x7fELF\x02"


def driver_path(environ: Mapping[str, str]) -> str:
    """The libcuda.so.1 that a program with this environment gets; empty: none that works.

    The loader takes the first one but for those of 32 bits, and fails on what is no library.
    """
    for path in _candidates(environ):
        try:
            with open(path, "rb") as file:
                head = file.read(len(_ELF_OF_64_BITS))
        except OSError:
            continue
        if head == _ELF_OF_64_BITS:
            return path
        if head[:4] != _ELF_OF_64_BITS[:4]:
            return ""
    return ""


def _candidates(environ: Mapping[str, str]) -> Iterator[str]:
    for folder in re.split("[:;]", environ.get("LD_LIBRARY_PATH", "")):
        if folder:
            yield os.path.join(folder, "libcuda.so.1")
    try:
        with open(_CACHE, "rb") as file:
            cache = file.read()
    except OSError:  # musl has none
        cache = b""
    yield from map(os.fsdecode, _CACHED.findall(cache))
    yield from (f"{folder}/libcuda.so.1" for folder in _FOLDERS)

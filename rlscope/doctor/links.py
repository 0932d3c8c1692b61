"""CUDA libraries that the installed frameworks link, read from their files: none is loaded."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_CUDA_LIBRARY = re.compile(r"lib(?:cudart|cupti)\.so\.(\d+)")
_TORCH = ("libtorch_cuda.so", "libc10_cuda.so", "libtorch_cpu.so")
_JAX_PLUGIN = re.compile(r"xla_cuda(\d+)")

# ELF of 64 bits, little-endian: the one kind that CUDA has on Linux.
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_ENTRY = struct.Struct("<qQ")
_LOAD, _DYNAMIC = 1, 2
_END, _NEEDED, _STRINGS = 0, 1, 5


@dataclass(frozen=True)
class Links:
    """How a framework comes by CUDA."""

    framework: str
    """Name of its package."""
    major: int
    """Major version of the CUDA that it needs; 0: it was built for CPUs only."""
    text: str


def of_frameworks(paths: Iterable[str]) -> list[Links]:
    """The links of PyTorch, JAX and TensorFlow below `paths` (as in sys.path), if installed."""
    folders = list(filter(None, paths))
    # An import finds the first one, too.
    found = (next(filter(None, map(read, folders)), None) for read in (_torch, _jax, _tensorflow))
    return [links for links in found if links is not None]


def needed(file: str) -> list[str]:
    """Libraries that a shared object names as its own needs (DT_NEEDED); none if it is no ELF."""
    try:
        with open(file, "rb") as stream:
            return list(_needed(stream.fileno()))
    except (OSError, LookupError, ValueError, struct.error):
        return []


def _torch(folder: str) -> Links | None:
    """PyTorch's libraries name the runtime library and CUPTI, or there is no libtorch_cuda.so."""
    libraries = os.path.join(folder, "torch", "lib")
    if not os.path.isdir(libraries):
        return None
    names = {name for file in _TORCH for name in needed(os.path.join(libraries, file))}
    linked = sorted(name for name in names if _CUDA_LIBRARY.match(name))
    if not linked:
        return Links("torch", 0, "this PyTorch was built without CUDA")
    return Links("torch", _major(linked), f"links {', '.join(linked)}")


def _jax(folder: str) -> Links | None:
    """JAX's CUDA is a plug-in, a package named after its major, which loads CUDA itself."""
    if not os.path.isdir(os.path.join(folder, "jaxlib")):
        return None
    try:
        plugins = os.listdir(os.path.join(folder, "jax_plugins"))
    except OSError:
        plugins = []
    majors = [int(found[1]) for found in map(_JAX_PLUGIN.fullmatch, plugins) if found]
    if not majors:
        return Links("jaxlib", 0, "this JAX has no plug-in for CUDA")
    return Links("jaxlib", max(majors), f"loads CUDA {max(majors)} through its plug-in")


def _tensorflow(folder: str) -> Links | None:
    """TensorFlow loads CUDA through functions of its own; its build info names it."""
    try:
        path = Path(folder, "tensorflow", "python", "platform", "build_info.py")
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    version = re.search(r"""["']cuda_version["'],? *:? *["'](\d+)[.\d]*["']""", text)
    if version is None:
        return Links("tensorflow", 0, "this TensorFlow was built without CUDA")
    return Links(
        "tensorflow", int(version[1]), f"loads CUDA {version[1]} through functions of its own"
    )


def _major(sonames: Iterable[str]) -> int:
    return max(int(found[1]) for found in map(_CUDA_LIBRARY.match, sonames) if found)


# ---- ELF ----------------------------------------------------------------------------------------


def _needed(file: int) -> Iterator[str]:
    header = _HEADER.unpack(os.pread(file, _HEADER.size, 0))
    if header[0][:6] != b"\x7fELF\x02\x01":
        raise ValueError("no ELF of 64 bits")
    start, size, count = header[5], header[9], header[10]
    table = os.pread(file, size * count, start)
    segments = [_SEGMENT.unpack_from(table, i * size) for i in range(count)]
    (dynamic,) = (each for each in segments if each[0] == _DYNAMIC)
    entries = list(_entries(os.pread(file, dynamic[5], dynamic[2])))
    strings = dict(entries)[_STRINGS]
    for tag, value in entries:
        if tag == _NEEDED:
            yield _text(file, _offset(segments, strings + value))


def _entries(table: bytes) -> Iterator[tuple[int, int]]:
    for tag, value in _ENTRY.iter_unpack(table):
        if tag == _END:
            return
        yield tag, value


def _offset(segments: Iterable[tuple[int, ...]], address: int) -> int:
    """Where in the file an address of the loaded library lies."""
    for kind, _flags, offset, begin, _, size, _, _ in segments:
        if kind == _LOAD and begin <= address < begin + size:
            return offset + address - begin
    raise ValueError("an address outside of all segments")


def _text(file: int, offset: int) -> str:
    text, _, _ = os.pread(file, 256, offset).partition(b"\0")
    return os.fsdecode(text)

"""Whether rls-prof can read in which lines of Python a program is, from the program's memory."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

from rlscope.doctor.finding import Finding, Status
from rlscope.doctor.probes import Facts

_KNOWN = ((3, 10), (3, 14))
"""The oldest and the newest minor version of CPython of which the recorder has a layout."""
_PTRACE_SCOPE = "/proc/sys/kernel/yama/ptrace_scope"


def finding(facts: Facts, probe: Callable[[], int] | None = None) -> Finding:
    """`facts`: of the interpreter. `probe`: read_child()."""
    version = tuple(int(part) for part in facts["version"].split(".")[:2])
    if facts["implementation"] != "CPython" or not _KNOWN[0] <= version <= _KNOWN[1]:
        text = f"not read of {facts['implementation']} {facts['version']}"
        return Finding("source lines", Status.LIMITED, text, "use CPython 3.10 to 3.14")
    if not facts["gil"]:
        text = f"not read of a free-threaded build: this Python {facts['version']} has no GIL"
        return Finding("source lines", Status.LIMITED, text, "use a build with a GIL")
    error = (probe or read_child)()
    if error == 0:
        return Finding("source lines", Status.GOOD, "read from the program's memory, from outside")
    text = f"not read: rls-prof may not read the program's memory ({os.strerror(error)})"
    return Finding("source lines", Status.LIMITED, text, _remedy())


def read_child() -> int:
    """Reads memory of a process that this one starts, as rls-prof does; returns 0 or an errno."""
    held = ctypes.create_string_buffer(b"read")
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    try:
        return _read(child, ctypes.addressof(held), len(held))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


class _Piece(ctypes.Structure):
    _fields_ = (("address", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


def _read(pid: int, address: int, size: int) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    copy = ctypes.create_string_buffer(size)
    here, there = _Piece(ctypes.addressof(copy), size), _Piece(address, size)
    ends = [ctypes.byref(here), ctypes.c_ulong(1), ctypes.byref(there), ctypes.c_ulong(1)]
    read = library.process_vm_readv(pid, *ends, ctypes.c_ulong(0))
    return 0 if read == size else ctypes.get_errno()


def _remedy() -> str:
    try:
        with open(_PTRACE_SCOPE, encoding="ascii") as file:
            scope = file.read().strip()
    except OSError:
        scope = ""
    if scope in ("2", "3"):
        return "sysctl kernel.yama.ptrace_scope=1, or run rls-prof as root"
    return "in a container: docker run --cap-add SYS_PTRACE"

"""Run by another interpreter: loads the CUDA driver and CUPTI, prints, as JSON, what they say.

    probe_cuda.py FOLDER...    in which a libcupti is looked for, as the recorder does

In a process of its own, because a broken driver may end it. Standard library only.
"""

from __future__ import annotations

import ctypes
import glob
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

TOOLKITS = ("lib64", "lib", "extras/CUPTI/lib64")
SONAMES = ("libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8")


def load(path: str) -> tuple[ctypes.CDLL | None, str]:
    """The library, or why it cannot be loaded."""
    try:
        return ctypes.CDLL(path), ""
    except OSError as error:
        return None, str(error)


def driver() -> dict[str, Any]:
    """libcuda: its version, cuInit's answer, the devices."""
    library, reason = load("libcuda.so.1")
    if library is None:
        return {"reason": reason}
    version = ctypes.c_int(0)
    library.cuDriverGetVersion(ctypes.byref(version))
    facts = {"reason": "", "version": version.value, "init": library.cuInit(0), "devices": []}
    count = ctypes.c_int(0)
    if facts["init"] == 0 and library.cuDeviceGetCount(ctypes.byref(count)) == 0:
        facts["devices"] = [device_name(library, i) for i in range(count.value)]
    return facts


def device_name(library: ctypes.CDLL, index: int) -> str:
    """What the driver calls a device."""
    name = ctypes.create_string_buffer(256)
    device = ctypes.c_int(0)
    library.cuDeviceGet(ctypes.byref(device), index)
    library.cuDeviceGetName(name, len(name), device)
    return name.value.decode(errors="replace")


def folders(given: Sequence[str]) -> list[str]:
    """Where the recorder looks, after what the program's own CUDA has loaded."""
    toolkits = [os.environ.get("CUDA_HOME", ""), *sorted(glob.glob("/usr/local/cuda*"))]
    return [*given, *(os.path.join(root, name) for root in toolkits if root for name in TOOLKITS)]


def candidates(given: Sequence[str]) -> Iterator[str]:
    """Paths of CUPTI libraries, each real file once, and the loader's own."""
    seen = set()
    for folder in folders(given):
        for name in SONAMES:
            path = os.path.join(folder, name)
            real = os.path.realpath(path)
            if os.path.exists(path) and real not in seen:
                seen.add(real)
                yield path
    for name in SONAMES:
        yield name


def cupti(path: str) -> dict[str, Any]:
    """Version of a CUPTI library, or why it cannot be loaded."""
    library, reason = load(path)
    if library is None:
        return {"path": path, "reason": reason}
    version = ctypes.c_uint32(0)
    library.cuptiGetVersion(ctypes.byref(version))
    return {"path": path, "reason": "", "version": version.value}


def main() -> None:
    """Prints the facts."""
    found = [cupti(path) for path in candidates(sys.argv[1:])]
    facts = {
        "driver": driver(),
        "cupti": [each for each in found if not each["reason"] or os.sep in each["path"]],
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main()

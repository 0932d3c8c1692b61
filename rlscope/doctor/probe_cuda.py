"""Run by another interpreter: loads the CUDA driver and CUPTI, prints, as JSON, their answers.

    probe_cuda.py MAJOR FOLDER...

MAJOR is of the program's CUDA, 0: not known; FOLDERs are those of RLSCOPE_CUPTI. The probe
asks CUPTI for what the recorder needs, and gives it back. It has a process of its own, because a
broken driver may end it. Standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

# The recorder's own order (csrc/cupti/library.cc): folders, the loader's path, toolkits.
SONAMES = ("libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so.11.7")
TOOLKITS = ("/usr/local/cuda", "/usr/local/cuda-13", "/usr/local/cuda-12", "/usr/local/cuda-11")
BELOW = ("lib64", "lib", "extras/CUPTI/lib64")

# Functions that the recorder cannot do without.
FUNCTIONS = (
    "cuptiGetVersion cuptiSubscribe cuptiUnsubscribe cuptiEnableCallback cuptiEnableDomain "
    "cuptiActivityRegisterCallbacks cuptiActivityEnable cuptiActivityDisable cuptiActivityFlushAll "
    "cuptiActivityGetNextRecord"
).split()
CONCURRENT_KERNEL = 10  # of CUpti_ActivityKind

# The one release that ends the process where it cannot connect to the driver, by what it exports.
FAILS_TO_REFUSE = 13020
EXPORTED, NOT_YET_EXPORTED = "cuptiActivityEnable_v2", "cuptiActivityEnableDriverApi_v2"

# The callback of a subscription without callbacks.
Callback = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p
)
NOTHING = Callback(lambda *_: None)


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
    """The driver's name of a device."""
    name = ctypes.create_string_buffer(256)
    device = ctypes.c_int(0)
    library.cuDeviceGet(ctypes.byref(device), index)
    library.cuDeviceGetName(name, len(name), device)
    return name.value.decode(errors="replace")


def major_of(path: str) -> int:
    """The CUDA that a library is of: 11 of libcupti.so.11.8."""
    return int(os.path.basename(path).split(".")[2])


def candidates(folders: Sequence[str], majors: Sequence[int]) -> Iterator[str]:
    """Paths and names under which the recorder looks for a CUPTI of these majors."""
    names = [name for name in SONAMES if major_of(name) in majors]
    toolkits = [root for root in (os.environ.get("CUDA_HOME", ""), *TOOLKITS) if root]
    for folder in folders:
        yield from (os.path.join(folder, name) for name in names)
    yield from names
    for folder in (os.path.join(root, below) for root in toolkits for below in BELOW):
        yield from (os.path.join(folder, name) for name in names)


def cupti(folders: Sequence[str], major: int, version: int) -> dict[str, Any]:
    """The first CUPTI that can be loaded, and what it answers; else why there is none.

    `major`: of the framework's CUDA; 0: the newest that the driver takes. `version`: of CUDA, the
    driver's.
    """
    facts = {"wanted": major, "driver": version, "path": "", "reason": ""}
    reasons = []
    known = [major_of(name) for name in SONAMES if major_of(name) <= version // 1000]
    for path in candidates(folders, [major] if major else known):
        library, reason = load(path)
        if library is not None:
            return {**facts, **answers(library, path, version)}
        if os.path.exists(path):
            reasons.append(reason)
    return {**facts, "reason": "; ".join(dict.fromkeys(reasons)) or "not found"}


def answers(library: ctypes.CDLL, path: str, driver: int) -> dict[str, Any]:
    """Version of a CUPTI library, and its statuses for a subscription and for kernels.

    A library that is newer than the driver is not asked: version 0, as one that does not answer.
    """
    name = os.path.basename(path)
    facts: dict[str, Any] = {"path": mapped(name) if path == name else path, "reason": ""}
    facts.update(major=major_of(name), version=0, subscribe=0, enable=0)
    if facts["major"] > driver // 1000:
        return facts
    if driver < FAILS_TO_REFUSE and fails_to_refuse(library):
        why = "CUPTI 13.2 may end the program unless the driver is for CUDA 13.2 or newer"
        return {**facts, "reason": f"{facts['path']}: {why}"}
    missing = [function for function in FUNCTIONS if not hasattr(library, function)]
    if missing:
        return {**facts, "reason": f"{facts['path']} lacks {missing[0]}()"}
    version, subscriber = ctypes.c_uint32(0), ctypes.c_void_p()
    if library.cuptiGetVersion(ctypes.byref(version)) == 0:
        facts["version"] = version.value
    facts["subscribe"] = library.cuptiSubscribe(ctypes.byref(subscriber), NOTHING, None)
    if facts["subscribe"] == 0:
        facts["enable"] = library.cuptiActivityEnable(CONCURRENT_KERNEL)
        library.cuptiActivityDisable(CONCURRENT_KERNEL)
        library.cuptiUnsubscribe(subscriber)
    return facts


def fails_to_refuse(library: ctypes.CDLL) -> bool:
    """Whether it calls itself without end where it cannot connect to the driver."""
    return hasattr(library, EXPORTED) and not hasattr(library, NOT_YET_EXPORTED)


def mapped(name: str) -> str:
    """Where the loader found a library; its name where that is not known."""
    with open("/proc/self/maps") as maps:
        paths = [line.split(None, 5)[-1].strip() for line in maps]
    real = [path for path in paths if os.path.basename(path).startswith("libcupti.so")]
    return real[0] if real else name


def main() -> None:
    """Prints the facts."""
    major, folders = int(sys.argv[1]), sys.argv[2:]
    facts: dict[str, Any] = {"driver": driver(), "cupti": []}
    if facts["driver"].get("init") == 0:
        facts["cupti"] = [cupti(folders, major, facts["driver"]["version"])]
    print(json.dumps(facts))


if __name__ == "__main__":
    main()

"""Which library the driver injects: the preloaded one, however often CUDA is initialised.

python driver_injection.py [again]     again: InitializeInjection() is called once more, by us
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from pathlib import Path

from driver import Driver, say

ALREADY_LOADED = 4  # RTLD_NOLOAD


def handle() -> int:
    """The loaded library of CUDA_INJECTION64_PATH; OSError where it is not loaded."""
    return ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"], mode=ALREADY_LOADED)._handle


def mapped() -> set[str]:
    """Files of the recorder that this process has mapped."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    paths = {line.split(None, 5)[5] for line in lines if "/librlscope" in line}
    return {path for path in paths if "cudart" not in path}


def main() -> None:
    before = handle()
    driver = Driver()
    threads = [threading.Thread(target=driver.call, args=("cuInit", 0)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if sys.argv[1:] == ["again"]:
        ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).InitializeInjection()
    say(same_handle=handle() == before, libraries=sorted(mapped()))


if __name__ == "__main__":
    main()

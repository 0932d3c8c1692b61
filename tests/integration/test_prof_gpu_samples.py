"""GPU samples of rls-prof, with a library in the place of the driver's NVML, read by pynvml."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.process.traced_python import TracedPython

pytestmark = pytest.mark.usefixtures("clean_environment")

# The functions that are used, with two devices; the second one knows neither use nor power. Each
# call of nvmlInit and each reading of the use writes a line with its caller to FAKE_NVML_LOG.
_NVML = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { kSuccess = 0, kNotSupported = 3 };
struct Rates { unsigned gpu, memory; };
struct Memory { unsigned long long total, free, used; };
static int devices[2];

static void Tell(const char* what) {
  FILE* log = fopen(getenv("FAKE_NVML_LOG"), "a");
  fprintf(log, "%s %d\n", what, getpid());
  fclose(log);
}
int nvmlInitWithFlags(unsigned flags) { Tell("init"); return kSuccess; }
int nvmlDeviceGetCount_v2(unsigned* count) { *count = 2; return kSuccess; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &devices[index];
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(void* device, struct Rates* rates) {
  if (device != &devices[0]) return kNotSupported;
  Tell("rates");
  rates->gpu = 37;
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo(void* device, struct Memory* memory) {
  memory->used = device == &devices[0] ? 5000000000 : 7;
  return kSuccess;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  if (device != &devices[0]) return kNotSupported;
  *milliwatts = 123456;
  return kSuccess;
}
"""
# Ends when the devices were sampled twice; the first sample is not the last one then.
_PROGRAM = """
import os, pathlib, sys, time
log = pathlib.Path(os.environ["FAKE_NVML_LOG"])
deadline = time.monotonic() + 40
while time.monotonic() < deadline and (not log.exists() or log.read_text().count("rates") < 2):
    time.sleep(0.05)
maps = pathlib.Path("/proc/self/maps").read_text()
print(os.getpid(), "pynvml" in sys.modules, "libnvidia-ml" in maps)
"""


@pytest.fixture
def nvml(tmp_path: Path) -> dict[str, str]:
    """The environment in which the fake is the first that the dynamic linker finds."""
    folder = tmp_path / "driver"
    folder.mkdir()
    source = folder / "nvml.c"
    source.write_text(_NVML)
    library = str(folder / "libnvidia-ml.so.1")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, str(source)], check=True)
    paths = ":".join(filter(None, [str(folder), os.environ.get("LD_LIBRARY_PATH", "")]))
    return {**os.environ, "LD_LIBRARY_PATH": paths, "FAKE_NVML_LOG": str(tmp_path / "calls")}


def _samples(directory: str) -> dict[str, set[float]]:
    found: dict[str, set[float]] = {}
    for line in Path(directory, "machine.jsonl").read_text().splitlines():
        sample = json.loads(line)
        if sample["metric"].startswith("gpu"):
            assert sample["pid"] is None
            found.setdefault(sample["metric"], set()).add(sample["value"])
    return found


def test_devices_are_sampled_by_the_wrapper_alone(
    traced: TracedPython, directory: str, nvml: dict[str, str]
) -> None:
    options = ["--sample-seconds", "0.05", "-o", directory]
    result = traced.run(*options, traced.python, "-c", _PROGRAM, env=nvml)
    pid, imported, mapped = result.stdout.split()
    assert _samples(directory) == {
        "gpu0_percent": {37},
        "gpu0_memory_bytes": {5_000_000_000},
        "gpu0_power_watts": {123.456},
        "gpu1_memory_bytes": {7},
    }
    assert (imported, mapped) == ("False", "False")
    calls = [line.split() for line in Path(nvml["FAKE_NVML_LOG"]).read_text().splitlines()]
    assert [what for what, _ in calls].count("init") == 1
    assert {caller for _, caller in calls}.isdisjoint({pid})


def test_without_the_driver_nothing_is_imported_or_said(monkeypatch: pytest.MonkeyPatch) -> None:
    import ctypes
    import sys

    from rlscope.record import machine

    load = ctypes.CDLL
    monkeypatch.setattr(ctypes, "CDLL", lambda name: load(f"not-here-{name}"))
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    assert machine._gpus() == []
    assert "pynvml" not in sys.modules

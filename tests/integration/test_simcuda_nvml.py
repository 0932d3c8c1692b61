"""The simulated NVML, read by pynvml: devices, and use by windows in which any kernel ran."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.cuda.simcuda_runs import DECLARATIONS, having, run_python, run_simulated

WINDOW_NS = 20_000_000
PERIOD_NS = 5 * WINDOW_NS
SETTINGS = {
    "SIMCUDA_NVML": "present",
    "SIMCUDA_NVML_WINDOW": f"{WINDOW_NS}ns",
    "SIMCUDA_NVML_PERIOD": f"{PERIOD_NS}ns",
}
PYNVML = """
import pynvml
pynvml.nvmlInit()
gpus = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
"""
# Short kernels on both GPUs in turn; ends when a poller has seen each of them in use.
TURNS = (
    PYNVML
    + """
spins = []
for device in (0, 1):
    primary(device)
    spins.append((primary(device), kernel("sim_spin"), stream()))
seen = set()
while len(seen) < 2:
    for context, function, own in spins:
        check(cuda.cuCtxSetCurrent(context))
        launch(function, own, 2_000_000)
        check(cuda.cuStreamSynchronize(own))
        time.sleep(0.02)
        for number, gpu in enumerate(gpus):
            if pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu > 0: seen.add(number)
"""
)


def counted(kernels: list[dict[str, Any]], gpu: int, now_ns: int) -> tuple[int, int]:
    """Busy windows before a time, and nanoseconds of kernels in all windows, by the truth."""
    end_ns = now_ns // WINDOW_NS * WINDOW_NS
    starts = range(end_ns - PERIOD_NS, end_ns, WINDOW_NS)
    in_window = [
        sum(
            max(0, min(row["end_ns"], start + WINDOW_NS) - max(row["start_ns"], start))
            for row in having(kernels, gpu=gpu)
            if row["start_ns"] < now_ns
        )
        for start in starts
    ]
    return sum(ns > 0 for ns in in_window), sum(in_window)


def test_a_window_in_which_any_kernel_ran_counts_as_busy(tmp_path: Path) -> None:
    done = run_python(tmp_path, TURNS, SIMCUDA_DEVICES="2", **SETTINGS)
    assert done.code == 0, done.err
    kernels, answers = done.operations(kind="kernel"), having(done.truth, type="nvml")
    assert {row["gpu"] for row in kernels} == {row["gpu"] for row in answers} == {0, 1}
    for row in answers:
        busy, kernel_ns = counted(kernels, row["gpu"], row["now_ns"])
        assert (row["busy_windows"], row["kernel_ns"]) == (busy, kernel_ns)
        assert row["percent"] == 20 * busy
    used = [row for row in answers if row["percent"]]
    assert all(row["percent"] > 5 * 100 * row["kernel_ns"] / PERIOD_NS for row in used)


def test_devices_are_those_of_cuda_and_not_hidden_by_its_variable(tmp_path: Path) -> None:
    script = (
        PYNVML.replace("import pynvml", "import json, pynvml")
        + """
count = c_int(); check(cuda.cuDeviceGetCount(byref(count)))
uuids, buses = [], []
for device in range(count.value):
    uuid, bus = (ctypes.c_ubyte * 16)(), ctypes.create_string_buffer(32)
    check(cuda.cuDeviceGetUuid_v2(uuid, device)); uuids.append(bytes(uuid).hex())
    check(cuda.cuDeviceGetPCIBusId(bus, 32, device)); buses.append(bus.value.decode())
print(json.dumps({
    "cuda": [uuids, buses],
    "nvml": [[pynvml.nvmlDeviceGetUUID(gpu)[4:].replace("-", "") for gpu in gpus],
             [pynvml.nvmlDeviceGetPciInfo(gpu).busId[4:] for gpu in gpus]],
}))
"""
    )
    settings = {**SETTINGS, "SIMCUDA_DEVICES": "3"}
    found = json.loads(run_python(tmp_path, script, **settings).out)
    assert found["cuda"] == found["nvml"]
    whole_uuids, whole_buses = found["nvml"]
    hidden = json.loads(run_python(tmp_path, script, CUDA_VISIBLE_DEVICES="2,0", **settings).out)
    assert hidden["nvml"] == found["nvml"]
    assert hidden["cuda"] == [[whole_uuids[2], whole_uuids[0]], [whole_buses[2], whole_buses[0]]]


@pytest.mark.parametrize(
    ("visible", "gpus"),
    [
        ("1", [1]),
        ("GPU-51515151-5151-5151-5151-515151515102,0", [2, 0]),
        ("0,7,1", [0]),
        ("-1", None),
        ("", None),
    ],
)
def test_visible_devices_are_as_with_cuda(
    tmp_path: Path, visible: str, gpus: list[int] | None
) -> None:
    script = """
status = cuda.cuInit(0)
count = c_int()
if status == 0: check(cuda.cuDeviceGetCount(byref(count)))
for device in range(count.value): primary(device); launch(kernel("k"))
print(status, count.value)
"""
    file = tmp_path / "program.py"
    file.write_text(DECLARATIONS + script)
    done = run_simulated(
        tmp_path,
        ["python3", str(file)],
        SIMCUDA_DEVICES="3",
        CUDA_VISIBLE_DEVICES=visible,
    )
    assert done.out.split() == (["100", "0"] if gpus is None else ["0", str(len(gpus))])
    kernels = done.operations(kind="kernel")
    assert [(row["device"], row["gpu"]) for row in kernels] == list(enumerate(gpus or []))

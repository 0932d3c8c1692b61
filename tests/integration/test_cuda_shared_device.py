"""Processes that share a GPU: the time in which any of them kept it busy, beside each one's own."""

from __future__ import annotations

from pathlib import Path

from support.cuda.boundaries import NS_TOLERATED
from support.cuda.runs import CudaRun
from support.cuda.scripts import record_script

UUID = "GPU-51515151-5151-5151-5151-515151515100"
SPINNING = """
import multiprocessing

def spin(started, visible):
    if visible: os.environ["CUDA_VISIBLE_DEVICES"] = visible
    begin()
    function, own = kernel("sim_spin"), stream()
    started.wait()
    for i in range(5):
        launch(function, on=own, argument=30_000_000)
    check(cuda.cuStreamSynchronize(own))

if __name__ == "__main__":
    spawned = multiprocessing.get_context("spawn")
    started = spawned.Barrier(2)
    children = [
        spawned.Process(target=spin, args=(started, visible)) for visible in {visible}
    ]
    for child in children: child.start()
    for child in children: child.join()
    assert [child.exitcode for child in children] == [0, 0]
"""


def devices(run: CudaRun) -> dict[str, dict[str, int]]:
    rows = run.query("SELECT gpu, processes, busy_ns, processes_ns FROM gpu_device ORDER BY gpu")
    return {row.pop("gpu"): row for row in rows}


def busy_ns(run: CudaRun, *pids: int) -> int:
    """The union of the kernels of some processes, by the truth."""
    spans = sorted(
        (row["start_ns"], row["end_ns"])
        for row in run.outcome.operations(kind="kernel")
        if row["pid"] in pids
    )
    busy = until = 0
    for start, end in spans:
        busy += max(0, end - max(start, until))
        until = max(until, end)
    return busy


def test_a_gpu_of_two_processes_is_busy_while_either_works(tmp_path: Path) -> None:
    run = record_script(tmp_path, SPINNING.replace("{visible}", "('', '')"))
    one, other = run.pids()
    (found,) = devices(run).values()
    tolerated = 20 * NS_TOLERATED  # ten kernels with two ends
    assert found["processes"] == 2
    assert abs(found["busy_ns"] - busy_ns(run, one, other)) <= tolerated
    apart = busy_ns(run, one) + busy_ns(run, other)
    assert abs(found["processes_ns"] - apart) <= tolerated
    (over_time,) = run.query("SELECT CAST(sum(busy_ns) AS BIGINT) AS ns FROM gpu_timeline")
    assert over_time["ns"] == found["busy_ns"]


def test_devices_that_only_one_process_sees_are_two(tmp_path: Path) -> None:
    script = SPINNING.replace("{visible}", f"('1,0', '{UUID}')")
    run = record_script(tmp_path, script, SIMCUDA_DEVICES="2")
    found = devices(run)
    assert set(found) == {"1", UUID}
    assert all(row["busy_ns"] == row["processes_ns"] > 0 for row in found.values())
    names = run.query("SELECT DISTINCT device, gpu FROM gpu_time ORDER BY gpu")
    assert names == [{"device": 0, "gpu": "1"}, {"device": 0, "gpu": UUID}]

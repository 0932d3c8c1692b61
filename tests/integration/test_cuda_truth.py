"""CUDA calls and GPU work of a trace are those that happened, in every record layout."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from support.cuda.boundaries import UNEXPLAINED_SHARE, boundaries, unexplained
from support.cuda.runs import check_calls, check_work, expected_calls, record_cuda
from support.cuda.simcuda_runs import PREAMBLE, PROGRAMS, SIMCUDA
from support.cuda.trace import OVERHEAD

TRAINING = "40", "3"  # rounds, threads

LAYOUTS = [
    ("12", "11.7.101"),
    ("12", "11.8.87"),
    ("12", "12.0.146"),
    ("12", "12.3.101"),
    ("12", "12.6.80"),
    ("12", "12.9.79"),
    ("13", "13.0.85"),
    ("13", "13.2.86"),
    ("13", "13.3.75"),
    ("13", "13.5.25"),
]


def test_the_layouts_are_all_that_there_are() -> None:
    """Releases whose records have the same sizes have the same records."""
    table = (SIMCUDA / "core" / "cupti_versions.h").read_text()
    rows = re.findall(r'\{"([\d.]+)", (?:\d+, ){3}([\d, ]+), \d+\}', table)
    sizes = dict(rows)
    assert len(sizes) >= 17
    assert {sizes[release] for _, release in LAYOUTS} == set(sizes.values())


@pytest.mark.parametrize(("cuda", "cupti"), LAYOUTS)
def test_a_training_program_in_every_layout(tmp_path: Path, cuda: str, cupti: str) -> None:
    program = [str(PROGRAMS / f"training{cuda}"), *TRAINING]
    run = record_cuda(tmp_path, program, "--cuda", cuda, "--cupti", cupti)
    (pid,) = run.pids()
    check_calls(run, pid)
    check_work(run, pid)
    assert not run.query("SELECT * FROM loss")


def test_one_boundary_in_a_thousand_is_late_on_a_calm_machine(tmp_path: Path) -> None:
    """A calm second is hoped for twenty times."""
    program = [str(PROGRAMS / "training13"), "200", "3"]
    shares = []
    while not shares or (shares[-1] > UNEXPLAINED_SHARE and len(shares) < 20):
        run = record_cuda(tmp_path, program)
        (pid,) = run.pids()
        every = list(boundaries(run.calls(pid), expected_calls(run, pid)))
        shares.append(len(unexplained(every)) / len(every))
    assert shares[-1] <= UNEXPLAINED_SHARE, shares


def test_every_call_of_both_domains(tmp_path: Path) -> None:
    program = [str(PROGRAMS / "training13"), *TRAINING]
    run = record_cuda(tmp_path, program, prof=("--cuda-api", "all"))
    (pid,) = run.pids()
    check_calls(run, pid, everything=True)
    assert len(run.calls(pid)) > 1.5 * len(expected_calls(run, pid))


def test_which_overhead_of_cuptis_own_it_was(tmp_path: Path) -> None:
    buffer_flush = 1  # CUPTI's kind is 1 << 16
    run = record_cuda(tmp_path, [str(PROGRAMS / "training13"), *TRAINING])
    (pid,) = run.pids()
    own = [row for row in run.work(pid) if row["kind"] == OVERHEAD]
    assert own
    assert {row["how"] for row in own} == {buffer_flush}


def test_kernels_of_graphs(tmp_path: Path) -> None:
    program = [str(PROGRAMS / "training13"), *TRAINING]
    run = record_cuda(tmp_path, program, prof=("--cuda-graph-trace", "node"))
    (pid,) = run.pids()
    check_work(run, pid, nodes=True)
    assert any(row["graph"] for row in run.work(pid))


def test_a_gpu_clock_that_is_ahead_and_fast(tmp_path: Path) -> None:
    program = [str(PROGRAMS / "training13"), *TRAINING]
    run = record_cuda(tmp_path, program, SIMCUDA_GPU_DRIFT_PPM="50", SIMCUDA_GPU_SKEW="12ms")
    check_work(run, run.pids()[0])


@pytest.mark.parametrize("answer", ["refuse", "ignore"])
def test_a_cupti_that_does_not_take_our_clock(tmp_path: Path, answer: str) -> None:
    program = [str(PROGRAMS / "training13"), *TRAINING]
    run = record_cuda(tmp_path, program, SIMCUPTI_TIMESTAMP_CALLBACK=answer)
    (pid,) = run.pids()
    check_work(run, pid)
    clock = "realtime" if answer == "refuse" else "monotonic"
    assert f'"clock": "{clock}"' in run.metadata(pid)["cuda"]


PYTHON_THREADS = """
function = kernel("policy_step")
memory = allocate(1 << 16)

def act():
    primary()
    own = stream()
    host = (ctypes.c_char * (1 << 16))()
    for i in range(50):
        check(cuda.cuMemcpyHtoDAsync_v2(memory, host, c_size_t(4096), own))
        launch(function, on=own, grid=(4, 2, 1), block=(64, 2, 1), shared=1024)
        check(cuda.cuMemcpyDtoHAsync_v2(host, memory, c_size_t(512), own))
        check(cuda.cuStreamSynchronize(own))

threads = [threading.Thread(target=act) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.mark.parametrize("ending", ["", "os._exit(0)"])
def test_a_python_program_with_threads(tmp_path: Path, ending: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(PREAMBLE + PYTHON_THREADS + ending)
    run = record_cuda(tmp_path, [sys.executable, str(script)])
    (pid,) = run.pids()
    check_calls(run, pid)
    check_work(run, pid)
    layers = run.query("SELECT layer, gpu_busy, sum(duration_ns) AS ns FROM breakdown GROUP BY ALL")
    assert {"cuda_api", "python"} <= {row["layer"] for row in layers}
    assert any(row["gpu_busy"] and row["ns"] > 0 for row in layers)


def test_dropped_records_are_counted(tmp_path: Path) -> None:
    program = [str(PROGRAMS / "training13"), *TRAINING]
    run = record_cuda(tmp_path, program, SIMCUPTI_DROP_EVERY="10")
    dropped = [row for row in run.outcome.truth if row.get("event") == "dropped"]
    (loss,) = run.query("""SELECT sum("count")::BIGINT AS count FROM loss
                           WHERE kind = 'cuda_dropped'""")
    assert loss["count"] == len(dropped) > 10


@pytest.mark.parametrize(
    ("knobs", "sentence"),
    [
        ({"SIMCUPTI_SUBSCRIBE_STATUS": "39"}, "another profiler holds CUPTI's one subscription"),
        ({"SIMCUPTI_SUBSCRIBE_STATUS": "14"}, "newer interface"),
        ({"SIMCUPTI_SUBSCRIBE_STATUS": "999"}, "gives no reason (999)"),
        ({"SIMCUPTI_ENABLE_STATUS": "35"}, "NVreg_RestrictProfilingToAdminUsers"),
    ],
)
def test_what_is_refused_is_a_sentence(
    tmp_path: Path, knobs: dict[str, str], sentence: str
) -> None:
    run = record_cuda(tmp_path, [str(PROGRAMS / "training13"), *TRAINING], **knobs)
    assert run.outcome.out == "done\n"
    assert sentence in run.metadata(run.pids()[0])["cuda"]


def test_off_is_off(tmp_path: Path) -> None:
    program = [str(PROGRAMS / "training13"), *TRAINING]
    run = record_cuda(tmp_path, program, prof=("--cuda", "off"))
    (pid,) = run.pids()
    assert not run.calls(pid)
    assert "cuda" not in run.metadata(pid)


def test_a_program_without_a_driver_runs_as_ever(tmp_path: Path) -> None:
    program = [sys.executable, "-c", "import ctypes\ntry: ctypes.CDLL('libcuda.so.1')\n"
               "except OSError: print('no driver')"]  # fmt: skip
    run = record_cuda(tmp_path, program, SIMCUDA_DRIVER="absent")
    assert run.outcome.out == "no driver\n"
    (absent,) = run.query("SELECT reason FROM absent WHERE relation = 'api_call'")
    assert absent["reason"].startswith("no CUDA call was recorded, because the CUDA driver")


def test_a_killed_process_keeps_its_calls(tmp_path: Path) -> None:
    program = [str(PROGRAMS / "training13"), "1000000", "3", "kill", "500"]
    run = record_cuda(tmp_path, program, code=-9)
    (pid,) = run.pids()
    expected, recorded = expected_calls(run, pid), run.calls(pid)
    # In flight in each of the threads: written down by one side, not by the other.
    assert len(expected.keys() - recorded.keys()) <= 4
    assert len(recorded) > 100


def test_a_fork_child_begins_without_cuda(tmp_path: Path) -> None:
    run = record_cuda(tmp_path, [str(PROGRAMS / "training13"), "5", "1", "fork"])
    assert "child 3" in run.outcome.out
    parent = run.outcome.calls(name="cudaGraphLaunch")[0]["pid"]
    check_calls(run, parent)
    check_work(run, parent)


UNFINISHED = """
function = kernel("sim_spin_forever")
launch(function, argument=10_000)
check(cuda.cuCtxSynchronize())
launch(function, argument=60_000_000_000)
"""


def test_work_that_outlives_its_process_is_a_loss(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(PREAMBLE + UNFINISHED)
    run = record_cuda(tmp_path, [sys.executable, str(script)])
    (kernel,) = [row for row in run.work(run.pids()[0]) if row["kind"] == 1]
    assert kernel["duration_ns"] == 10_000
    (loss,) = run.query("SELECT count FROM loss WHERE kind = 'gpu_unfinished'")
    assert loss["count"] == 1


# setuid() waits until every thread of the process has answered a signal of the C library's.
CHANGE_USER = """
function = kernel("policy_step")
launch(function)
check(cuda.cuCtxSynchronize())
os.setuid(os.getuid())
"""


def test_a_program_may_change_its_user(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(PREAMBLE + CHANGE_USER)
    run = record_cuda(tmp_path, [sys.executable, str(script)])
    check_work(run, run.pids()[0])


# SIGALRM meets the program wherever it is, inside CUPTI's own code too, and its handler is _exit.
EXIT_IN_A_HANDLER = """
import signal
function = kernel("policy_step")
libc = ctypes.CDLL(None)
libc.signal.argtypes = [c_int, c_void_p]
libc.signal(signal.SIGALRM, ctypes.cast(libc._exit, c_void_p))
signal.setitimer(signal.ITIMER_REAL, 0.05 + {attempt} * 0.0137)
while True:
    launch(function)
"""


@pytest.mark.parametrize("attempt", range(5))
def test_an_exit_in_a_handler_that_interrupts_cuda(tmp_path: Path, attempt: int) -> None:
    script = tmp_path / "script.py"
    script.write_text(PREAMBLE + EXIT_IN_A_HANDLER.format(attempt=attempt))
    run = record_cuda(tmp_path, [sys.executable, str(script)], code=14)
    (pid,) = run.pids()
    lost = expected_calls(run, pid).keys() - run.calls(pid).keys()
    assert len(lost) <= 1

"""CUPTI's other interfaces: an unknown release, its second family of functions, and
callbacks for the program's own calls only."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.cuda.runs import CudaRun, check_calls, check_work, expected_calls, record_cuda
from support.cuda.scripts import record_script
from support.cuda.simcuda_runs import DECLARATIONS, PROGRAMS

TRAINING = [str(PROGRAMS / "training13"), "10", "2"]


def problem(run: CudaRun, pid: int) -> str:
    said: str = json.loads(run.metadata(pid)["cuda"]).get("problem", "")
    return said


def test_an_unknown_release_is_read_as_the_last_known_and_said(tmp_path: Path) -> None:
    run = record_cuda(tmp_path, TRAINING, "--cupti", "14.0")
    assert run.outcome.out == "done\n"
    (pid,) = run.pids()
    assert json.loads(run.metadata(pid)["cuda"])["version"] == 140000
    assert problem(run, pid) == "rlscope does not know this version of CUPTI"
    check_calls(run, pid)
    check_work(run, pid)
    assert not run.query("SELECT * FROM loss")


OTHERS_FAMILY = """
cupti, subscriber = ctypes.CDLL("libcupti.so.13"), c_void_p()
callback = ctypes.CFUNCTYPE(None, c_void_p, c_uint, c_uint, c_void_p)(lambda *_: None)

def subscribe():
    return cupti.cuptiSubscribe_v2(byref(subscriber), callback, None, None)
"""


def test_a_program_that_uses_the_second_family_first_keeps_it(tmp_path: Path) -> None:
    script = OTHERS_FAMILY + "check(subscribe())\nbegin()\nwork()\n"
    script += "print('unharmed', cupti.cuptiUnsubscribe(subscriber))"
    run = record_script(tmp_path, script, SIMCUPTI_VERSION="13.2")
    assert run.outcome.out == "unharmed 0\n"
    (pid,) = run.pids()
    assert not run.calls(pid) and not run.work(pid)
    assert "CUDA is not recorded: another profiler uses CUPTI's newer interface" in problem(
        run, pid
    )
    assert "(14)" in problem(run, pid)
    (row,) = run.query("SELECT reason FROM absent WHERE relation = 'kernel'")
    assert "newer interface" in row["reason"]


NAMED = """
class Parameters(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", ctypes.c_char_p), ("old", c_void_p),
                ("old_size", c_size_t)]

parameters = Parameters(ctypes.sizeof(Parameters), b"Speedometer", None, 0)
check(cupti.cuptiSubscribe_v2(byref(subscriber), callback, None, byref(parameters)))
begin()
work()
print('unharmed', cupti.cuptiUnsubscribe(subscriber))
"""


@pytest.mark.parametrize("release", ["13.0", "13.2"])
def test_who_holds_the_subscription_is_named(tmp_path: Path, release: str) -> None:
    run = record_script(tmp_path, OTHERS_FAMILY + NAMED, SIMCUPTI_VERSION=release)
    assert run.outcome.out == "unharmed 0\n"
    assert "Speedometer (" in problem(run, run.pids()[0])


def test_a_program_that_uses_the_second_family_later_is_refused_it(tmp_path: Path) -> None:
    script = OTHERS_FAMILY + "begin()\nprint(subscribe())\nwork()"
    run = record_script(tmp_path, script, SIMCUPTI_VERSION="13.2")
    assert run.outcome.out == "14\n"
    (pid,) = run.pids()
    check_calls(run, pid)
    check_work(run, pid)
    assert problem(run, pid) == ""


def test_without_nested_callbacks_the_programs_own_calls_are_all(tmp_path: Path) -> None:
    run = record_cuda(tmp_path, TRAINING, SIMCUPTI_NESTED_CALLBACKS="0")
    (pid,) = run.pids()
    own = {key for key, row in expected_calls(run, pid).items() if row["depth"] == 0}
    assert run.calls(pid).keys() == own
    check_work(run, pid)


# CUPTI 11.7 has no callback for cudaLaunchKernelExC, but one for the driver's call inside it.
LAUNCHES = 5
NEWER_LAUNCH = f"""
cudart = ctypes.CDLL("libcudart.so.12")
getattr(cudart, "__cudaRegisterFatBinary").restype = c_void_p

class Configuration(ctypes.Structure):
    _fields_ = [
        ("grid", c_uint * 3), ("block", c_uint * 3), ("shared", c_size_t), ("stream", c_void_p),
        ("attributes", c_void_p), ("count", c_uint),
    ]

host = ctypes.create_string_buffer(8)
handle = c_void_p(getattr(cudart, "__cudaRegisterFatBinary")(None))
getattr(cudart, "__cudaRegisterFunction")(
    handle, host, None, b"_Z6policym", -1, None, None, None, None, None)
getattr(cudart, "__cudaRegisterFatBinaryEnd")(handle)
one = (c_uint * 3)(1, 1, 1)
configuration = Configuration(one, one, 0, None, None, 0)
arguments = (c_void_p * 1)(ctypes.addressof(c_uint64(0)))
for _ in range({LAUNCHES}):
    check(cudart.cudaLaunchKernelExC(byref(configuration), host, arguments))
check(cudart.cudaDeviceSynchronize())
"""


@pytest.mark.parametrize("nested", ["1", "0"])
def test_a_launch_without_a_callback_is_counted(tmp_path: Path, nested: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(DECLARATIONS + NEWER_LAUNCH)
    command = [sys.executable, str(script)]
    options = ("--cuda", "12", "--cupti", "11.7")
    run = record_cuda(tmp_path, command, *options, SIMCUPTI_NESTED_CALLBACKS=nested)
    (pid,) = run.pids()
    check_work(run, pid)
    names = [row["name"] for row in run.calls(pid).values()]
    assert names.count("cuLaunchKernelEx") == (LAUNCHES if nested == "1" else 0)
    assert "cudaLaunchKernelExC" not in names
    (kernel,) = run.query("SELECT * FROM kernel")
    assert kernel["count"] == LAUNCHES
    assert kernel["operation"] == ("(none)" if nested == "1" else "(unlinked)")
    losses = {row["kind"]: row["count"] for row in run.query("SELECT kind, count FROM loss")}
    assert losses == ({} if nested == "1" else {"gpu_work_without_launch": LAUNCHES})

"""The simulated device: when work starts and ends, what copies move, what the truth file says."""

import json
from pathlib import Path

import pytest
from support.cuda.simcuda_runs import run_python


def spans(rows: list[dict], *, name: str) -> list[tuple[int, int]]:
    return [(row["start_ns"], row["end_ns"]) for row in rows if row.get("name") == name]


def test_kernels_of_a_stream_follow_each_other_and_streams_overlap(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
first, second = stream(), stream()
spin = kernel("sim_spin_one")
other = kernel("sim_spin_two")
launch(spin, first, 200_000_000); launch(spin, first, 1_000_000)
launch(other, second, 5_000_000)
check(cuda.cuCtxSynchronize())
""",
    )
    (start, end), (start2, end2) = spans(done.operations(kind="kernel"), name="sim_spin_one")
    ((other, _),) = spans(done.operations(kind="kernel"), name="sim_spin_two")
    assert end - start == 200_000_000 and end2 - start2 == 1_000_000
    assert start2 == end
    assert start < other < end


def test_a_kernel_starts_a_launch_latency_after_its_call(tmp_path: Path) -> None:
    done = run_python(tmp_path, "launch(kernel('k'))", SIMCUDA_LAUNCH_LATENCY="3ms")
    (call,) = done.calls(name="cuLaunchKernel")
    (operation,) = done.operations(kind="kernel")
    assert operation["correlation"] == call["correlation"]
    assert 3_000_000 <= operation["start_ns"] - call["start_ns"]
    assert operation["start_ns"] <= call["end_ns"] + 3_000_000


def test_default_kernel_duration_is_a_knob(tmp_path: Path) -> None:
    done = run_python(tmp_path, "launch(kernel('k'))", SIMCUDA_KERNEL_DURATION="123us")
    (operation,) = done.operations(kind="kernel")
    assert operation["end_ns"] - operation["start_ns"] == 123_000


def test_durations_file_is_played_in_order_and_repeated(tmp_path: Path) -> None:
    script = tmp_path / "durations"
    script.write_text("# pattern, durations\npolicy_* 10us 2.5us\n*add* 7ns\ndefault 1ms\n")
    done = run_python(
        tmp_path,
        """
for name in ("policy_forward", "policy_backward", "policy_forward", "_Z3addPfi", "other"):
    launch(kernel(name))
""",
        "--durations",
        str(script),
    )
    durations = [row["end_ns"] - row["start_ns"] for row in done.operations(kind="kernel")]
    assert durations == [10_000, 2_500, 10_000, 7, 1_000_000]


def test_a_wrong_line_of_the_durations_file_is_one_line_of_error(tmp_path: Path) -> None:
    script = tmp_path / "durations"
    script.write_text("policy_* soon\n")
    done = run_python(tmp_path, "launch(kernel('k'))", "--durations", str(script))
    assert done.code == 1
    assert done.err.splitlines() == [
        "simcuda: SIMCUDA_DURATIONS=policy_* soon: expected PATTERN DURATION..."
    ]


def test_the_legacy_stream_waits_for_blocking_streams_and_they_for_it(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
blocking, free = stream(0), stream(1)
launch(kernel("sim_spin_a"), blocking, 200_000_000)
launch(kernel("sim_spin_legacy"), None, 5_000_000)
launch(kernel("sim_spin_b"), blocking, 1_000)
launch(kernel("sim_spin_free"), free, 1_000)
check(cuda.cuCtxSynchronize())
""",
    )
    at = {row["name"]: row for row in done.operations(kind="kernel")}
    assert at["sim_spin_legacy"]["start_ns"] == at["sim_spin_a"]["end_ns"]
    assert at["sim_spin_b"]["start_ns"] == at["sim_spin_legacy"]["end_ns"]
    assert at["sim_spin_free"]["end_ns"] < at["sim_spin_a"]["end_ns"]


def test_a_waited_event_delays_the_other_stream(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
first, second, mark = stream(), stream(), event(2)
launch(kernel("sim_spin_first"), first, 200_000_000)
check(cuda.cuEventRecord(mark, first))
assert cuda.cuEventQuery(mark) == 600
check(cuda.cuStreamWaitEvent(second, mark, 0))
launch(kernel("sim_spin_second"), second, 1_000)
check(cuda.cuEventSynchronize(mark))
assert cuda.cuEventQuery(mark) == 0
""",
    )
    at = {row["name"]: row for row in done.operations(kind="kernel")}
    assert at["sim_spin_second"]["start_ns"] == at["sim_spin_first"]["end_ns"]
    (wait,) = done.operations(sync="event")
    assert wait["end_ns"] >= at["sim_spin_first"]["end_ns"]
    assert wait["stream"] is None and wait["event"] == 1
    assert [row["event"] for row in done.operations(sync="stream_wait_event")] == [1]


def test_elapsed_time_of_events_is_the_gpu_clocks(tmp_path: Path) -> None:
    script = """
start, end = event(), event()
s = stream()
check(cuda.cuEventRecord(start, s)); launch(kernel("sim_spin_k"), s, 50_000_000)
check(cuda.cuEventRecord(end, s)); check(cuda.cuEventSynchronize(end))
elapsed = c_float()
check(cuda.cuEventElapsedTime(byref(elapsed), start, end))
print(elapsed.value)
"""
    right = float(run_python(tmp_path, script).out)
    slow = float(run_python(tmp_path, script, SIMCUDA_GPU_DRIFT_PPM="-900000").out)
    assert right >= 50  # milliseconds, and the launch latency and this script's own calls
    assert 5 <= slow < 50


def test_copies_move_bytes_and_name_their_memory(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
device, other = allocate(4096), allocate(4096)
pinned = c_void_p()
check(cuda.cuMemHostAlloc(byref(pinned), c_size_t(4096), 0))
ctypes.memset(pinned, 5, 4096)
back = ctypes.create_string_buffer(4096)
s = stream()
check(cuda.cuMemcpyHtoDAsync_v2(device, pinned, c_size_t(4096), s))
check(cuda.cuMemcpyDtoDAsync_v2(other, device, c_size_t(1000), s))
check(cuda.cuMemsetD32Async(c_uint64(other.value + 2000), 0x01020304, c_size_t(25), s))
check(cuda.cuMemcpyDtoH_v2(back, other, c_size_t(4096)))
check(cuda.cuMemcpyHtoD_v2(device, back, c_size_t(64)))
assert back.raw[:1000] == b"\\5" * 1000
assert back.raw[2000:2100] == b"\\4\\3\\2\\1" * 25
""",
    )
    copies = [
        (row["direction"], row["source"], row["destination"], row["bytes"], row["asynchronous"])
        for row in done.operations(kind="memcpy")
    ]
    assert copies == [
        ("HtoD", "pinned", "device", 4096, True),
        ("DtoD", "device", "device", 1000, True),
        ("DtoH", "device", "pageable", 4096, False),
        ("HtoD", "pageable", "device", 64, False),
    ], done.err
    (memset,) = done.operations(kind="memset")
    assert (memset["bytes"], memset["value"]) == (100, 0x01020304)


def test_pitched_copies_move_rows(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
class Copy2D(ctypes.Structure):
    _fields_ = [("source_x", c_size_t), ("source_y", c_size_t), ("source_type", c_uint),
                ("source_host", c_void_p), ("source_device", c_uint64), ("source_array", c_void_p),
                ("source_pitch", c_size_t), ("x", c_size_t), ("y", c_size_t), ("type", c_uint),
                ("host", c_void_p), ("device", c_uint64), ("array", c_void_p), ("pitch", c_size_t),
                ("width", c_size_t), ("height", c_size_t)]
device = allocate(1024)
check(cuda.cuMemsetD8_v2(device, 1, c_size_t(1024)))
host = ctypes.create_string_buffer(bytes(range(100)))
copy = Copy2D(source_x=1, source_y=1, source_type=1, source_host=ctypes.addressof(host),
              source_pitch=10, x=2, type=2, device=device.value, pitch=64, width=4, height=3)
check(cuda.cuMemcpy2D_v2(byref(copy)))
back = ctypes.create_string_buffer(192)
check(cuda.cuMemcpyDtoH_v2(back, device, c_size_t(192)))
assert [list(back.raw[row * 64:row * 64 + 7]) for row in range(3)] == [
    [1, 1, 11, 12, 13, 14, 1], [1, 1, 21, 22, 23, 24, 1], [1, 1, 31, 32, 33, 34, 1]]
""",
    )
    assert [row["bytes"] for row in done.operations(kind="memcpy")] == [12, 192], done.err


def test_devices_are_a_knob_and_copies_between_them_are_peer_copies(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
count = c_int()
check(cuda.cuDeviceGetCount(byref(count)))
print(count.value)
zero = primary(0); near = allocate(64)
one = primary(1); far = allocate(64)
check(cuda.cuMemcpyPeerAsync(far, one, near, zero, c_size_t(64), stream()))
launch(kernel("k"))
check(cuda.cuCtxSynchronize())
""",
        SIMCUDA_DEVICES="3",
    )
    assert done.out == "3\n", done.err
    (copy,) = done.operations(kind="peer_memcpy")
    assert (copy["source_device"], copy["destination_device"], copy["device"]) == (0, 1, 1)
    (launched,) = done.operations(kind="kernel")
    assert (launched["device"], launched["context"]) == (1, 2)


def test_no_devices_and_no_driver_are_errors_of_cuda(tmp_path: Path) -> None:
    assert "AssertionError: 100" in run_python(tmp_path, "", SIMCUDA_DEVICES="0").err
    absent = run_python(tmp_path, "", SIMCUDA_DRIVER="absent")
    assert "OSError: " in absent.err and "libcuda.so.1" in absent.err


def test_host_functions_run_in_time_and_a_synchronisation_waits_for_them(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
called = []
@ctypes.CFUNCTYPE(None, c_void_p)
def note(data):
    time.sleep(0.01)
    called.append((time.monotonic_ns(), threading.get_native_id()))
s = stream()
launch(kernel("sim_spin_k"), s, 200_000_000)
check(cuda.cuLaunchHostFunc(s, note, None))
assert not called
check(cuda.cuStreamSynchronize(s))
print(called[0][0], called[0][1] == os.getpid())
""",
    )
    at, on_main_thread = done.out.split()
    (kernel,) = done.operations(kind="kernel")
    (function,) = done.operations(kind="host_function")
    assert function["start_ns"] == kernel["end_ns"]
    assert int(at) >= kernel["end_ns"] and on_main_thread == "False"


def test_launches_with_a_configuration_and_with_packed_arguments(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
class Config(ctypes.Structure):
    _fields_ = [("grid", c_uint * 3), ("block", c_uint * 3), ("shared", c_uint), ("on", c_void_p),
                ("attributes", c_void_p), ("count", c_uint)]
spin, duration = kernel("sim_spin_k"), c_uint64(1000)
arguments = (c_void_p * 1)(ctypes.addressof(duration))
config = Config((2, 1, 1), (64, 1, 1), 16, stream().value)
check(cuda.cuLaunchKernelEx(byref(config), spin, arguments, None))
duration.value = 2000
size = c_size_t(8)
packed = (c_void_p * 5)(1, ctypes.addressof(duration), 2, ctypes.addressof(size), 0)
check(cuda.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, None, None, packed))
print(cuda.cuLaunchKernel(spin, 1, 1, 1, 2048, 1, 1, 0, None, arguments, None))
""",
    )
    first, second = done.operations(kind="kernel")
    assert (first["grid"], first["block"], first["dynamic_shared_bytes"]) == (
        [2, 1, 1],
        [64, 1, 1],
        16,
    )
    assert [row["end_ns"] - row["start_ns"] for row in (first, second)] == [1000, 2000]
    assert done.out == "1\n"


def test_threads_get_their_own_lines_and_correlations(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
def work():
    primary()
    own = stream()
    for _ in range(200): launch(spin, own, 100)
    check(cuda.cuStreamSynchronize(own))
spin = kernel("sim_spin_k")
threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
""",
    )
    launches = done.calls(name="cuLaunchKernel")
    kernels = done.operations(kind="kernel")
    assert len(launches) == len(kernels) == 800, done.err
    assert {row["correlation"] for row in launches} == {row["correlation"] for row in kernels}
    assert len({row["tid"] for row in launches}) == 4


def test_a_call_that_is_not_simulated_says_so_and_is_in_the_truth(tmp_path: Path) -> None:
    done = run_python(tmp_path, "print(cuda.cuArrayCreate_v2(None, None))")
    assert done.out == "801\n"
    (call,) = done.calls(name="cuArrayCreate_v2")
    assert call["status"] == 801 and call["has_cbid"] and call["depth"] == 0


@pytest.mark.parametrize("per_thread, name", [(0, "cuStreamQuery"), (2, "cuStreamQuery_ptsz")])
def test_entry_points_by_name(tmp_path: Path, per_thread: int, name: str) -> None:
    done = run_python(
        tmp_path,
        f"""
entry = c_void_p()
flags = c_uint64({per_thread})
check(cuda.cuGetProcAddress_v2(b"cuStreamQuery", byref(entry), 12000, flags, None))
print(ctypes.CFUNCTYPE(c_int, c_void_p)(entry.value)(None))
status = cuda.cuGetProcAddress_v2(b"cuNoSuchThing", byref(entry), 12000, flags, None)
print(status, entry.value)
""",
    )
    assert done.out == "0\n500 None\n", done.err
    assert len(done.calls(name=name)) == 1


def test_kernel_names_are_whole_and_json(tmp_path: Path) -> None:
    name = "_Z" + "quote" * 900
    done = run_python(
        tmp_path, f"launch(kernel({json.dumps(name)}), grid=(3, 2, 1), block=(8, 4, 2), shared=77)"
    )
    (operation,) = done.operations(kind="kernel")
    assert operation["name"] == name
    assert (operation["grid"], operation["block"]) == ([3, 2, 1], [8, 4, 2])
    assert operation["dynamic_shared_bytes"] == 77
    assert 16 <= operation["registers"] < 116

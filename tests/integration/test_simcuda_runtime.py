"""The simulated runtime by ctypes, in both majors: what differs between them, and what must not."""

from pathlib import Path

import pytest
from support.cuda.simcuda_runs import Outcome, run_python

RUNTIME = """
runtime = ctypes.CDLL("libcudart.so." + MAJOR)
runtime.cudaGetErrorName.restype = ctypes.c_char_p

def device_memory(size):
    pointer = c_void_p()
    check(runtime.cudaMalloc(byref(pointer), c_size_t(size)))
    return pointer

def made(create, *more):
    handle = c_void_p()
    check(create(byref(handle), *more))
    return handle
"""

both_majors = pytest.mark.parametrize("major", ["12", "13"])


def run_runtime(folder: Path, major: str, script: str, **environment: str) -> Outcome:
    return run_python(
        folder, f"MAJOR = '{major}'\n" + RUNTIME + script, "--cuda", major, **environment
    )


@pytest.mark.parametrize(
    "major, function, size, places",
    [
        ("12", "cudaGetDeviceProperties_v2", 1032, (360, 364, 388, 696, 584)),
        ("13", "cudaGetDeviceProperties", 1008, (360, 364, 384, 672, 568)),
    ],
)
def test_device_properties_have_the_majors_layout(
    tmp_path: Path, major: str, function: str, size: int, places: tuple[int, ...]
) -> None:
    done = run_runtime(
        tmp_path,
        major,
        f"""
properties = ctypes.create_string_buffer(b"x" * 2000, 2000)
check(runtime.{function}(properties, 1))
print(properties.raw[:256].rstrip(b"\\0").decode())
print([c_int.from_buffer(properties, place).value for place in {places}])
print(c_uint64.from_buffer(properties, 288).value >> 30)
assert properties.raw[{size}:] == b"x" * (1999 - {size}) + b"x"
""",
        SIMCUDA_DEVICES="2",
    )
    assert done.out == "Simulated H200\n[9, 0, 132, 232448, 2]\n141\n", done.err


@both_majors
def test_pointers_are_what_they_are(tmp_path: Path, major: str) -> None:
    done = run_runtime(
        tmp_path,
        major,
        """
class Attributes(ctypes.Structure):
    _fields_ = [("type", c_int), ("device", c_int), ("there", c_void_p), ("here", c_void_p),
                ("reserved", ctypes.c_long * 8)]
def kind(pointer):
    attributes = Attributes()
    check(runtime.cudaPointerGetAttributes(byref(attributes), pointer))
    return attributes.type
device = device_memory(1000)
pinned = made(runtime.cudaMallocHost, c_size_t(10))
managed = made(runtime.cudaMallocManaged, c_size_t(10), 1)
pageable = ctypes.create_string_buffer(10)
print(kind(device), kind(c_void_p(device.value + 999)), kind(pinned), kind(managed), kind(pageable))
check(runtime.cudaHostRegister(pageable, c_size_t(10), 0))
print(kind(pageable))
check(runtime.cudaHostUnregister(pageable))
check(runtime.cudaFree(device))
print(kind(pageable), kind(device), runtime.cudaFree(device))
""",
    )
    assert done.out == "2 2 1 3 0\n1\n0 0 1\n", done.err


@both_majors
def test_errors_are_kept_until_asked_for(tmp_path: Path, major: str) -> None:
    done = run_runtime(
        tmp_path,
        major,
        """
print(runtime.cudaSetDevice(7), runtime.cudaPeekAtLastError(), runtime.cudaGetLastError(),
      runtime.cudaGetLastError())
print(runtime.cudaMalloc(byref(c_void_p()), c_size_t(1 << 50)))
print(runtime.cudaGetErrorName(2).decode())
print(runtime.cudaMallocArray(None, None, c_size_t(1), c_size_t(1), 0))
print(runtime.cudaStreamQuery(c_void_p(12345)))
""",
    )
    assert done.out == "101 101 101 0\n2\ncudaErrorMemoryAllocation\n801\n400\n", done.err
    assert [row["status"] for row in done.calls(name="cudaMallocArray")] == [801]


@both_majors
def test_the_per_thread_default_stream_is_another_in_each_thread(
    tmp_path: Path, major: str
) -> None:
    done = run_runtime(
        tmp_path,
        major,
        """
def clear():
    check(runtime.cudaMemsetAsync_ptsz(device_memory(64), 1, c_size_t(64), None))
    check(runtime.cudaMemset_ptds(device_memory(64), 1, c_size_t(64)))
    check(runtime.cudaStreamSynchronize_ptsz(None))
clear()
thread = threading.Thread(target=clear); thread.start(); thread.join()
check(runtime.cudaMemset(device_memory(64), 1, c_size_t(64)))
""",
    )
    streams = [row["stream"] for row in done.operations(kind="memset")]
    assert streams[0] == streams[1] != streams[2] == streams[3], done.err
    assert streams[4] == 7


CAPTURE_INFO = {
    "12": "cudaStreamGetCaptureInfo_v2(s, byref(status), byref(number), None, None, byref(n))",
    "13": "cudaStreamGetCaptureInfo(s, byref(status), byref(number), None, None, None, byref(n))",
}


@both_majors
def test_a_graph_by_capture(tmp_path: Path, major: str) -> None:
    done = run_runtime(
        tmp_path,
        major,
        f"""
s, device = made(runtime.cudaStreamCreate), device_memory(64)
check(runtime.cudaStreamBeginCapture(s, 0))
check(runtime.cudaMemsetAsync(device, 3, c_size_t(64), s))
status, number, n = c_int(), c_uint64(), c_size_t()
check(runtime.{CAPTURE_INFO[major]})
graph = made(lambda out: runtime.cudaStreamEndCapture(s, out))
executable = made(runtime.cudaGraphInstantiate, graph, c_uint64(0))
for _ in range(4): check(runtime.cudaGraphLaunch(executable, s))
check(runtime.cudaStreamSynchronize(s))
back = ctypes.create_string_buffer(64)
check(runtime.cudaMemcpy(back, device, c_size_t(64), 2))
print(status.value, n.value, back.raw == b"\\3" * 64)
""",
    )
    assert done.out == "1 1 True\n", done.err
    assert len(done.operations(kind="memset")) == len(done.operations(kind="graph")) == 4


@both_majors
def test_pools_and_copies_between_rows(tmp_path: Path, major: str) -> None:
    done = run_runtime(
        tmp_path,
        major,
        """
pool = made(runtime.cudaDeviceGetDefaultMemPool, 0)
threshold = c_uint64(1 << 30)
check(runtime.cudaMemPoolSetAttribute(pool, 4, byref(threshold)))
kept = c_uint64()
check(runtime.cudaMemPoolGetAttribute(pool, 4, byref(kept)))
s = made(runtime.cudaStreamCreate)
device = made(runtime.cudaMallocAsync, c_size_t(4096), s)
rows = ctypes.create_string_buffer(b"abcdefghi", 9)
back = ctypes.create_string_buffer(9)
three, pitch = c_size_t(3), c_size_t(512)
check(runtime.cudaMemcpy2DAsync(device, pitch, rows, three, three, three, 1, s))
check(runtime.cudaMemcpy2D(back, three, device, pitch, c_size_t(2), three, 2))
check(runtime.cudaFreeAsync(device, s))
print(kept.value == 1 << 30, back.raw)
""",
    )
    assert done.out == "True b'ab\\x00de\\x00gh\\x00'\n", done.err
    assert [row["bytes"] for row in done.operations(kind="memcpy")] == [9, 6]


@both_majors
def test_copies_of_one_slice(tmp_path: Path, major: str) -> None:
    done = run_runtime(
        tmp_path,
        major,
        """
def slices(destination, source, depth, kind):  # from (2, 1, 1) of planes of 4 rows of 16 bytes
    return byref((c_size_t * 20)(0, 2, 1, 1, source, 16, 16, 4, 0, 0, 0, 0, destination, 8, 8, 2,
                                 4, 2, depth, kind))

s, device = made(runtime.cudaStreamCreate), device_memory(64)
planes = ctypes.create_string_buffer(bytes(range(128)), 128)
source = ctypes.addressof(planes)
check(runtime.cudaMemcpy3D(slices(device.value, source, 1, 1)))
check(runtime.cudaMemcpy3DAsync(slices(device.value + 16, source, 1, 1), s))
check(runtime.cudaMemcpy3D(slices(device.value, source, 0, 1)))
back = ctypes.create_string_buffer(32)
check(runtime.cudaMemcpy(back, device, c_size_t(32), 2))
print([list(back.raw[at : at + 4]) for at in (0, 8, 16, 24)])
print(runtime.cudaMemcpy3D(slices(device.value, source, 2, 1)))
""",
    )
    row, next_row = [82, 83, 84, 85], [98, 99, 100, 101]
    assert done.out == f"{[row, next_row, row, next_row]}\n801\n", done.err
    copies = [(row["direction"], row["bytes"], row["asynchronous"])
              for row in done.operations(kind="memcpy")]  # fmt: skip
    assert copies == [("HtoD", 8, False), ("HtoD", 8, True), ("DtoH", 32, False)]


# How a device is given: by its number, or as a location of two ints.
DEVICE = {"12": "0", "13": "c_uint64(1)"}
FLAGS = {"12": "", "13": "0, "}


@both_majors
def test_advice_on_managed_memory_is_accepted_and_does_nothing(tmp_path: Path, major: str) -> None:
    done = run_runtime(
        tmp_path,
        major,
        f"""
s, unmanaged, managed = made(runtime.cudaStreamCreate), device_memory(4096), c_void_p()
check(runtime.cudaMallocManaged(byref(managed), c_size_t(4096), 1))
def advise(memory):
    bytes = c_size_t(4096)
    return (
        runtime.cudaMemAdvise(memory, bytes, 1, {DEVICE[major]}),
        runtime.cudaMemPrefetchAsync(memory, bytes, {DEVICE[major]}, {FLAGS[major]}s),
        runtime.cudaStreamAttachMemAsync(s, memory, bytes, 4),
    )
print(advise(managed), advise(unmanaged))
check(runtime.cudaStreamSynchronize(s))
""",
    )
    assert done.out == "(0, 0, 0) (1, 1, 1)\n", done.err
    assert {row["kind"] for row in done.operations()} == {"sync"}
    inside = {row["name"] for row in done.calls(depth=1)}
    assert inside >= {"cuStreamAttachMemAsync"}
    assert any(name.startswith("cuMemPrefetchAsync") for name in inside)


@both_majors
def test_elapsed_time_and_events(tmp_path: Path, major: str) -> None:
    done = run_runtime(
        tmp_path,
        major,
        """
start, end = made(runtime.cudaEventCreate), made(runtime.cudaEventCreate)
check(runtime.cudaEventRecord(start, None)); check(runtime.cudaEventRecord(end, None))
check(runtime.cudaEventSynchronize(end))
elapsed = c_float(-1)
check(runtime.cudaEventElapsedTime(byref(elapsed), start, end))
print(elapsed.value >= 0)
""",
    )
    assert done.out == "True\n", done.err

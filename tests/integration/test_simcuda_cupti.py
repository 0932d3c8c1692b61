"""The simulated CUPTI, seen by a client of the tests' own: every release, and every knob."""

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.cuda.simcuda_runs import PROGRAMS, Outcome, having, run_python, run_simulated

# Release, number, sizes of kernel, memcpy, memset, synchronization, graph and overhead records:
# read off NVIDIA's headers apart from the simulated CUPTI's own table.
RELEASES = [
    ("11.7.101", 17, 176, 88, 88, 40, 48, 40),
    ("11.8.87", 18, 200, 88, 88, 40, 48, 40),
    ("12.0.146", 18, 208, 88, 88, 40, 48, 40),
    ("12.1.105", 18, 208, 88, 88, 40, 48, 40),
    ("12.2.142", 20, 208, 88, 88, 40, 48, 40),
    ("12.3.101", 21, 208, 88, 88, 40, 56, 48),
    ("12.4.127", 22, 208, 88, 88, 40, 56, 56),
    ("12.5.82", 23, 208, 88, 88, 40, 56, 56),
    ("12.6.80", 24, 208, 88, 88, 40, 56, 56),
    ("12.8.90", 26, 208, 96, 88, 56, 56, 56),
    ("12.9.79", 28, 208, 96, 88, 56, 56, 56),
    ("13.0.85", 130001, 216, 96, 88, 56, 56, 56),
    ("13.1.115", 130101, 224, 96, 88, 56, 56, 56),
    ("13.2.86", 130202, 224, 96, 88, 56, 56, 56),
    ("13.3.75", 130301, 232, 96, 88, 56, 56, 56),
    ("13.4.92", 130401, 248, 112, 104, 56, 56, 56),
    ("13.5.25", 130500, 248, 112, 104, 56, 56, 56),
    ("14.0.0", 140000, 248, 112, 104, 56, 56, 56),  # made up
]
EVERY_KIND = "10,1,2,38,17,22"
KIND = {"kernel": 10, "memcpy": 1, "memset": 2, "peer_memcpy": 22, "sync": 38, "graph": 51}


def train(
    folder: Path, *options: str, rounds: int = 10, threads: int = 1, **settings: str
) -> Outcome:
    """The program `training` of CUDA 13 with the client injected."""
    settings = {"CLIENT_KINDS": EVERY_KIND, "CLIENT_CLOCK": "monotonic"} | settings
    command = [str(PROGRAMS / "training13"), str(rounds), str(threads)]
    return run_simulated(folder, command, *options, client=True, **settings)


def identity(row: dict[str, Any], kind: str) -> tuple[Any, ...]:
    """What must be the same in the truth and in CUPTI's record of one operation."""
    shared = {
        "kernel": [
            "name",
            "grid",
            "block",
            "static_shared_bytes",
            "dynamic_shared_bytes",
            "registers",
        ],
        "memcpy": ["bytes"],
        "memset": ["bytes", "value"],
        "peer_memcpy": ["bytes", "source_device", "destination_device"],
        "sync": [],
        "graph": [],
    }[kind]
    stream = 0xFFFFFFFF if row["stream"] is None else row["stream"]
    common = (row["correlation"], row["context"], stream)
    return common + tuple(str(row[name]) for name in shared)


def assert_same_operations(
    done: Outcome, kinds: tuple[str, ...] = ("kernel", "memcpy", "memset", "sync")
) -> None:
    """CUPTI gave exactly what the device did, at the same times to a microsecond."""
    for kind in kinds:
        truth = sorted(
            done.operations(kind=kind), key=lambda row: (identity(row, kind), row["start_ns"])
        )
        given = sorted(
            done.records(kind=KIND[kind]), key=lambda row: (identity(row, kind), row["start"])
        )
        assert Counter(identity(row, kind) for row in truth) == Counter(
            identity(row, kind) for row in given
        )
        assert truth, kind
        for right, row in zip(truth, given, strict=True):
            assert abs(row["start"] - right["start_ns"]) < 1000 > abs(row["end"] - right["end_ns"])


@pytest.mark.parametrize("release", RELEASES, ids=[release[0] for release in RELEASES])
def test_records_of_every_release(tmp_path: Path, release: tuple[Any, ...]) -> None:
    name, number, *sizes = release
    done = train(tmp_path, "--cupti", name, CLIENT_KINDS=EVERY_KIND + ",5")
    assert having(done.client, event="version") == [{"event": "version", "number": number}]
    assert_same_operations(done)
    steps = {row["kind"]: row["bytes"] for row in having(done.client, event="step")}
    kernel, memcpy, memset, sync, _, overhead = sizes
    assert steps == {10: kernel, 1: memcpy, 2: memset, 38: sync, 17: overhead, 5: 40}


@pytest.mark.parametrize("name, size", [("12.2", 48), ("12.3", 56), ("13.5", 56)])
def test_graph_level_records_replace_those_of_the_nodes(
    tmp_path: Path, name: str, size: int
) -> None:
    done = train(tmp_path, "--cupti", name, CLIENT_KINDS="10,51")
    assert_same_operations(done, ("graph",))
    assert [row["graph"] for row in done.records(kind=51)] == [
        row["graph"] for row in done.operations(kind="graph")
    ]
    assert all(row["graph"] == 0 for row in done.records(kind=10))
    assert len(done.records(kind=10)) == len(done.operations(kind="kernel", graph=0)) == 20
    assert {row["bytes"] for row in having(done.client, event="step", kind=51)} == {size}


def test_node_level_records_name_graph_and_node(tmp_path: Path) -> None:
    done = train(tmp_path)
    truth = {(row["graph"], row["node"]) for row in done.operations(kind="kernel")}
    assert truth == {(row["graph"], row["node"]) for row in done.records(kind=10)}
    assert len(truth) == 5  # four nodes, and (0, 0) of the kernels launched one by one


def test_memory_kinds_and_directions_in_records(tmp_path: Path) -> None:
    done = train(tmp_path)
    given = {
        (row["direction"], row["source"], row["destination"], row["flags"])
        for row in done.records(kind=1)
    }
    assert given == {(1, 2, 3, 1), (2, 3, 2, 1)}
    assert {(row["value"], row["memory"]) for row in done.records(kind=2)} == {(7, 3)}


def test_peer_copies_have_records_of_their_own(tmp_path: Path) -> None:
    script = """
zero = primary(0); near = allocate(64)
one = primary(1); far = allocate(64)
for _ in range(3): check(cuda.cuMemcpyPeerAsync(far, one, near, zero, c_size_t(64), stream()))
check(cuda.cuCtxSynchronize())
"""
    done = run_python(
        tmp_path,
        script,
        client=True,
        SIMCUDA_DEVICES="2",
        CLIENT_KINDS="1,22",
        CLIENT_CLOCK="monotonic",
    )
    assert_same_operations(done, ("peer_memcpy",))
    assert done.records(kind=1) == []


def test_injection_happens_once_and_no_thread_passes_before_it_is_done(tmp_path: Path) -> None:
    program = """
import ctypes, threading
cuda = ctypes.CDLL("libcuda.so.1")
def work():
    assert cuda.cuInit(0) == 0
    cuda.cuDeviceGetCount(ctypes.byref(ctypes.c_int()))
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
"""
    file = tmp_path / "program.py"
    file.write_text(program)
    done = run_simulated(tmp_path, ["python3", str(file)], client=True)
    assert len(having(done.client, event="injected")) == 1
    (ready,) = having(done.client, event="ready")
    counts = done.calls(name="cuDeviceGetCount")
    assert len(counts) == 8
    assert all(row["status"] == 0 and row["start_ns"] >= ready["now_ns"] for row in counts)


def test_threads_that_initialise_at_once_are_not_taken_for_forked_children(tmp_path: Path) -> None:
    done = run_simulated(tmp_path, [str(PROGRAMS / "slow_init")])
    assert done.out == "refused 0 of 4 calls of cuInit, page slow: 1\n"


def test_callbacks_come_in_pairs_around_the_true_times(tmp_path: Path) -> None:
    done = train(tmp_path, CLIENT_CALLBACKS="1,2", CLIENT_KINDS="10")
    truth = [
        row
        for row in done.calls(has_cbid=True)
        if row["name"] not in ("cuInit", "cuDriverGetVersion")
    ]
    enters, exits = done.callbacks(site=0), done.callbacks(site=1)
    key = ("domain", "cbid", "correlation", "tid")
    domain = {"driver": 1, "runtime": 2}
    expected = Counter((domain[row["domain"]], *(row[name] for name in key[1:])) for row in truth)
    assert expected == Counter(tuple(row[name] for name in key) for row in enters)
    assert expected == Counter(tuple(row[name] for name in key) for row in exits)
    launch = done.calls(name="__cudaLaunchKernel")[0]
    (enter,) = having(enters, cbid=launch["cbid"], domain=2, correlation=launch["correlation"])
    (leave,) = having(exits, cbid=launch["cbid"], domain=2, correlation=launch["correlation"])
    assert enter["now_ns"] <= launch["start_ns"] <= launch["end_ns"] <= leave["now_ns"]
    assert enter["symbol"] == "_Z15sim_spin_kernelm"


def test_nested_callbacks_are_a_knob(tmp_path: Path) -> None:
    def drivers(**settings: str) -> list[Any]:
        return train(tmp_path, CLIENT_CALLBACKS="1,2", **settings).callbacks(domain=1, cbid=307)

    assert len(drivers()) > 0
    assert drivers(SIMCUPTI_NESTED_CALLBACKS="0") == []


def test_api_records_leave_out_driver_calls_inside_runtime_calls(tmp_path: Path) -> None:
    done = train(tmp_path, CLIENT_KINDS="4,5")
    launches = done.calls(name="__cudaLaunchKernel")
    launches.sort(key=lambda row: row["correlation"])
    given = sorted(done.records(kind=5, cbid=505), key=lambda row: row["correlation"])
    assert [row["correlation"] for row in given] == [row["correlation"] for row in launches]
    assert done.records(kind=4, cbid=307) == []
    for right, row in zip(launches, given, strict=True):
        assert (row["pid"], row["tid"]) == (right["pid"], right["tid"])
        assert row["start"] <= right["start_ns"] and right["end_ns"] <= row["end"]


def test_buffers_are_asked_for_at_the_first_record(tmp_path: Path) -> None:
    script = "check(cuda.cuCtxSynchronize() if os.environ.get('USE') else 0)"
    none = run_python(tmp_path, script, client=True, CLIENT_KINDS="10,38")
    some = run_python(tmp_path, script, client=True, CLIENT_KINDS="10,38", USE="1")
    assert len(having(none.client, event="requested")) == 0
    assert len(having(some.client, event="requested")) == 1


def test_threads_have_buffers_of_their_own_from_12_3_on(tmp_path: Path) -> None:
    def askers(release: str, threads: int) -> set[int]:
        done = train(tmp_path, "--cupti", release, threads=threads)
        return {row["tid"] for row in having(done.client, event="requested")}

    # The workers, and after them the main thread that replays the graph. Where they share a buffer,
    # two workers may ask for it at the same time.
    assert len(askers("12.2", threads=1)) == 1
    assert len(askers("12.3", threads=1)) == 2
    assert len(askers("12.3", threads=3)) == 4


def test_kinds_disabled_before_the_last_flush_are_still_delivered(tmp_path: Path) -> None:
    done = train(tmp_path, CLIENT_DISABLE="1", CLIENT_KINDS="10,1,2,38")
    assert_same_operations(done)


def test_full_buffers_lose_nothing(tmp_path: Path) -> None:
    done = train(tmp_path, rounds=200, threads=2, CLIENT_BUFFER="1024")
    assert_same_operations(done)


def test_lost_records_are_a_knob_and_counted(tmp_path: Path) -> None:
    done = train(tmp_path, SIMCUPTI_DROP_EVERY="10", CLIENT_KINDS="10")
    kernels, given = done.operations(kind="kernel"), done.records(kind=10)
    (dropped,) = having(done.client, event="dropped")
    assert len(kernels) == len(given) + dropped["records"] == 40
    assert dropped["records"] == 4
    assert len(having(done.truth, type="cupti", event="dropped", kind=10)) == 4


@pytest.mark.parametrize("status", [1, 14, 15, 39, 999])
def test_a_refused_subscription_is_a_knob(tmp_path: Path, status: int) -> None:
    done = train(tmp_path, SIMCUPTI_SUBSCRIBE_STATUS=str(status), CLIENT_CALLBACKS="2")
    assert done.status("cuptiSubscribe") == status
    assert (done.code, done.out, done.callbacks()) == (0, "done\n", [])


@pytest.mark.parametrize(
    "release, version, subscription", [("12.9", 0, 15), ("13.0", 0, 999), ("13.3", 999, 999)]
)
def test_a_refused_connection_is_a_knob(
    tmp_path: Path, release: str, version: int, subscription: int
) -> None:
    done = train(tmp_path, "--cupti", release, SIMCUPTI_CONNECTION="refuse")
    assert done.status("cuptiGetVersion") == version
    assert done.status("cuptiSubscribe") == subscription
    assert done.status("cuptiActivityEnable") == subscription
    assert (done.code, done.out, done.records()) == (0, "done\n", [])


def test_13_2_ends_the_process_that_it_cannot_connect_for(tmp_path: Path) -> None:
    done = train(tmp_path, "--cupti", "13.2", SIMCUPTI_CONNECTION="refuse")
    assert (done.code, done.out) == (-signal.SIGSEGV, "")


@pytest.mark.parametrize("release, driver", [("12.9", 13000), ("13.0", 13000), ("13.2", 13020)])
def test_the_driver_is_as_new_as_its_cupti(tmp_path: Path, release: str, driver: int) -> None:
    script = "own = c_int(); check(cuda.cuDriverGetVersion(byref(own))); print(own.value)"
    assert run_python(tmp_path, script, "--cupti", release).out == f"{driver}\n"


def test_a_second_subscriber_is_refused(tmp_path: Path) -> None:
    done = train(tmp_path, "--cupti", "13.0", CLIENT_V2_FIRST="1")
    assert done.status("cuptiSubscribe_v2") == 0
    assert done.status("cuptiSubscribe") == 39


@pytest.mark.parametrize("release, first", [("12.9", -1), ("13.1", 0), ("13.2", 0), ("13.5", 0)])
def test_the_two_families_exclude_each_other_from_13_2_on(
    tmp_path: Path, release: str, first: int
) -> None:
    done = train(tmp_path, "--cupti", release, CLIENT_V2_FIRST="1")
    assert done.status("cuptiSubscribe_v2") == first  # -1: not exported
    apart = release in ("13.2", "13.5")
    assert done.status("cuptiActivityEnable") == (14 if apart else 0)
    assert done.status("cuptiSubscribe") == {"12.9": 0, "13.1": 39}.get(release, 14)


def test_refused_records_are_a_knob(tmp_path: Path) -> None:
    done = train(tmp_path, SIMCUPTI_ENABLE_STATUS="35")
    assert done.status("cuptiActivityEnable") == 35
    assert (done.code, done.records()) == (0, [])


@pytest.mark.parametrize("mode, status", [("accept", 0), ("refuse", 14), ("ignore", 0)])
def test_the_timestamp_callback_is_a_knob(tmp_path: Path, mode: str, status: int) -> None:
    done = train(tmp_path, SIMCUPTI_TIMESTAMP_CALLBACK=mode)
    assert done.status("cuptiActivityRegisterTimestampCallback") == status
    if mode == "accept":
        return assert_same_operations(done)
    first = done.operations(kind="kernel")[0]
    record = having(done.records(kind=10), correlation=first["correlation"])[0]
    assert record["start"] - first["start_ns"] > 10**17  # CLOCK_REALTIME: years, not uptime
    sync = done.records(kind=38)[0]
    assert (sync["start"] > 10**18) == (mode == "refuse")


def test_gpu_clock_drift_and_skew_are_converted_away(tmp_path: Path) -> None:
    done = train(tmp_path, rounds=300, SIMCUDA_GPU_DRIFT_PPM="50", SIMCUDA_GPU_SKEW="12ms")
    assert_same_operations(done)


@pytest.mark.parametrize(
    "knob, value, skew_ns", [("SIMCUDA_GPU_SKEW", "12ms", 12_000_000), ("A", "0", 0)]
)
def test_raw_timestamps_are_the_gpus_clock(
    tmp_path: Path, knob: str, value: str, skew_ns: int
) -> None:
    done = train(tmp_path, SIMCUPTI_RAW_TIMESTAMPS="1", **{knob: value})
    right = {row["correlation"]: row["start_ns"] for row in done.operations(kind="memcpy")}
    for row in done.records(kind=1):
        assert row["start"] - right[row["correlation"]] == skew_ns


def test_raw_timestamps_drift(tmp_path: Path) -> None:
    done = train(tmp_path, rounds=300, SIMCUPTI_RAW_TIMESTAMPS="1", SIMCUDA_GPU_DRIFT_PPM="1000")
    right = {row["correlation"]: row["start_ns"] for row in done.operations(kind="memcpy")}
    errors = [row["start"] - right[row["correlation"]] for row in done.records(kind=1)]
    span = max(right.values()) - min(right.values())
    assert abs((max(errors) - min(errors)) - span * 1e-3) < 2


def test_external_correlation_ids(tmp_path: Path) -> None:
    script = "launch(kernel('k')); check(cuda.cuCtxSynchronize())"
    done = run_python(tmp_path, script, client=True, CLIENT_KINDS="4,39", CLIENT_EXTERNAL="4711")
    given = {
        row["correlation"]: (row["external_kind"], row["external_id"])
        for row in done.records(kind=39)
    }
    (launch,) = done.calls(name="cuLaunchKernel")
    assert given[launch["correlation"]] == (3, 4711)


def test_overhead_records_and_their_truth(tmp_path: Path) -> None:
    done = train(tmp_path)
    (record,) = done.records(kind=17)
    (truth,) = having(done.truth, type="cupti", event="overhead")
    assert (record["overhead"], record["start"], record["end"]) == (
        truth["overhead"], truth["start_ns"], truth["end_ns"],
    )  # fmt: skip


def test_resource_callbacks(tmp_path: Path) -> None:
    script = "launch(kernel('k'), stream()); check(cuda.cuModuleUnload(module))"
    script = "module = c_void_p(); check(cuda.cuModuleLoadData(byref(module), b'x'));" + script
    done = run_python(tmp_path, script, client=True, CLIENT_CALLBACKS="3")
    # context created, init finished, stream created, module loaded twice, unload starting
    cbids = Counter(row["cbid"] for row in having(done.client, event="resource"))
    assert cbids == {5: 1, 1: 1, 6: 2, 3: 1, 7: 1}


def test_a_fork_leaves_the_parents_records_alone(tmp_path: Path) -> None:
    command = [str(PROGRAMS / "training13"), "20", "2", "fork"]
    settings = {"CLIENT_KINDS": EVERY_KIND, "CLIENT_CLOCK": "monotonic", "CLIENT_CALLBACKS": "2"}
    done = run_simulated(tmp_path, command, client=True, **settings)
    assert "child 3" in done.out
    assert_same_operations(done)
    runtime = done.calls(domain="runtime", has_cbid=True)  # the child's call among them
    assert len(done.callbacks(site=0)) == len(done.callbacks(site=1)) == len(runtime)


def test_a_kill_loses_what_was_not_flushed_and_nothing_of_the_calls(tmp_path: Path) -> None:
    command = [str(PROGRAMS / "training13"), "1000000", "2", "kill"]
    done = run_simulated(tmp_path, command, client=True, CLIENT_KINDS="10", CLIENT_CALLBACKS="2")
    assert done.code == -9
    calls, exits = done.calls(domain="runtime"), done.callbacks(site=1)
    assert len(calls) > 100
    assert 0 <= len(exits) - len(calls) <= 2  # a thread may die between callback and line


@pytest.mark.parametrize(
    "name, value",
    [
        ("SIMCUPTI_DROP_EVERY", "some"),
        ("SIMCUPTI_TIMESTAMP_CALLBACK", "maybe"),
        ("SIMCUPTI_CONNECTION", "perhaps"),
    ],
)
def test_a_misspelt_knob_is_one_line_of_error(tmp_path: Path, name: str, value: str) -> None:
    done = train(tmp_path, **{name: value})
    assert done.code == 1
    assert done.err.startswith(f"simcuda: {name}={value}: expected ")
    assert done.err.count("\n") == 1


def test_without_cupti_the_program_runs(tmp_path: Path) -> None:
    done = train(tmp_path, SIMCUPTI="absent")
    assert (done.code, done.out) == (0, "done\n")
    assert [row["event"] for row in done.client] == ["injected"]


def test_a_release_has_no_callback_for_functions_newer_than_it(tmp_path: Path) -> None:
    done = train(tmp_path, "--cupti", "12.0", CLIENT_CALLBACKS="2")
    (launch, *_) = done.calls(name="__cudaLaunchKernel")
    assert launch["cbid"] == 211  # CUPTI 12 knows __cudaLaunchKernel only as cudaLaunchKernel
    (push, *_) = done.calls(name="__cudaPushCallConfiguration")
    assert not push["has_cbid"]
    assert {row["name"] for row in done.callbacks()} <= {
        row["name"] for row in done.calls(has_cbid=True)
    }

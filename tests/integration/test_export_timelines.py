"""`rlscope export` for viewers: what a file shows is what the relations say, to the nanosecond."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("perfetto", reason="Perfetto's official messages are not installed")

from itertools import pairwise

from ground_truth.raw import (
    CudaCall,
    Gpu,
    GpuWork,
    RawProcess,
    RawThread,
    call,
    call_begin,
    call_end,
    callback_begin,
    callback_end,
    enter,
    iteration,
    leave,
    phase,
    window_start,
    window_stop,
)
from ground_truth.written import ORIGIN_NS, write
from support.files import exported_files, perfetto_trace
from support.files.archives import unpack
from support.files.shown_intervals import arrows, shown
from support.files.tiny_traces import TRACES
from support.process.command_line import rlscope

from rlscope.importing.directory import import_files
from rlscope.opening import Trace, load

GOLDEN = Path(__file__).parent.parent / "golden"
EXPORTS = ("perfetto", "chrome", "speedscope")


def export(root: Path, form: str, *options: object) -> Path:
    """The path of the file that the command printed."""
    path = root.parent / f"{root.name}.{form}"
    done = rlscope("export", root, "--format", form, "-o", path, "--force", *options)
    assert (done.returncode, done.stdout) == (0, f"{path}\n"), done.stderr
    return path


def assert_shows(trace: Trace, path: Path, form: str, *window: int) -> None:
    """The file has every slice of the trace, or of a window of it, and no other."""
    wanted = shown(trace, *window)
    if form == "perfetto":
        assert exported_files.perfetto(path) == wanted
    elif form == "chrome":
        assert exported_files.chrome(path) == wanted
    else:
        (origin_ns,) = trace.table("run")["start_ns"]
        assert exported_files.speedscope(path, origin_ns) == Counter(
            (f"{one.process}: {one.place}", one.text, one.start_ns, one.end_ns)
            for one in wanted.elements()
        )


# ---- whole traces -------------------------------------------------------------------------------


def unpacked(name: str, folder: Path) -> Path:
    if name in TRACES:
        write(TRACES[name], folder / "run")
    elif (GOLDEN / "h100" / f"{name}.tar.xz").exists():
        unpack(GOLDEN / "h100" / f"{name}.tar.xz", folder / "run")
    else:
        files = sorted(map(str, (GOLDEN / "kineto").glob(f"{name}*.json.gz")))
        import_files(files, str(folder / "run"))
    return folder / "run"


@pytest.mark.parametrize(
    "name",
    [
        *TRACES,
        "driver-work",  # graphs as a whole, copies, memsets
        "learner-graph",  # graphs of which each kernel is known
        "sampled_rank-",  # imported: two ranks
        "event_sync_multi_stream",
    ],
)
def test_every_interval_is_where_it_was(name: str, tmp_path: Path) -> None:
    root = unpacked(name, tmp_path)
    paths = {form: export(root, form) for form in EXPORTS}
    with load(root) as trace:
        assert trace.table("event")
        for form, path in paths.items():
            assert_shows(trace, path, form)


@pytest.mark.parametrize("name", ["driver-work", "learner-graph"])
def test_arrows_go_from_a_launch_to_its_work(name: str, tmp_path: Path) -> None:
    """In Perfetto from one kernel of a graph to the next one, in Chrome from the launch to all."""
    root = unpacked(name, tmp_path)
    content = perfetto_trace.read(export(root, "perfetto"))
    events = json.loads(export(root, "chrome").read_text())["traceEvents"]
    with load(root) as trace:
        wanted = arrows(trace)
        process_of = dict(trace.sql("SELECT os_pid, process_id FROM process"))
    assert wanted
    assert wanted == Counter(
        tuple((process_of[content.place(each.track)[0]], each.start_ns) for each in pair)
        for pair in content.arrows()
    )
    ends = Counter(event["bind_id"] for event in events if event.get("flow_in"))
    starts = Counter(event["bind_id"] for event in events if event.get("flow_out"))
    assert ends.keys() == starts.keys()
    assert set(starts.values()) == {1}
    assert ends.total() == wanted.total()


# ---- one trace with everything ------------------------------------------------------------------

#                   0         10        20        30        40        50 us
#   phase           [collect -----------][learn -----------------------
#   iteration       [0 -----------------][1 --------------------]
#   operation       [update -----------------]
#   call                [matmul ---]        [env.step]
#   callback              [---]
#   cudaLaunch             [-]
#   kernel, copy                    [gemm ----]
#                                      [copy ---]
MAIN = [
    phase(0, "collect"),
    iteration(0),
    enter(0, "update"),
    call_begin(4_000, "matmul"),
    callback_begin(6_000),
    callback_end(10_001),
    call_end(15_000),
    phase(20_000, "learn"),
    iteration(20_000),
    leave(25_000, "update"),
    call(26_000, 34_000, "env.step"),
    iteration(40_000),
    window_stop(50_000),
    window_start(60_000),
    enter(61_000, "update"),
    leave(62_000, "update"),
]
BUSY = RawProcess(
    end_ns=70_000,
    role="learner",
    threads=[
        RawThread(
            MAIN,
            [
                CudaCall(7_000, 9_000, correlation=5),
                CudaCall(9_500, 9_600, "cudaGetDevice", correlation=6),
            ],
        ),
        RawThread([enter(1_000, "write"), leave(3_000, "write")], main=False),
    ],
    gpu=[
        GpuWork(16_000, 26_000, correlation=5, graph=3),
        GpuWork(19_000, 29_000, Gpu.MEMCPY, correlation=5, size=4096, name=""),
        GpuWork(30_000, 31_000, stream=8),
    ],
)


@pytest.fixture
def busy(tmp_path: Path) -> Path:
    write([BUSY], tmp_path / "busy")
    samples = [
        {"time_ns": ORIGIN_NS + time, "pid": pid, "metric": metric, "value": value}
        for time, pid, metric, value in (
            (10_000, None, "cpu_percent", 12.5),
            (10_000, 4242, "memory_bytes", 1 << 40),
            (30_000, None, "cpu_percent", 50.0),
            (30_000, None, "operation_cost_ns", 99.0),
            (31_000, None, "gpu0_percent", float("nan")),
        )
    ]
    lines = "".join(f"{json.dumps(sample)}\n" for sample in samples)
    (tmp_path / "busy" / "machine.jsonl").write_text(lines)
    return tmp_path / "busy"


def test_a_thread_is_one_stack_of_operations_calls_callbacks_and_cuda(busy: Path) -> None:
    content = perfetto_trace.read(export(busy, "perfetto"))
    stack = [
        (one.depth, one.category, one.name, one.start_ns - ORIGIN_NS, one.end_ns - ORIGIN_NS)
        for one in content.slices
        if content.place(one.track) == (4242, "thread 1")
    ]
    assert stack == [
        (0, "operation", "update", 0, 25_000),
        (1, "framework", "matmul", 4_000, 15_000),
        (2, "python", "callback", 6_000, 10_001),
        (3, "cuda_api", "cudaLaunchKernel", 7_000, 9_000),
        (3, "cuda_api", "cudaGetDevice", 9_500, 9_600),
        (0, "simulator", "env.step", 26_000, 34_000),
        (0, "operation", "update", 61_000, 62_000),
    ]


def test_processes_threads_and_tracks_have_the_names_that_rlscope_knows(busy: Path) -> None:
    content = perfetto_trace.read(export(busy, "perfetto"))
    (process,) = content.processes.values()
    assert (process.pid, process.process_name, [*process.process_labels]) == (
        4242, "learner", ["main"],
    )  # fmt: skip
    assert process.start_timestamp_ns == ORIGIN_NS
    threads = [track.thread for track in content.tracks.values() if track.HasField("thread")]
    with load(busy) as trace:
        known = trace.sql("SELECT os_tid, name FROM thread").to_dicts()
    assert [(thread.tid, thread.thread_name) for thread in threads] == [
        (row["os_tid"], row["name"] or f"thread {row['os_tid']}") for row in known
    ]
    others = [track.name for track in content.tracks.values() if track.HasField("parent_uuid")]
    assert others == [
        "GPU 0 stream 7", "GPU 0 stream 8", "iterations", "phases", "recording",
        "GPU 0 stream 7 (2)", "memory_bytes",
    ]  # fmt: skip


def test_a_slice_says_what_else_is_known(busy: Path) -> None:
    content = perfetto_trace.read(export(busy, "perfetto"))
    told = {one.name: one.arguments for one in content.slices if one.arguments}
    assert told == {
        "cudaLaunchKernel": {"correlation_id": 5},
        "cudaGetDevice": {"correlation_id": 6},
        "gemm": {"operation": "update", "correlation_id": 5, "graph": 3},
        "memcpy": {"operation": "update", "correlation_id": 5, "bytes": 4096},
    }
    events = json.loads(export(busy, "chrome").read_text())["traceEvents"]
    assert told == {
        event["name"]: event["args"] for event in events if event["ph"] == "X" and "args" in event
    }


def test_an_arrow_begins_at_calls_that_launched_work_and_no_other(busy: Path) -> None:
    content = perfetto_trace.read(export(busy, "perfetto"))
    assert [(a.name, b.name) for a, b in content.arrows()] == [
        ("cudaLaunchKernel", "gemm"), ("gemm", "memcpy"),
    ]  # fmt: skip
    assert sorted(one.name for one in content.slices if one.flows) == [
        "cudaLaunchKernel", "gemm", "memcpy",
    ]  # fmt: skip


def test_counters_are_the_readings_of_the_relations(busy: Path) -> None:
    content = perfetto_trace.read(export(busy, "perfetto"))
    found = {content.tracks[uuid].name: values for uuid, values in content.readings.items()}
    with load(busy) as trace:
        buckets = trace.table("gpu_timeline").to_dicts()
    assert found["cpu_percent"] == [(ORIGIN_NS + 10_000, 12.5), (ORIGIN_NS + 30_000, 50.0)]
    assert found["memory_bytes"] == [(ORIGIN_NS + 10_000, float(1 << 40))]
    assert set(found) == {"cpu_percent", "memory_bytes", "GPU 0 busy_percent"}
    busy_ns = 0.0
    readings = found["GPU 0 busy_percent"]
    for (time_ns, value), (next_ns, _) in pairwise(readings):
        busy_ns += value / 100 * (next_ns - time_ns)
    assert round(busy_ns) == sum(row["busy_ns"] for row in buckets) == 14_000
    assert readings[-1] == (buckets[-1]["start_ns"] + buckets[-1]["bucket_ns"], 0.0)
    counters = {
        event["name"]: event["args"]
        for event in json.loads(export(busy, "chrome").read_text())["traceEvents"]
        if event["ph"] == "C"
    }
    assert counters["memory_bytes"] == {"bytes": float(1 << 40)}
    assert counters["cpu_percent"] == {"percent": 50.0}


def test_speedscope_gets_the_parts_of_its_format(busy: Path) -> None:
    """As https://www.speedscope.app/file-format-schema.json has them."""
    document = json.loads(export(busy, "speedscope").read_text())
    assert document.keys() == {"$schema", "name", "exporter", "shared", "profiles"}
    assert all(frame.keys() == {"name"} for frame in document["shared"]["frames"])
    known = {"type", "name", "unit", "startValue", "events", "endValue"}
    for profile in document["profiles"]:
        assert profile.keys() == known
        assert (profile["type"], profile["unit"]) == ("evented", "nanoseconds")
        assert all(event.keys() == {"type", "frame", "at"} for event in profile["events"])
        assert {event["type"] for event in profile["events"]} == {"O", "C"}
    assert {profile["name"] for profile in document["profiles"]} >= {
        "learner: thread 1", "learner: GPU 0 stream 7", "learner: GPU 0 stream 7 (2)",
    }  # fmt: skip


# ---- a window -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "options", "from_ns", "until_ns"),
    [
        *((form, ("--from", "8us", "--to", "16us"), 8_000, 16_000) for form in EXPORTS),
        ("perfetto", ("--from", "0.00002"), 20_000, 1 << 60),
        ("perfetto", ("--to", "25000ns"), 0, 25_000),
        ("perfetto", ("--iteration", "1"), 20_000, 40_000),
        ("perfetto", ("--iteration", "0-1"), 0, 40_000),
    ],
)
def test_a_window_has_what_touches_it_cut_at_its_edges(
    busy: Path, form: str, options: tuple[str, ...], from_ns: int, until_ns: int
) -> None:
    path = export(busy, form, *options)
    with load(busy) as trace:
        assert_shows(trace, path, form, ORIGIN_NS + from_ns, ORIGIN_NS + until_ns)


def test_a_slice_that_was_cut_says_how_long_it_was(busy: Path) -> None:
    content = perfetto_trace.read(export(busy, "perfetto", "--from", "8us", "--to", "16us"))
    (update,) = (one for one in content.slices if one.name == "update")
    assert (update.start_ns - ORIGIN_NS, update.end_ns - ORIGIN_NS) == (8_000, 16_000)
    assert update.arguments == {"whole_start_ns": ORIGIN_NS, "whole_duration_ns": 25_000}


def test_a_counter_begins_with_the_reading_that_holds(busy: Path) -> None:
    content = perfetto_trace.read(export(busy, "perfetto", "--from", "20us", "--to", "40us"))
    (uuid,) = (uuid for uuid in content.readings if content.tracks[uuid].name == "cpu_percent")
    assert content.readings[uuid] == [(ORIGIN_NS + 20_000, 12.5), (ORIGIN_NS + 30_000, 50.0)]


@pytest.mark.parametrize("form", EXPORTS)
def test_a_part_without_any_process_is_empty(form: str, tmp_path: Path) -> None:
    write(
        [replace(BUSY, end_ns=60_000), replace(BUSY, start_ns=80_000, end_ns=90_000, os_pid=7)],
        tmp_path / "run",
    )
    path = export(tmp_path / "run", form, "--from", "65us", "--to", "70us")
    with load(tmp_path / "run") as trace:
        assert_shows(trace, path, form, ORIGIN_NS + 65_000, ORIGIN_NS + 70_000)


def test_an_arrow_needs_both_its_ends_in_the_window(busy: Path) -> None:
    assert not perfetto_trace.read(export(busy, "perfetto", "--to", "10us")).arrows()
    assert not perfetto_trace.read(export(busy, "perfetto", "--from", "12us")).arrows()


# ---- what traces may hold -----------------------------------------------------------------------


def test_operations_that_overlap_in_part_have_a_lane_each(tmp_path: Path) -> None:
    items = [enter(0, "a"), enter(1_000, "b"), leave(2_000, "a"), leave(3_000, "b")]
    write([RawProcess(end_ns=9_000, threads=[RawThread(items)])], tmp_path / "run")
    content = perfetto_trace.read(export(tmp_path / "run", "perfetto"))
    assert [(one.name, one.depth, content.place(one.track)[1]) for one in content.slices] == [
        ("a", 0, "thread 1"), ("b", 0, "thread 1"),
    ]  # fmt: skip
    assert len({one.track for one in content.slices}) == 2


def test_of_one_start_the_longer_one_is_around(tmp_path: Path) -> None:
    """And of one interval the operation."""
    items = [enter(1_000, "step"), call(1_000, 4_000, "matmul"), leave(4_000, "step")]
    items += [enter(5_000, "step"), call(5_000, 6_000, "matmul"), leave(7_000, "step")]
    write([RawProcess(end_ns=9_000, threads=[RawThread(items)])], tmp_path / "run")
    content = perfetto_trace.read(export(tmp_path / "run", "perfetto"))
    assert [(one.depth, one.name) for one in content.slices] == [(0, "step"), (1, "matmul")] * 2


def test_two_processes_of_one_pid_are_two(tmp_path: Path) -> None:
    """exec begins another image; viewers know a process by its pid alone."""
    images = [
        RawProcess(start_ns=start, end_ns=start + 5_000, threads=[RawThread([enter(start, name)])])
        for start, name in ((0, "before"), (6_000, "after"))
    ]
    root = tmp_path / "run"
    write([images[0]], root)
    other = tmp_path / "other"
    write([images[1]], other)
    (other / "trace/host.4242.1.1.rls").rename(root / "trace/host.4242.1.2.rls")
    with open(root / "processes.log", "ab") as log:
        log.write((other / "processes.log").read_bytes())
    with load(root) as trace:
        assert trace.table("process")["os_pid"] == (4242, 4242)
    content = perfetto_trace.read(export(root, "perfetto"))
    assert len({process.pid for process in content.processes.values()}) == 2
    assert len({content.place(one.track) for one in content.slices}) == 2


NAMES = ['quote "', "back\\slash", "new\nline", "tab\t\x01", "slash/é漢", "\x7f</script>", ""]


@pytest.mark.parametrize("form", EXPORTS)
def test_names_are_what_the_program_gave(form: str, tmp_path: Path) -> None:
    items = []
    for place, name in enumerate(NAMES):
        items += [enter(place * 10, name), leave(place * 10 + 5, name)]
    write([RawProcess(end_ns=900, role='w"\\', threads=[RawThread(items)])], tmp_path / "run")
    path = export(tmp_path / "run", form)
    with load(tmp_path / "run") as trace:
        assert_shows(trace, path, form)


def test_a_track_of_many_slices_is_written_in_portions(
    busy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slices that are open across the edge of a portion go on."""
    whole = {form: export(busy, form).read_bytes() for form in EXPORTS}
    monkeypatch.setattr("rlscope.export.timeline._MOST_ROWS", 2)
    for form, content in whole.items():
        assert export(busy, form).read_bytes() == content
    monkeypatch.undo()
    assert all(export(busy, form).read_bytes() == content for form, content in whole.items())


def test_a_file_that_ends_in_gz_is_compressed(busy: Path) -> None:
    plain = export(busy, "perfetto")
    packed = busy.parent / "busy.pftrace.gz"
    assert rlscope("export", busy, "-o", packed).returncode == 0
    assert exported_files.perfetto(packed) == exported_files.perfetto(plain)
    assert packed.stat().st_size < plain.stat().st_size


def test_a_text_is_told_once_on_each_track(busy: Path) -> None:
    """What makes files small."""
    data = export(busy, "perfetto").read_bytes()
    assert data.count(b"cudaLaunchKernel") == 1
    assert data.count(b"update") == 3  # twice as a name: of slices, and of the work's operation

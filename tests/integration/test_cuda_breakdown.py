"""The breakdown of programs on one simulated GPU and on two, beside what truly happened."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
from support.cuda.breakdown import Stretch, breakdown, disputed_ns, merged, stretches
from support.cuda.histories import BUSY, STAMPED_OPERATION, Histories, histories
from support.cuda.runs import CudaRun, check_calls, check_work, paired_work, record_cuda
from support.cuda.scripts import record_script
from support.cuda.simcuda_runs import PROGRAMS

# Two devices, a second context on the first. A thread without operations launches backward's
# kernels; one with operations of its own owns the process while the main thread has none.
TWO_DEVICES = """
BYTES = 1 << 20
check(cuda.cuInit(0))
contexts = [primary(0), primary(1), c_void_p()]
check(cuda.cuCtxCreate_v2(byref(contexts[2]), 0, 0))

class Place:
    def __init__(self, context, name):
        self.use = lambda: check(cuda.cuCtxSetCurrent(context))
        self.use()
        self.context, self.stream, self.kernel = context, stream(), kernel(name)
        self.memory, self.host = allocate(BYTES), (ctypes.c_char * 4096)()

    def launch(self, ns):
        launch(self.kernel, on=self.stream, argument=ns)

    def copy_to(self, other):
        check(cuda.cuMemcpyPeerAsync(
            other.memory, other.context, self.memory, self.context, c_size_t(BYTES), self.stream))

    def wait(self):
        check(cuda.cuStreamSynchronize(self.stream))

actor, learner, collector = (
    Place(context, "sim_spin_" + name)
    for context, name in zip(contexts, ("act", "learn", "collect"))
)

def autograd():
    learner.use()
    for i in range(15):
        learner.launch(150_000)
        check(cuda.cuMemsetD8Async(learner.memory, i, c_size_t(4096), learner.stream))
        learner.wait()

def collect():
    collector.use()
    for i in range(5):
        with operation("collect"):
            collector.launch(80_000)
            check(cuda.cuMemcpyHtoDAsync_v2(
                collector.memory, collector.host, c_size_t(4096), collector.stream))
            collector.wait()

for beside_main in (False, True):  # first while the main thread waits without an operation
    collecting = threading.Thread(target=collect)
    collecting.start()
    if not beside_main:
        collecting.join()
actor.use()
for i in range(10):
    with operation("inference"):
        actor.launch(60_000)
        with operation("read"):
            check(cuda.cuMemcpyDtoHAsync_v2(
                actor.host, actor.memory, c_size_t(4096), actor.stream))
            actor.wait()
    with operation("exchange"):
        actor.copy_to(learner)
        learner.use()
        learner.copy_to(actor)
        check(cuda.cuCtxSynchronize())
        actor.use()
    if i % 5 == 0:
        with operation("backprop"):
            thread = threading.Thread(target=autograd)
            thread.start()
            thread.join()
    time.sleep(0.002)
collecting.join()
"""


@pytest.fixture(scope="module")
def devices(tmp_path_factory: pytest.TempPathFactory) -> CudaRun:
    script = STAMPED_OPERATION + TWO_DEVICES
    folder = tmp_path_factory.mktemp("devices")
    # The history by brute force knows of no waits.
    return record_script(folder, script, prof=("--no-waits",), SIMCUDA_DEVICES="2")


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> CudaRun:
    return record_cuda(
        tmp_path_factory.mktemp("training"), [str(PROGRAMS / "training13"), "40", "3"]
    )


@pytest.fixture(params=["devices", "training"])
def run(request: pytest.FixtureRequest) -> CudaRun:
    made: CudaRun = request.getfixturevalue(request.param)
    return made


def both(run: CudaRun) -> Histories:
    (pid,) = run.pids()
    return histories(run, pid)


def rows_of_breakdown(run: CudaRun) -> Counter[tuple[str, str, bool]]:
    """Over the stages of the process's life."""
    rows = run.query(
        "SELECT phase, operation, layer, gpu_busy, CAST(SUM(duration_ns) AS BIGINT) AS duration_ns"
        " FROM breakdown GROUP BY ALL"
    )
    assert {row["phase"] for row in rows} == {"(none)"}
    return Counter(
        {(row["operation"], row["layer"], row["gpu_busy"]): row["duration_ns"] for row in rows}
    )


def test_the_breakdown_is_that_of_the_recorded_events_to_the_nanosecond(run: CudaRun) -> None:
    assert rows_of_breakdown(run) == breakdown(both(run).recorded)


def test_each_row_of_the_breakdown_is_what_happened(run: CudaRun) -> None:
    """A row may differ only by the time in which boundaries of both disagree."""
    done = both(run)
    rows, truth = rows_of_breakdown(run), breakdown(done.true)
    allowed = disputed_ns((done.recorded, done.true), done.disputes)
    wrong = {
        key: (rows[key], truth[key], allowed[key])
        for key in rows.keys() | truth.keys()
        if abs(rows[key] - truth[key]) > allowed[key]
    }
    assert not wrong
    assert sum(rows.values()) == sum(truth.values())


def test_every_state_occurs(devices: CudaRun) -> None:
    states = {(layer, busy) for _, layer, busy in rows_of_breakdown(devices)}
    assert states >= {(layer, busy) for layer in ("cuda_api", "python") for busy in (False, True)}
    operations = {operation for operation, _, _ in rows_of_breakdown(devices)}
    paths = {"inference", "inference/read", "exchange", "backprop", "collect", "(none)"}
    assert operations == paths


def test_calls_and_work_of_two_devices_and_three_contexts(devices: CudaRun) -> None:
    (pid,) = devices.pids()
    check_calls(devices, pid)
    check_work(devices, pid)
    truth = devices.outcome.operations(pid=pid)
    assert len({row["context"] for row in truth}) == 3
    assert {row["device"] for row in truth} == {0, 1}
    assert not devices.query("SELECT * FROM loss")


def test_relations_keep_devices_and_contexts_apart(devices: CudaRun) -> None:
    truth: Counter[tuple[str, int, int, int]] = Counter()
    for row in devices.outcome.operations():
        if row["kind"] != "sync":
            name = row.get("name") or row.get("direction") or "memset"
            truth[name, row["device"], row["context"], row["stream"]] += 1
    words = {"host_to_device": "HtoD", "device_to_host": "DtoH", "peer_to_peer": "PtoP"}
    found: Counter[tuple[str, int, int, int]] = Counter()
    for relation, name in (("kernel", "name"), ("memcpy", "direction"), ("memset", "'memset'")):
        for row in devices.query(f"SELECT *, {name} AS what FROM {relation}"):
            what = words.get(row["what"], row["what"])
            found[what, row["device"], row["context"], row["stream"]] += row["count"]
    assert found == truth
    for device, kernel in enumerate(("sim_spin_act", "sim_spin_learn")):
        context, stream = _stream_of(devices, kernel)
        assert truth["PtoP", device, context, stream] == 10


def _stream_of(run: CudaRun, kernel: str) -> tuple[int, int]:
    (found,) = {(row["context"], row["stream"]) for row in run.outcome.operations(name=kernel)}
    return found


def while_ns(done: list[Stretch]) -> Counter[tuple[int, str]]:
    rows: Counter[tuple[int, str]] = Counter()
    for stretch in done:
        for device in stretch.busy:
            rows[device, stretch.key[0]] += stretch.duration_ns
    return rows


def test_gpu_time_while_an_operation_owned_the_process(devices: CudaRun) -> None:
    done = both(devices)
    true = list(stretches(done.true, done.disputes))
    recorded = list(stretches(done.recorded, done.disputes))
    disputed = while_ns([each for each in (*true, *recorded) if each.disputed])
    rows = {
        (row["device"], row["operation"]): row["while_ns"]
        for row in devices.query("SELECT * FROM gpu_time")
    }
    truth = while_ns(true)
    assert {key for key, ns in rows.items() if ns} >= {key for key in truth if not disputed[key]}
    for key in rows.keys() | truth.keys():
        assert abs(rows.get(key, 0) - truth[key]) <= disputed[key]


# By kernel, by direction of a copy, or what else it is.
LAUNCHED_BY = {
    "sim_spin_act": "inference", "sim_spin_learn": "backprop", "sim_spin_collect": "collect",
    "HtoD": "collect", "DtoH": "inference/read", "PtoP": "exchange", "memset": "backprop",
}  # fmt: skip


def test_gpu_time_of_what_an_operation_launched(devices: CudaRun) -> None:
    launched, apart_ns = defaultdict(list), Counter[tuple[int, str]]()
    for record, row in paired_work(devices, devices.pids()[0]):
        if row["kind"] in BUSY:
            what = row.get("name") or row.get("direction") or "memset"
            key = row["device"], LAUNCHED_BY[what]
            launched[key].append((row["start_ns"], row["end_ns"]))
            apart_ns[key] += sum(abs(record[at] - row[at]) for at in ("start_ns", "end_ns"))
    rows = {
        (row["device"], row["operation"]): row["launched_ns"]
        for row in devices.query("SELECT * FROM gpu_time")
        if row["launched_ns"]
    }
    assert rows.keys() == launched.keys()
    assert {device for device, operation in rows if operation == "exchange"} == {0, 1}
    for key, spans in launched.items():
        union_ns = sum(end - start for start, end in merged(spans))
        assert abs(rows[key] - union_ns) <= apart_ns[key]

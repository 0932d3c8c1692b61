"""Graphs on the simulated device, by capture and node by node."""

from pathlib import Path

from support.cuda.simcuda_runs import run_python


def test_a_captured_fork_and_join_runs_its_branches_beside_each_other(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
first, second, fork, joined = stream(), stream(), event(2), event(2)
graph, executable = c_void_p(), c_void_p()
check(cuda.cuStreamBeginCapture_v2(first, 0))
launch(kernel("sim_spin_a"), first, 1_000_000)
check(cuda.cuEventRecord(fork, first)); check(cuda.cuStreamWaitEvent(second, fork, 0))
launch(kernel("sim_spin_long"), first, 5_000_000)
launch(kernel("sim_spin_short"), second, 2_000_000)
check(cuda.cuEventRecord(joined, second)); check(cuda.cuStreamWaitEvent(first, joined, 0))
launch(kernel("sim_spin_end"), first, 1_000_000)
assert cuda.cuStreamSynchronize(first) == 900
check(cuda.cuStreamEndCapture(first, byref(graph)))
check(cuda.cuGraphInstantiateWithFlags(byref(executable), graph, c_uint64(0)))
check(cuda.cuGraphLaunch(executable, first)); check(cuda.cuGraphLaunch(executable, first))
check(cuda.cuCtxSynchronize())
""",
    )
    assert done.err == ""
    kernels = done.operations(kind="kernel")
    assert len(kernels) == 8
    at = {row["name"]: row for row in kernels[:4]}
    assert (
        at["sim_spin_long"]["start_ns"]
        == at["sim_spin_short"]["start_ns"]
        == at["sim_spin_a"]["end_ns"]
    )
    assert at["sim_spin_end"]["start_ns"] == at["sim_spin_long"]["end_ns"]
    first, second = done.operations(kind="graph")
    assert first["start_ns"] == at["sim_spin_a"]["start_ns"]
    assert first["end_ns"] - first["start_ns"] == 7_000_000
    assert second["start_ns"] == first["end_ns"]
    assert {row["graph"] for row in kernels} == {first["graph"]}
    assert len({row["node"] for row in kernels}) == 4
    launches = [row["correlation"] for row in done.calls(name="cuGraphLaunch")]
    assert [row["correlation"] for row in kernels] == [launches[0]] * 4 + [launches[1]] * 4


def test_an_unjoined_capture_is_refused(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
first, second, fork = stream(), stream(), event(2)
graph = c_void_p()
check(cuda.cuStreamBeginCapture_v2(first, 0))
check(cuda.cuEventRecord(fork, first)); check(cuda.cuStreamWaitEvent(second, fork, 0))
launch(kernel("k"), second)
print(cuda.cuStreamEndCapture(first, byref(graph)), graph.value)
""",
    )
    assert done.out == "904 None\n", done.err


def test_a_graph_made_node_by_node(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
class Memset(ctypes.Structure):
    _fields_ = [("to", c_uint64), ("pitch", c_size_t), ("value", c_uint), ("element", c_uint),
                ("width", c_size_t), ("height", c_size_t)]
class Host(ctypes.Structure):
    _fields_ = [("function", c_void_p), ("data", c_void_p)]
@ctypes.CFUNCTYPE(None, c_void_p)
def say(data): print("called", flush=True)
device, graph, executable = allocate(64), c_void_p(), c_void_p()
memset, empty, host = c_void_p(), c_void_p(), c_void_p()
check(cuda.cuGraphCreate(byref(graph), 0))
check(cuda.cuGraphAddMemsetNode(byref(memset), graph, None, c_size_t(0),
                                byref(Memset(device.value, 0, 9, 1, 64, 1)), None))
check(cuda.cuGraphAddEmptyNode(byref(empty), graph, byref(memset), c_size_t(1)))
check(cuda.cuGraphAddHostNode(byref(host), graph, byref(empty), c_size_t(1),
                              byref(Host(ctypes.cast(say, c_void_p).value, None))))
count = c_size_t()
check(cuda.cuGraphGetNodes(graph, None, byref(count)))
check(cuda.cuGraphInstantiateWithFlags(byref(executable), graph, c_uint64(0)))
for _ in range(3):
    check(cuda.cuGraphLaunch(executable, None)); check(cuda.cuCtxSynchronize())
print(count.value)
""",
    )
    assert done.out == "called\ncalled\ncalled\n3\n", done.err
    assert len(done.operations(kind="memset")) == len(done.operations(kind="host_function")) == 3


def test_a_child_graph_runs_inside_its_parent_every_time(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
def captured(*names):
    graph, on = c_void_p(), stream()
    check(cuda.cuStreamBeginCapture_v2(on, 0))
    for name in names: launch(kernel(name), on, 1000)
    check(cuda.cuStreamEndCapture(on, byref(graph)))
    return graph
child, parent = captured("sim_spin_c1", "sim_spin_c2"), c_void_p()
check(cuda.cuGraphCreate(byref(parent), 0))
first, second, executable = c_void_p(), c_void_p(), c_void_p()
check(cuda.cuGraphAddChildGraphNode(byref(first), parent, None, c_size_t(0), child))
check(cuda.cuGraphAddChildGraphNode(byref(second), parent, byref(first), c_size_t(1), child))
check(cuda.cuGraphInstantiateWithFlags(byref(executable), parent, c_uint64(0)))
check(cuda.cuGraphDestroy(child)); check(cuda.cuGraphDestroy(parent))
check(cuda.cuGraphLaunch(executable, None)); check(cuda.cuCtxSynchronize())
""",
    )
    kernels = done.operations(kind="kernel")
    assert [row["name"][-2:] for row in kernels] == ["c1", "c2", "c1", "c2"], done.err
    ends = [row["end_ns"] for row in kernels]
    assert [row["start_ns"] for row in kernels[1:]] == ends[:-1]


def test_an_event_of_an_ended_capture_cannot_be_waited_for(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
first, second, mark, graph = stream(), stream(), event(2), c_void_p()
check(cuda.cuStreamBeginCapture_v2(first, 0))
launch(kernel("k"), first)
check(cuda.cuEventRecord(mark, first))
check(cuda.cuStreamEndCapture(first, byref(graph)))
print(cuda.cuStreamWaitEvent(second, mark, 0), cuda.cuEventSynchronize(mark))
check(cuda.cuEventRecord(mark, first))
print(cuda.cuStreamWaitEvent(second, mark, 0), cuda.cuEventSynchronize(mark))
""",
    )
    assert done.out == "907 907\n0 0\n", done.err


def test_a_circle_of_dependencies_is_refused(tmp_path: Path) -> None:
    done = run_python(
        tmp_path,
        """
graph, one, two, executable = c_void_p(), c_void_p(), c_void_p(), c_void_p()
check(cuda.cuGraphCreate(byref(graph), 0))
check(cuda.cuGraphAddEmptyNode(byref(one), graph, None, c_size_t(0)))
check(cuda.cuGraphAddEmptyNode(byref(two), graph, byref(one), c_size_t(1)))
check(cuda.cuGraphAddDependencies(graph, byref(two), byref(one), c_size_t(1)))
print(cuda.cuGraphInstantiateWithFlags(byref(executable), graph, c_uint64(0)))
""",
    )
    assert done.out == "1\n", done.err

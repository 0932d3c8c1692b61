"""Compiled programs on the simulated CUDA: launch paths, the runner, and every ending."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.cuda.simcuda_runs import PROGRAMS, SIMCUDA, built, read_rows, run_simulated

NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")

# What one round of the program `training` does, and what its graph does once.
ROUND_KERNELS, ROUND_COPIES, GRAPH_KERNELS, GRAPH_LAUNCHES = 2, 2, 4, 5


@pytest.mark.parametrize(
    "major, launch, cbid", [("12", "cudaLaunchKernel", 211), ("13", "__cudaLaunchKernel", 505)]
)
def test_launch_stubs_of_both_majors(tmp_path: Path, major: str, launch: str, cbid: int) -> None:
    done = run_simulated(tmp_path, [str(PROGRAMS / f"training{major}"), "20", "3"])
    assert (done.code, done.out, done.err) == (0, "done\n", "")
    launches = done.calls(name=launch)
    assert len(launches) == 3 * 20 * ROUND_KERNELS + GRAPH_KERNELS  # capture calls them too
    assert {row["cbid"] for row in launches} == {cbid}
    kernels = done.operations(kind="kernel")
    assert len(kernels) == 3 * 20 * ROUND_KERNELS + GRAPH_LAUNCHES * GRAPH_KERNELS
    assert len(done.operations(kind="memcpy")) == 3 * 20 * ROUND_COPIES
    assert {row["name"] for row in kernels} == {
        "_Z15sim_spin_kernelm",
        "_Z14policy_forwardm",
        "_Z4joinm",
    }
    launched = {row["correlation"] for row in launches + done.calls(name="cudaGraphLaunch")}
    assert {row["correlation"] for row in kernels} <= launched
    assert all(row["depth"] == 1 for row in done.calls(name="cuLaunchKernel"))


def test_a_program_of_another_major_is_one_line_of_error(tmp_path: Path) -> None:
    done = run_simulated(tmp_path, [str(PROGRAMS / "training12")], "--cuda", "13")
    program = PROGRAMS / "training12"
    assert done.code == 1
    assert (
        done.err
        == f"tests/simcuda/run: {program} is linked with CUDA 12, not 13: leave out --cuda\n"
    )


def test_the_programs_major_is_found_behind_a_wrapper(tmp_path: Path) -> None:
    done = run_simulated(tmp_path, ["env", "A=b", str(PROGRAMS / "training12"), "1", "1"])
    assert (done.code, len(done.calls(name="cudaLaunchKernel"))) == (0, 2 + GRAPH_KERNELS)


@pytest.mark.parametrize("major, column", [("12", 1), ("13", 2)])
def test_the_runtime_exports_what_cudas_does(major: str, column: int) -> None:
    """Every function of the facts, under the library's name as version, and nothing else."""
    built()
    library = PROGRAMS.parent / "lib" / f"runtime{major}" / f"libcudart.so.{major}"
    nm = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True)
    exported = {line.split()[2] for line in nm.stdout.splitlines()}
    facts = (SIMCUDA / "facts" / "runtime_functions.txt").read_text().splitlines()
    rows = [line.split() for line in facts if not line.startswith("#")]
    version = f"libcudart.so.{major}"
    wanted = {f"{row[0]}@@{version}" for row in rows if row[column] != "-"}
    assert exported == wanted | {version}


def test_unknown_cupti_release_is_one_line_of_error(tmp_path: Path) -> None:
    done = run_simulated(tmp_path, ["true"], "--cupti", "10.2")
    assert done.code == 1
    assert done.err.startswith("tests/simcuda/run: unknown CUPTI release 10.2; known: 11.7.101 ")


def test_help_teaches() -> None:
    text = subprocess.run([SIMCUDA / "run", "--help"], capture_output=True, text=True).stdout
    for word in ("--cuda", "--cupti", "--truth", "--durations", "README.md", "SIMCUDA_DEVICES"):
        assert word in text


def test_the_programs_exit_code_passes_through(tmp_path: Path) -> None:
    assert run_simulated(tmp_path, ["sh", "-c", "exit 7"]).code == 7


def test_in_the_child_of_a_fork_cuda_does_not_work(tmp_path: Path) -> None:
    done = run_simulated(tmp_path, [str(PROGRAMS / "training13"), "2", "1", "fork"])
    assert "child 3" in done.out
    parent = done.calls(name="cudaGraphLaunch")[0]["pid"]
    (call,) = [row for row in done.calls(name="cudaMalloc") if row["pid"] != parent]
    assert call["status"] == 3


def test_a_kill_leaves_whole_lines(tmp_path: Path) -> None:
    done = run_simulated(tmp_path, [str(PROGRAMS / "training13"), "1000000", "2", "kill"])
    assert done.code == -9
    assert len(done.calls(depth=0)) > 100  # read_rows has parsed every line


def test_an_exit_that_skips_exit_handlers_loses_no_line(tmp_path: Path) -> None:
    done = run_simulated(tmp_path, [str(PROGRAMS / "training13"), "10", "2", "exit"])
    assert done.code == 0
    assert (
        len(done.operations(kind="kernel"))
        == 2 * 10 * ROUND_KERNELS + GRAPH_LAUNCHES * GRAPH_KERNELS
    )


def test_processes_share_one_truth_file(tmp_path: Path) -> None:
    program = PROGRAMS / "training13"
    done = run_simulated(tmp_path, ["sh", "-c", f"{program} 5 1 & {program} 5 1; wait"])
    assert len({row["pid"] for row in done.truth}) == 2


@pytest.mark.parametrize("version, status", [("12080", "35"), ("13000", "0")])
def test_a_driver_older_than_the_runtime_is_insufficient(
    tmp_path: Path, version: str, status: str
) -> None:
    done = run_simulated(
        tmp_path, [str(PROGRAMS / "training13"), "1", "1"], SIMCUDA_DRIVER_VERSION=version
    )
    assert done.err == ("" if status == "0" else "devices: 35\n")


def test_without_a_driver_the_runtime_says_so(tmp_path: Path) -> None:
    done = run_simulated(
        tmp_path, [str(PROGRAMS / "training13"), "1", "1"], SIMCUDA_DRIVER="absent"
    )
    assert (done.code, done.err) == (1, "devices: 35\n")
    assert done.truth == []


def test_no_devices(tmp_path: Path) -> None:
    done = run_simulated(tmp_path, [str(PROGRAMS / "training13"), "1", "1"], SIMCUDA_DEVICES="0")
    assert done.err == "devices: 100\n"


@pytest.mark.parametrize(
    "name, value",
    [
        ("SIMCUDA_DEVICES", "many"),
        ("SIMCUDA_LAUNCH_LATENCY", "5 minutes"),
        ("SIMCUDA_GPU_SKEW", "x"),
    ],
)
def test_a_misspelt_knob_is_one_line_of_error(tmp_path: Path, name: str, value: str) -> None:
    done = run_simulated(tmp_path, [str(PROGRAMS / "training13"), "1", "1"], **{name: value})
    assert done.code == 1
    assert done.err.startswith(f"simcuda: {name}={value}: expected ") and done.err.count("\n") == 1


def test_an_unknown_knob_is_one_line_of_error(tmp_path: Path) -> None:
    done = run_simulated(tmp_path, ["true"], SIMCUDA_DEVICE="2")
    assert done.err == (
        "tests/simcuda/run: unknown knob SIMCUDA_DEVICE; did you mean SIMCUDA_DEVICES?\n"
    )
    assert done.code == 1


def test_every_knob_is_documented_and_read() -> None:
    listed = set(re.findall(r'^    "(SIMCU\w+)",$', (SIMCUDA / "run").read_text(), re.MULTILINE))
    documented = set(
        re.findall(r"^\| `(SIMCU\w+)`", (SIMCUDA / "README.md").read_text(), re.MULTILINE)
    )
    sources = [*SIMCUDA.glob("*/*.cc"), SIMCUDA / "run"]
    read = set(re.findall(r'\("(SIMCU\w+)"', "".join(file.read_text() for file in sources)))
    assert listed == documented
    assert documented - read == {"SIMCUDA_DRIVER", "SIMCUPTI"}  # `run` itself reads these


CUDA_PROGRAM = """\
#include <cstdint>
#include <cstdio>
__global__ void sim_spin_add(uint64_t ns, float* values) { values[threadIdx.x] += ns; }
__global__ void scale(float* values, float by) { values[threadIdx.x] *= by; }
__constant__ float table[4];
int main() {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return 1;
  printf("%s %d.%d %d %zu\\n", properties.name, properties.major, properties.minor,
         properties.multiProcessorCount, properties.sharedMemPerBlockOptin);
  float* values;
  float host[4] = {1, 2, 3, 4};
  cudaMalloc(&values, 1024);
  cudaMemcpyToSymbol(table, host, sizeof(host));
  cudaMemcpyFromSymbol(host, table, sizeof(float), 8);
  printf("%g\\n", host[0]);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  sim_spin_add<<<2, 64, 0, stream>>>(70000, values);
  scale<<<1, 32, 0, stream>>>(values, 2.f);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, stream);
  scale<<<1, 32>>>(values, 3.f);
  printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
"""


@pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")
def test_a_program_that_nvcc_compiled(tmp_path: Path) -> None:
    (tmp_path / "program.cu").write_text(CUDA_PROGRAM)
    compiled = subprocess.run(
        [str(NVCC), "-cudart", "shared", "-arch", "sm_90", "-o", "program", "program.cu"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert compiled.returncode == 0, compiled.stderr
    done = run_simulated(tmp_path, [str(tmp_path / "program")])
    assert (done.out, done.err) == ("Simulated H200 9.0 132 232448\n3\ncudaSuccess\n", "")
    kernels = done.operations(kind="kernel")
    assert len(kernels) == 3 * 2 + 1
    spins = [row for row in kernels if "sim_spin_add" in row["name"]]
    assert {row["end_ns"] - row["start_ns"] for row in spins} == {70_000}
    assert len(done.operations(kind="graph")) == 3


def test_nothing_here_includes_the_profiler_or_nvidia() -> None:
    """The test double proves something only while it is written apart from what it tests."""
    allowed = {"core", "cupti", "driver", "nvml", "runtime", "programs"}
    for file in SIMCUDA.rglob("*"):
        if file.suffix not in (".cc", ".h", ".py", ".txt") and file.name != "run":
            continue
        text = file.read_text()
        assert "csrc" not in text, file
        for line in text.splitlines():
            if line.startswith('#include "'):
                assert line.split('"')[1].split("/")[0] in allowed, (file, line)
            if line.startswith("#include <"):
                assert not line.split("<")[1].startswith(("cu", "generated_cu", "driver_types")), (
                    file,
                    line,
                )


def test_truth_lines_have_the_documented_fields(tmp_path: Path) -> None:
    done = run_simulated(tmp_path, [str(PROGRAMS / "training13"), "10", "1"])
    readme = (SIMCUDA / "README.md").read_text()
    for row in done.truth:
        for name in row:
            assert f"`{name}`" in readme, name
    assert read_rows(tmp_path / "truth.jsonl") == [
        json.loads(json.dumps(row)) for row in done.truth
    ]

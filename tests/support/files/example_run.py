"""A trace directory of a made-up PPO run, written by the real writer: `write(directory)`.

A trainer with nested operations, native calls, CUDA calls and GPU work, and its worker process,
whose simulations have no annotation: it fills every panel of the report. Times are
in microseconds below and made of small fixed numbers, so every run of a test sees the same trace.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ground_truth import raw, written
from ground_truth.raw import Auto, CudaCall, Gpu, GpuWork, Item, Node, RawProcess, RawThread

from rlscope.rundir import source_files

US = 1_000
ITERATIONS = 30
ROLLOUT_STEPS = 16
MINIBATCHES = 4
START = 40_000  # imports
HOSTILE = "</script><b>100%{x}"
KERNELS = {"matmul": "_Z4gemmIfEvPT_i", "backward": "_Z9gemm_gradIfEvPT_i"}
COPY_TO_PAGEABLE = 2 | 1 << 4
STREAM = 3
RULE = "outermost step or reset of <b>Env"
INTERCEPTION = {
    "engine": "patch",
    "reason": "",
    "libraries": {"torch": "framework", "gymnasium": "simulator"},
    "counts": {"patched": 812, "scan_ns": 41_000_000},
    "startup_ns": 4_200_000,
}
ENVIRONMENT_WORKER = {
    "class": "multiprocessing.context.Process",
    "target": "gymnasium.vector.async_vector_env._async_worker",
    "index": 0,
}
WRITES = "pipe 7|posix.write"  # to the trainer, which reads pipe 7
HOSTILE_PATH = "<\\/script><b>100%{x}"  # a "/" in a name is escaped in the path


COMPILATIONS = [
    ["torch.compile", "update", "/home/user/train.py", 40, 3, 7_000_000],
    ["torch.compile", "(backward)", "", 0, 1, 2_000_000],
]
# A thread that begins before the main thread's first operation, and goes on during it.
SAVER = [raw.enter((START - 50) * US, "save"), raw.leave((START + 350) * US, "save")]


class _Trainer:
    """Writes the program line by line; `now` is its clock."""

    def __init__(self, iterations: int) -> None:
        self.iterations = iterations
        self.items: list[Item] = []
        self.cuda: list[CudaCall] = []
        self.gpu: list[GpuWork] = []
        self.now = START

    def run(self) -> None:
        for number in range(self.iterations):
            self.items.append(raw.iteration(self.now * US))
            self.items.append(raw.phase(self.now * US, "data_collection"))
            self._rollout(number)
            self.items.append(raw.phase(self.now * US, "training"))
            self._update()
            self.items += raw.progress(self.now * US, number + 1, 10 * self.iterations)
        self.items.append(raw.phase(self.now * US, ""))
        self._open(HOSTILE)
        self._wait(900)
        self._close(HOSTILE)

    def _rollout(self, number: int) -> None:
        self._open("rollout")
        for step in range(ROLLOUT_STEPS):
            self._open("inference")
            self._wait(20)
            self._call("matmul", 60)
            self._close("inference")
            self._open("simulation")
            self._call("pipe 7|posix.read", 5)
            self._call("env.step", 120 + 4 * number + 10 * (step % 3))
            self._wait(15)
            self._close("simulation")
        self._close("rollout")

    def _update(self) -> None:
        self._open("update")
        for _ in range(MINIBATCHES):
            self._open("forward")
            self._launch("matmul", 90, work=150)
            self._close("forward")
            self._open("backprop")
            self._launch("backward", 260, work=340)
            self._wait(30)
            self._close("backprop")
            self._open("optimizer")
            self._copy_and_wait(80)
            self._close("optimizer")
        self._close("update")

    def _open(self, name: str) -> None:
        self.items.append(raw.enter(self.now * US, name))

    def _close(self, name: str) -> None:
        self.items.append(raw.leave(self.now * US, name))

    def _wait(self, duration: int) -> None:
        self.now += duration

    def _call(self, function: str, duration: int) -> None:
        self.items.append(raw.call(self.now * US, (self.now + duration) * US, function))
        self._wait(duration)

    def _launch(self, function: str, duration: int, *, work: int) -> None:
        """A framework call that launches a kernel 10 us after it began."""
        launch = self.now + 10
        self._cuda_call(launch, 8, "cudaLaunchKernel")
        self._work(launch + 12, work, name=KERNELS[function])
        self._call(function, duration)

    def _copy_and_wait(self, duration: int) -> None:
        """Copies to pageable memory and waits for the stream."""
        self._cuda_call(self.now, 10, "cudaMemcpyAsync")
        self._work(self.now + 15, duration, kind=Gpu.MEMCPY, size=1 << 20, how=COPY_TO_PAGEABLE)
        self._cuda_call(self.now + 12, duration + 8, "cudaStreamSynchronize")
        self._work(self.now + 14, duration + 5, kind=Gpu.SYNC, how=STREAM)
        self._wait(duration + 30)

    def _cuda_call(self, start: int, duration: int, name: str) -> None:
        number = len(self.cuda) + 1
        site = 2 + number % 2  # one of the two lines of `rollout`
        self.cuda.append(CudaCall(start * US, (start + duration) * US, name, number, site=site))

    def _work(self, start: int, duration: int, **facts: Any) -> None:
        """Adds work or a wait of the GPU that the last call asked for."""
        number = len(self.cuda)
        work = GpuWork(start * US, (start + duration) * US, correlation=number, **facts)
        self.gpu.append(work)


# What calls what in the trainer, and its source. A hostile name is a function's, and in its text.
NODES = [
    Node(0, "<module>", 10),
    Node(1, "rollout", 4),
    Node(1, "rollout", 6),
    Node(1, HOSTILE, 8),
]
SOURCE = f"""import gymnasium

def rollout(env, policy):
    action = policy(observation)

    return env.step(action)

def update(batch): return backprop(batch)  # {HOSTILE}

update(rollout(env, policy))
"""


def _node(number: int) -> int:
    """The node of a reading: of some none is known."""
    return (2, 3, 4, 2, 3, 3, 1, 0)[number % 8]


# module, imported by, asked by, start, total, own and CPU time in ns, modules
IMPORTS = [
    ["torch._C", "torch", "torch/__init__.py:9", 13_200_000, 1_500_000, 1_500_000, 900_000, 1],
    ["torch", "", "/home/me/train.py:3", 13_000_000, 2_400_000, 900_000, 800_000, 1],
    ["", "", "", 13_000_000, 0, 300_000, 200_000, 12],
]


def write(directory: Path, iterations: int = ITERATIONS, *, serves: bool = False) -> None:
    """Writes run.json, processes.log, trace files and machine.jsonl.

    `serves`: the worker is one of Gymnasium's environment workers, else a program of its own.
    """
    trainer = _Trainer(iterations)
    trainer.run()
    end = (trainer.now + 5_000) * US
    readings = list(enumerate(range(START * US, end, 999 * US)))
    processes = [
        RawProcess(
            end_ns=end,
            python_begin_ns=12_000 * US,
            python_end_ns=end - 2_000 * US,
            threads=[RawThread(trainer.items, trainer.cuda), RawThread(SAVER, main=False)],
            # The last kernel runs on when the interpreter has ended: GPU busy, no layer.
            gpu=[*trainer.gpu, GpuWork(end - 2_500 * US, end - 500 * US)],
            states=[(at, frozenset({1} if number % 3 else ())) for number, at in readings],
            nodes=NODES,
            stacks={at: {1: _node(number)} for number, at in readings if _node(number)},
            metadata={
                "rlscope.compilations": json.dumps(COMPILATIONS),
                "algorithm": '"ppo"',
                "learning_rate": "0.0003",
                "rlscope.interception": json.dumps(INTERCEPTION),
                "rlscope.import.0": json.dumps(IMPORTS),
            },
            role="trainer",
            program="python train.py --env CartPole-v1",
            cpu_ns=230_000 * US,
            profiler_cpu_ns=1_500 * US,
            exit_flush_ns=800 * US,
        ),
        RawProcess(
            start_ns=30_000 * US,
            end_ns=end - 2_000 * US,
            python_begin_ns=31_000 * US,
            threads=[RawThread(list(_worker(end // US - 4_000)))],
            os_pid=4243,
            function_layers={**raw.FUNCTIONS, WRITES: "wait"},
            metadata={
                "rlscope.automatic": json.dumps({"simulation": RULE}),
                **({"rlscope.role": json.dumps(ENVIRONMENT_WORKER)} if serves else {}),
            },
            role="worker",
            program="python worker.py",
            parent_pid=4242,
            cpu_ns=90_000 * US,
            profiler_cpu_ns=700 * US,
        ),
    ]
    written.write(processes, directory)
    source_files.append(str(directory), written.FILE, SOURCE)
    _describe(directory)
    _sample(directory, end)


def _worker(end: int) -> Iterator[Item]:
    now = 45_000
    while now + 2_000 < end:
        yield raw.segment(now * US, Auto.SIMULATION)
        yield raw.call((now + 50) * US, (now + 550) * US, "env.step")
        yield raw.segment((now + 600) * US, Auto.NOTHING)
        yield raw.call((now + 610) * US, (now + 620) * US, WRITES)
        now += 2_000


def _describe(directory: Path) -> None:
    run = {
        "version": "0.1.0",
        "command": ["python", "train.py", "--env", "CartPole-v1"],
        "name": "ppo-cartpole",
        "start_ns": written.ORIGIN_NS,
        "host": {"name": "host", "cpu": "a CPU", "cores": 8},
    }
    (directory / "run.json").write_text(json.dumps(run), encoding="utf-8")


def _sample(directory: Path, end_ns: int) -> None:
    step = end_ns // 40
    with open(directory / "machine.jsonl", "w", encoding="utf-8") as file:
        for i in range(40):
            readings = (
                (None, "cpu_percent", 20 + i % 7),
                (None, "memory_bytes", (3 << 30) + (i << 24)),
                (None, "gpu0_percent", 90 + i % 5),
                (4242, "cpu_percent", 95 - i % 4),
                (4242, "memory_bytes", (1 << 30) + (i << 23)),
                (4243, "cpu_percent", 50 + i % 9),
                (4243, "memory_bytes", 300 << 20),
            )
            for pid, metric, value in readings:
                time_ns = written.ORIGIN_NS + i * step
                line = {"time_ns": time_ns, "pid": pid, "metric": metric, "value": value}
                file.write(json.dumps(line) + "\n")

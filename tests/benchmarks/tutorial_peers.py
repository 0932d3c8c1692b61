"""The slow program of the tutorial under rlscope and its peers: what each of them prints, and how
long the loop takes meanwhile.

    python tests/benchmarks/tutorial_peers.py --peers BIN --output DIR [--rounds 5]

BIN is the folder of programs of an environment that has py-spy, Scalene and TraceML beside the
libraries of the tutorial. What the tools print is written to DIR, and docs/comparison.md quotes it.
The tools take turns. torch.profiler and TraceML need a changed program, which is made in DIR.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from tutorial import PROGRAMS, UPDATES  # noqa: E402

_SOURCE = PROGRAMS / "slow.py"
_LOOP = re.compile(r"^(\d+\.\d+) s$", re.MULTILINE)
_TRAIN = "    train(int(sys.argv[1]) if len(sys.argv) > 1 else 30)\n"
Changes = Mapping[str, str]

PROFILED: Changes = {
    "import torch\n": "import torch\nfrom torch.profiler import profile, schedule\n",
    "    for _ in range(updates):\n": "    for _ in range(updates):\n        profiler.step()\n",
    _TRAIN: (
        "    plan = schedule(wait=2, warmup=1, active=2, repeat=1)\n"
        "    with profile(schedule=plan, with_stack=True) as profiler:\n"
        f"    {_TRAIN}"
    ),
    'began:.2f} s")\n': (
        'began:.2f} s")\n'
        "    by_name = profiler.key_averages()\n"
        '    print(by_name.table(sort_by="self_cpu_time_total", row_limit=12))\n'
        '    profiler.export_chrome_trace("torch-profiler.json")\n'
    ),
}
TRACED: Changes = {
    "import torch\n": "import torch\nimport traceml_ai as traceml\n",
    "    torch.manual_seed(1)\n": '    traceml.init(mode="auto")\n    torch.manual_seed(1)\n',
}
_MINIBATCHES = "torch.randperm(NUM_ENVS * NUM_STEPS).split(256)"
_MINIBATCH = "                loss = loss_of("
_UPDATE = "        rollout = []\n"
_END = "    return rewards.sum()"


def changed(text: str, changes: Changes) -> str:
    """The program with these texts in place of others, each of which it has once."""
    for before, after in changes.items():
        if text.count(before) != 1:
            raise ValueError(f"{_SOURCE} has {before!r} {text.count(before)} times")
        text = text.replace(before, after)
    return text


def profiled(text: str) -> str:
    """torch.profiler for two updates, as long runs are profiled with it."""
    return changed(text, PROFILED)


def minibatch_steps(text: str) -> str:
    """TraceML as its documentation asks: a step is one of the optimizer, and the minibatches are
    its input."""
    fetched = f"traceml.wrap_dataloader_fetch({_MINIBATCHES})"
    text = changed(text, {**TRACED, _MINIBATCHES: fetched})
    return _inside(text, "with traceml.trace_step(network):", _MINIBATCH, _END)


def update_steps(text: str) -> str:
    """TraceML with an update as a step, which holds the simulation, too."""
    fetched = f"traceml.wrap_dataloader_fetch({_MINIBATCHES})"
    text = changed(text, {**TRACED, _MINIBATCHES: fetched})
    return _inside(text, "with traceml.trace_step(network):", _UPDATE, _END)


def _inside(text: str, header: str, first: str, after: str) -> str:
    """The lines from `first` to those before `after`, in a block with this header."""
    begin, end = text.index(first), text.index(after)
    indent = " " * (len(first) - len(first.lstrip()))
    block = textwrap.indent(text[begin:end], "    ")
    return f"{text[:begin]}{indent}{header}\n{block}{text[end:]}"


@dataclass(frozen=True)
class Tool:
    """How the program is run under it. Words of a command are formatted with bin, python, program
    and updates."""

    name: str
    command: Sequence[str]
    change: Callable[[str], str] | None = None
    """What it needs in the text of the program."""
    afterwards: Sequence[str] = ()
    """A command that prints what it found."""


_TRACEML = [
    "{bin}/traceml", "run", "{program}", "--no-save-training-output", "--args", "{updates}",
]  # fmt: skip
TOOLS = (
    Tool("plain", ["{python}", "{program}", "{updates}"]),
    Tool(
        "rls-prof",
        [sys.executable, "-m", "rlscope", "prof", "--force", "--no-report", "-o", "rls-prof.trace",
         "{python}", "{program}", "{updates}"],
        afterwards=[sys.executable, "-m", "rlscope", "summary", "rls-prof.trace"],
    ),
    Tool(
        "py-spy",
        ["{bin}/py-spy", "record", "-o", "py-spy.raw", "-f", "raw", "--",
         "{python}", "{program}", "{updates}"],
    ),
    Tool(
        "scalene --cpu-only",
        ["{bin}/scalene", "run", "--cpu-only", "-o", "scalene-cpu.json", "{program}",
         "---", "{updates}"],
        afterwards=["{bin}/scalene", "view", "--cli", "scalene-cpu.json"],
    ),
    Tool(
        "scalene",
        ["{bin}/scalene", "run", "-o", "scalene.json", "{program}", "---", "{updates}"],
        afterwards=["{bin}/scalene", "view", "--cli", "scalene.json"],
    ),
    Tool("torch.profiler", ["{python}", "{program}", "{updates}"], profiled),
    Tool("traceml", _TRACEML, minibatch_steps),
    Tool("traceml, updates", _TRACEML, update_steps),
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", required=True, type=Path, metavar="BIN")
    parser.add_argument("--output", required=True, type=Path, metavar="DIR")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="append", choices=[tool.name for tool in TOOLS])
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    tools = [tool for tool in TOOLS if not options.only or tool.name in options.only]
    runs: dict[str, list[Run]] = {tool.name: [] for tool in tools}
    for _ in range(options.rounds):
        for tool in tools:
            runs[tool.name].append(_run(tool, options.peers.resolve(), options.output))
            print(tool.name, runs[tool.name][-1], file=sys.stderr, flush=True)
    print("| tool | loop, s | range | CPU time, s |\n|---|---:|---|---:|")
    for name, found in runs.items():
        loops = [run.loop_s for run in found]
        cpu = statistics.median(run.cpu_s for run in found)
        span = f"{min(loops):.1f} to {max(loops):.1f}"
        print(f"| {name} | {statistics.median(loops):.1f} | {span} | {cpu:.1f} |")
    return 0


class Run(NamedTuple):
    """Seconds of the loop, as the program prints them; CPU time of the program and of the tool
    while it records."""

    loop_s: float
    cpu_s: float


def _run(tool: Tool, peers: Path, folder: Path) -> Run:
    name = re.sub(r"\W+", "-", tool.name)
    program = _SOURCE
    if tool.change is not None:
        program = folder / f"slow-{name}.py"
        program.write_text(tool.change(_SOURCE.read_text()))
    known = {
        "bin": str(peers),
        "python": sys.executable,
        "program": str(program.resolve()),
        "updates": str(UPDATES),
    }
    before = _cpu_s()
    said = _output([word.format_map(known) for word in tool.command], folder)
    cpu_s = _cpu_s() - before
    if tool.afterwards:
        said += _output([word.format_map(known) for word in tool.afterwards], folder)
    (folder / f"{name}.txt").write_text(said)
    (loop,) = _LOOP.findall(said)
    return Run(float(loop), cpu_s)


def _cpu_s() -> float:
    """CPU time of all processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _output(command: Sequence[str], folder: Path) -> str:
    environment = {**os.environ, "COLUMNS": "120"}
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stdout}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())

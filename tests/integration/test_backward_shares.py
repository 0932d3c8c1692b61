"""--lines=backward: which line of the forward the time of PyTorch's backward belongs to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.process import forked_scripts
from support.process.known_lines import line_of
from support.process.traced_python import TracedPython

import rlscope as rls
from rlscope.report import units
from rlscope.report.panel import Nothing
from rlscope.report.panels import source

pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("clean_environment")

# A library whose layers do nothing in the forward, and sleep for a known time in the backward.
_LIBRARY = """\
import time

import torch

times = {}
running = []  # the layer whose backward has begun last, and when


def begin(name):
    # A layer's backward lasts until that of the next one, as rls-prof counts it.
    now = time.perf_counter_ns()
    if running:
        times.setdefault(running[0], []).append(now - running[1])
    running[:] = [name, now]


class _Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, name, seconds):
        ctx.known = name, seconds
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        name, seconds = ctx.known
        begin(name)
        time.sleep(seconds)
        return gradient, None, None


slow = _Slow.apply
"""
_SLEEPS = """\
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "site-packages"))
import slow_layers
import torch
from slow_layers import running, slow


def forward(x):
    x = slow(x, "first", 0)  # its backward ends that of the next
    x = slow(x, "small", 0.002)  # small
    x = slow(x, "middle", 0.006)  # middle
    return slow(x, "large", 0.02)  # large


weight = torch.ones(3, requires_grad=True)
for _ in range(40):
    forward(weight).sum().backward()  # backward
    running.clear()
print(json.dumps(slow_layers.times))
"""


_LAYERS = """\
import json
import time

import torch

torch.manual_seed(0)
SIZES = {"small": (64, 128), "middle": (128, 512), "large": (512, 2048)}
layers = {name: torch.nn.Linear(*sizes) for name, sizes in SIZES.items()}
alone = dict.fromkeys(SIZES, 0)


def forward(x):
    x = layers["small"](x)  # small
    x = layers["middle"](x)  # middle
    return layers["large"](x)  # large


def take_alone(name):
    x = torch.randn(256, SIZES[name][0], requires_grad=name != "small")
    y = layers[name](x)
    gradient = torch.randn_like(y)
    begin = time.perf_counter_ns()
    torch.autograd.backward(y, gradient)
    alone[name] += time.perf_counter_ns() - begin


x = torch.randn(256, 64)
for _ in range(80):
    y = forward(x)
    gradient = torch.ones_like(y)
    y.backward(gradient)  # backward
for _ in range(80):
    for name in SIZES:
        take_alone(name)
print(json.dumps(alone))
"""


@dataclass(frozen=True)
class Watched:
    """A program of which each backward is watched, alone in its trace."""

    script: str
    directory: Path
    told: dict[str, Any]


@pytest.fixture(scope="module")
def watched(traced: TracedPython, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Watched]:
    """Forks of one process, which imports PyTorch for all."""
    folder = tmp_path_factory.mktemp("watched")
    (folder / "site-packages").mkdir()
    (folder / "site-packages" / "slow_layers.py").write_text(_LIBRARY)
    scripts = {name: folder / f"{name}.py" for name in ("sleeps", "layers")}
    for text, script in zip((_SLEEPS, _LAYERS), scripts.values(), strict=True):
        script.write_text(text)
    python = traced.command("--lines=backward", "-o", str(folder / "run"), traced.python)
    programs = {name: [str(script)] for name, script in scripts.items()}
    found = {}
    for name, ended in forked_scripts.run(python, folder, programs, modules=["torch"]).items():
        assert ended.code == 0, ended.stderr
        forked_scripts.alone(folder / "run", ended.pid, folder / name / "run")
        told = json.loads(ended.stdout)
        found[name] = Watched(str(scripts[name]), folder / name / "run", told)
    return found


def _record(traced: TracedPython, tmp_path: Path, program: str, *options: str) -> str:
    script = tmp_path / "train.py"
    script.write_text(program)
    directory = str(tmp_path / f"run{len(options)}")
    result = traced.run(*options, "-o", directory, traced.python, str(script), timeout=300)
    assert result.returncode == 0, result.stderr
    return result.stdout


def _parts(watched: Watched, program: str) -> dict[int, dict[str, Any]]:
    """The rows of the lines of the program, by line."""
    with rls.load(watched.directory) as trace:
        rows = trace.sql("FROM backward_line").to_dicts()
        ((own_ns,),) = trace.sql(
            "SELECT SUM(own_ns) FROM source_line "
            f"WHERE is_own AND line = {line_of(program, 'backward')}"
        )
    stages = {row["stage"] for row in rows}
    assert {(row["file"], row["backward_line"]) for row in rows} == {
        (watched.script, line_of(program, "backward"))
    }
    assert 0 < sum(row["backward_ns"] for row in rows) <= own_ns
    assert all(row["part_ns"] <= row["watched_ns"] for row in rows)
    longest = max(
        stages, key=lambda stage: sum(r["backward_ns"] for r in rows if r["stage"] == stage)
    )
    return {row["line"]: row for row in rows if row["stage"] == longest}


def test_each_line_has_the_time_of_what_it_made(watched: dict[str, Watched]) -> None:
    sleeps = watched["sleeps"]
    parts = _parts(sleeps, _SLEEPS)
    second_to_eighth_and_38th = [*range(1, 8), 37]
    for name, known in sleeps.told.items():
        row = parts[line_of(_SLEEPS, name)]
        expected_ns = sum(known[number] for number in second_to_eighth_and_38th)
        assert row["part_ns"] == pytest.approx(expected_ns, rel=0.1), name
        assert (row["backwards"], row["watched"], row["nodes"]) == (40, 8, 8)
        assert row["function"] == "forward"
    _check_panel(sleeps, parts)


def _check_panel(sleeps: Watched, parts: dict[int, dict[str, Any]]) -> None:
    with rls.load(sleeps.directory) as trace:
        drawing = source.draw(source.read(trace))
    assert not isinstance(drawing, Nothing)
    (grid,) = (each for each in drawing.grids if "backward" in each.title)
    backward = f"sleeps.py:{line_of(_SLEEPS, 'backward')}"
    for name, row in zip(("large", "middle", "small"), grid.rows, strict=False):
        line = line_of(_SLEEPS, name)
        time = units.duration(parts[line]["backward_ns"])
        assert row[:3] == [f"sleeps.py:{line}", "forward", time]
        assert row[4:6] == [backward, "8 of 40"]


def test_layers_have_their_shares_of_a_backward(watched: dict[str, Watched]) -> None:
    alone = watched["layers"].told
    with rls.load(watched["layers"].directory) as trace:
        rows = trace.sql(
            "SELECT line, MAX(part_ns) AS part_ns FROM backward_line "
            f"WHERE backward_line = {line_of(_LAYERS, 'backward')} GROUP BY line"
        )
        parts = dict(rows)
    whole, whole_alone = sum(parts.values()), sum(alone.values())
    shares = {name: parts[line_of(_LAYERS, name)] / whole for name in alone}
    for name, alone_ns in alone.items():
        assert shares[name] == pytest.approx(alone_ns / whole_alone, abs=0.1), (shares, alone)
    assert shares["large"] > 3 * shares["middle"] > 3 * shares["small"]


# What programs do with autograd. Each line that it prints must be the same.
_HABITS = """\
import hashlib
import os
import threading

import torch
from torch.utils.checkpoint import checkpoint

try:
    from rlscope.auto import backward_lines
    backward_lines._FIRST = 1000  # watch each
except ImportError:
    pass

torch.manual_seed(0)
net = torch.nn.Sequential(
    torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 16), torch.nn.Linear(16, 2)
)
optimizer = torch.optim.Adam(net.parameters())
seen = []


def show(name):
    data = b"".join(p.detach().numpy().tobytes() for p in net.parameters())
    print(name, hashlib.sha256(data).hexdigest(), seen[-3:])


def train(loss_of, times=3):
    for _ in range(times):
        loss = loss_of(torch.randn(4, 8))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def penalty(x):
    x.requires_grad_()
    (gradient,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    return net(x).mean() + gradient.square().sum()


def retained(x):
    loss = net(x).square().mean()
    loss.backward(retain_graph=True)
    return loss


class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("broken")


def broken(x):
    try:
        Broken.apply(net(x)).sum().backward()
    except ValueError as error:
        seen.append(str(error))
    return net(x).mean()


def strict(x):
    with torch.autograd.detect_anomaly():
        loss = net(x).square().mean()
        loss.backward()
        seen.append((torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()))
    return net(x).mean()


def transformed(x):
    value = torch.func.grad(lambda w: (x @ w).square().sum())(torch.ones(8))
    seen.append(round(value.sum().item(), 3))
    return net(x).mean()


def hooked(x):
    y = net(x)
    y.register_hook(lambda gradient: gradient * 2)
    y.grad_fn.register_prehook(lambda gradients: tuple(each + 1 for each in gradients))
    return y.mean()


compiled = torch.compile(net, backend="aot_eager")
train(lambda x: net(x).mean())
show("plain")
for name, loss_of in {
    "penalty": penalty,
    "retained": retained,
    "checkpoint": lambda x: checkpoint(net, x, use_reentrant=False).mean(),
    "reentrant": lambda x: checkpoint(net, x.requires_grad_(), use_reentrant=True).mean(),
    "broken": broken,
    "strict": strict,
    "transformed": transformed,
    "hooked": hooked,
    "compiled": lambda x: compiled(x).mean(),
}.items():
    train(loss_of)
    show(name)
thread = threading.Thread(target=train, args=(lambda x: net(x).mean(),))
thread.start()
thread.join()
show("thread")
if (pid := os.fork()) == 0:
    print("child", torch.is_anomaly_enabled(), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
"""


def test_a_program_computes_the_same_bits(traced: TracedPython, tmp_path: Path) -> None:
    plain = _record(traced, tmp_path, _HABITS)
    watched = _record(traced, tmp_path, _HABITS, "--lines=backward")
    assert watched == plain
    assert plain.splitlines()[-1] == "child False"
    with rls.load(str(tmp_path / "run1")) as trace:
        ((lines,),) = trace.sql(
            "SELECT COUNT(*) FROM metadata WHERE key = 'rlscope.backward_lines'"
        )
    with rls.load(str(tmp_path / "run0")) as trace:
        ((unwatched,),) = trace.sql(
            "SELECT COUNT(*) FROM metadata WHERE key = 'rlscope.backward_lines'"
        )
    assert (lines, unwatched) == (1, 0)


def test_a_program_without_pytorch_runs_as_ever(traced: TracedPython, tmp_path: Path) -> None:
    assert _record(traced, tmp_path, "print('ran')", "--lines=backward") == "ran\n"

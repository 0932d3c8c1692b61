"""The training loop of programs that try something once, and then set up, before they train."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.process.traced_python import TracedPython

import rlscope as rls
from rlscope.analysis import coverage
from rlscope.report import headline

pytestmark = pytest.mark.usefixtures("clean_environment")

# The stopwatch of a program: nanoseconds from the probe on until it is set up, and from then on.
_BEGIN = """
import json, time
import gymnasium, torch
env = gymnasium.make("CartPole-v1")
net = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2))
"""
_SET_UP = """
probed = time.monotonic_ns()
optimizer = torch.optim.Adam(net.parameters())
sum(i for i in range(4_000_000))
ready = time.monotonic_ns()
"""
_TRAIN = """
observation, _ = env.reset(seed=0)
for iteration in range(40):
    with torch.no_grad():
        action = net(torch.as_tensor(observation)).argmax().item()
    observation, _, ended, cut, _ = env.step(action)
    if ended or cut:
        observation, _ = env.reset()
    loss = net(torch.as_tensor(observation)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if iteration == 20:
        import late
print(json.dumps({"set-up": ready - probed, "loop": time.monotonic_ns() - ready}))
"""
_PROBES = {
    # As a constructor that counts the outputs of a CNN, or makes lazy modules.
    "forward": "with torch.inference_mode():\n    net(torch.zeros(1, 4))\n",
    # As a module that seeds its environment.
    "reset": "env.reset(seed=1)\n",
    "nothing": "",
}
_LATE_NS = 60_000_000
_LATE = f"import time\ntime.sleep({_LATE_NS} / 1e9)\n"


def run(traced: TracedPython, directory: str, folder: Path, program: str) -> Any:
    (folder / "train.py").write_text(program)
    (folder / "late.py").write_text(_LATE)
    done = traced.run("-o", directory, traced.python, "train.py", cwd=folder, timeout=240)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("probe", _PROBES)
def test_what_is_set_up_after_a_probe_is_start_up(
    traced: TracedPython, directory: str, tmp_path: Path, probe: str
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("gymnasium")
    read = run(traced, directory, tmp_path, _BEGIN + _PROBES[probe] + _SET_UP + _TRAIN)
    with rls.load(directory) as trace:
        rows = trace.sql(
            "SELECT stage, operation, CAST(SUM(duration_ns) AS BIGINT) FROM breakdown GROUP BY ALL"
        )
        found = {(stage, operation): ns for stage, operation, ns in rows}
        (facts,) = coverage.coverage(trace).to_dicts()
        (around,) = (
            detail.text
            for detail in headline.read(trace).details
            if detail.text.startswith("Outside the training loop: ")
        )
    of_probe = {"forward": "inference", "reset": "simulation"}.get(probe)
    if of_probe is not None:
        assert found["start-up", of_probe] > 0
    assert {"inference", "simulation", "backprop"} <= {
        name for stage, name in found if stage == "loop"
    }
    assert ("loop", "import") not in found
    assert facts["startup_ns"] > read["set-up"]
    assert facts["span_ns"] + facts["warmup_ns"] < read["loop"]
    assert found["warm-up", "import"] == facts["warmup_ns"] > _LATE_NS
    assert ", warm-up " in around

"""Training programs without annotation: each block that somebody would annotate is found once."""

from __future__ import annotations

from collections import Counter

import pytest
from support.process.automatic_records import instances, read_track
from support.process.recorded_child import ROOT, record

pytest.importorskip("torch")

# Blocks are counted and do nothing else. A warning is none of the program's own.
TRAIN = """
import contextlib, importlib, sys, threading, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {benchmarks!r})
import rlscope.auto
rlscope.auto.begin()
import torch
torch.set_num_threads(1)
from collections import Counter

kept = []  # all live, whichever program made them: an address is one module's
make = torch.nn.Module.__init__

def keep(module, *args, **kwargs):
    kept.append(module)
    make(module, *args, **kwargs)

torch.nn.Module.__init__ = keep

def train(name, length):
    program = importlib.import_module("automatic." + name)
    blocks = Counter()

    @contextlib.contextmanager
    def operation(name):
        blocks[name] += 1
        yield

    program.operation = operation
    program.train(length)
    print(*(f"{{name}}={{count}}" for name, count in blocks.items()))

for name, length in {programs!r}.items():
    thread = threading.Thread(target=train, args=[name, length])
    thread.start()
    thread.join()
"""
PROGRAMS = {"dqn": 300, "c51": 260, "ddpg": 120, "td3": 120, "sac": 110, "ppo": 1, "a2c": 3}
"""Name of each program, and for how long it trains."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Counter[str], str]]:
    """What was found in each program, and what it says of its blocks. Each has a thread of its own
    in one process: PyTorch takes longer to import than they run."""
    directory = str(tmp_path_factory.mktemp("programs") / "run")
    benchmarks = str(ROOT / "tests" / "benchmarks")
    script = TRAIN.format(benchmarks=benchmarks, programs=PROGRAMS)
    recorded = record(directory, script, timeout=300)
    row = recorded.process()
    found = []
    for thread in recorded.threads():
        items = recorded.reader.items(row["index"], thread)
        records = list(zip(items["time_ns"], items["kind"], items["id"], strict=True))
        tracks = instances(read_track(records, row["end_ns"]))
        found.append(Counter(name for name, _, _ in tracks))
    of_programs = [counts for counts in found if counts["simulation"]]
    said = recorded.output.splitlines()
    return dict(zip(PROGRAMS, zip(of_programs, said, strict=True), strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_block_is_found_once(trained: dict[str, tuple[Counter[str], str]], name: str) -> None:
    found, said = trained[name]
    annotated = {
        name: int(count) for name, _, count in (each.partition("=") for each in said.split())
    }
    assert annotated.get("target", 0) > 1 or annotated["advantage"] >= 1
    exact = ["simulation", "target", "advantage"]
    # The no-grad block for the temperature of SAC divides the update that is annotated as one.
    exact += ["backprop"] if name != "sac" else []
    assert {each: found[each] for each in exact} == {each: annotated.get(each, 0) for each in exact}

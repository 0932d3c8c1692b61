"""PyTorch whose native calls are recorded is PyTorch: one program, section by section.

The program runs twice, at once: plainly, and under rls-prof. Each test compares what one section of
it found, and asks the trace whether that section's native calls were seen at all.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.process.traced_python import ROOT, TracedPython, untraced_environment

from rlscope.opening import load

PROGRAM = ROOT / "tests" / "layer_programs" / "torch_sections.py"
SECTIONS = (
    "inspection",
    "identity",
    "pickling",
    "errors",
    "ppo_losses",
    "network_losses",
    "python_in_native",
    "functorch",
    "graphs",
    "compiled",
    "annotated",
    "data_loader",
    "queues",
    "distributed_training",
    "profilers",
    "tracebacks",
)

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
    ),
]


@dataclass(frozen=True)
class Runs:
    """The program's findings by section, with the trace's view of them."""

    plain: dict[str, Any]
    recorded: dict[str, Any]
    native_calls: dict[str, int]
    """Section -> calls of layer framework recorded in it, by the main process."""


@pytest.fixture(scope="module")
def runs(traced: TracedPython, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    directory = str(tmp_path_factory.mktemp("unchanged") / "run")
    plain = _start([traced.python, str(PROGRAM)])
    recorded = _start(traced.command("-o", directory, traced.python, str(PROGRAM)))
    return Runs(_findings(plain), _findings(recorded), _native_calls(directory))


def _start(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**untraced_environment(), "OMP_NUM_THREADS": "1"},
    )


def _findings(program: subprocess.Popen[str]) -> dict[str, Any]:
    output, said = program.communicate(timeout=600)
    assert program.returncode == 0, said
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {line["section"]: line["found"] for line in lines}


def _native_calls(directory: str) -> dict[str, int]:
    with load(directory) as trace:
        rows = trace.sql(
            "SELECT split_part(operation, '/', 1) AS section, SUM(calls)::BIGINT AS calls "
            "FROM native_call WHERE layer = 'framework' AND process_id = "
            "(SELECT MIN(process_id) FROM process WHERE python IS NOT NULL) GROUP BY section"
        )
    return dict(rows)


def test_the_program_has_these_sections(runs: Runs) -> None:
    assert list(runs.plain) == list(runs.recorded) == list(SECTIONS)


@pytest.mark.parametrize("section", SECTIONS)
def test_section_finds_the_same(runs: Runs, section: str) -> None:
    assert runs.recorded[section] == runs.plain[section]


@pytest.mark.parametrize("section", SECTIONS)
def test_section_was_intercepted(runs: Runs, section: str) -> None:
    assert runs.native_calls.get(section, 0) > 0


def test_annotations_break_no_graph(runs: Runs) -> None:
    graphs, _, same = runs.recorded["annotated"]
    assert (graphs, same) == (1, True)


def test_annotations_break_no_graph_whichever_is_imported_first(traced: TracedPython) -> None:
    """torch before rlscope, rlscope before torch, and the tracer before both."""
    program = """
import {first}
import {second}
import torch, rlscope as rls
from torch._dynamo.testing import CompileCounter

def scaled(x):
    with rls.operation("scaled"):
        return 2 * x

counter = CompileCounter()
torch.compile(scaled, backend=counter, fullgraph=True)(torch.ones(2))
print(counter.frame_count)
"""
    orders = [("torch", "rlscope"), ("rlscope", "torch"), ("torch._dynamo", "rlscope")]
    children = [
        _start([traced.python, "-c", program.format(first=first, second=second)])
        for first, second in orders
    ]
    for child in children:
        output, said = child.communicate(timeout=120)
        assert output == "1\n", said


def test_rlscope_imports_no_part_of_torch(traced: TracedPython, tmp_path: Path) -> None:
    program = "import sys, rlscope; print([m for m in sys.modules if m.startswith('torch')])"
    done = subprocess.run(
        traced.command("-o", str(tmp_path / "run"), traced.python, "-c", program),
        capture_output=True,
        text=True,
        env={**os.environ, **untraced_environment()},
    )
    assert done.stdout == "[]\n"

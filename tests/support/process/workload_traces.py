"""Brief runs of workloads, and what their traces say of operations, iterations and phases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from support.process.traced_python import ROOT, TracedPython


@dataclass(frozen=True)
class Workload:
    """A brief run of a workload, and what its trace must hold."""

    algorithm: str
    options: str
    iterations: int
    instances: dict[str, int]
    phases: set[str] = field(default_factory=set)
    resets: int = 1
    """Resets of environments before the first annotated operation: found automatically."""


def steps_of(network: str, times: int) -> dict[str, int]:
    """A network's update: its path, and the three operations inside."""
    inside = [f"{network}/{name}" for name in ("forward", "backprop", "optimizer")]
    return dict.fromkeys([network, *inside], times)


def instances(swept: Any, source: str) -> dict[str, int]:
    """How often each path of operations was entered, of those "explicit" or "automatic"."""
    columns = (swept["operation"][name] for name in ("path", "source", "instances"))
    rows = zip(*columns, strict=True)
    return {path: int(count) for path, of, count in rows if of == source and path != "(none)"}


def check_profile(
    traced: TracedPython,
    directory: str,
    name: str,
    workload: Workload,
    *,
    may_compile: bool = False,
) -> None:
    """Runs a workload under rls-prof and compares its trace with what must be there."""
    from rlscope._trace import Directory

    script = str(ROOT / "workloads" / f"{name}.py")
    command = [traced.python, script, *workload.options.split()]
    result = traced.run("-o", directory, *command, timeout=600 if may_compile else 120)
    assert result.returncode == 0, (result.returncode, result.stderr)
    trace = Directory(directory)
    if not may_compile:
        assert len(trace.processes) == 1
    check_process(trace, 0, workload, may_compile=may_compile)


def check_process(trace: Any, place: int, workload: Workload, *, may_compile: bool = False) -> None:
    """Compares the process at this place of a trace with what a workload's must be."""
    process = trace.processes[place]
    assert process["name"] == "trainer"
    assert process["metadata"]["algorithm"] == f'"{workload.algorithm}"'
    swept = trace.sweep(place)
    assert instances(swept, "explicit") == workload.instances
    iterations = list(swept["iteration"]["source"])
    assert [of for of in iterations if of == "explicit"] == ["explicit"] * workload.iterations
    assert set(swept["phase_name"]["name"]) == {"(none)", *workload.phases}
    if not may_compile:
        # Imports, and the reset before the first annotated operation.
        found = instances(swept, "automatic")
        resets = {"simulation": workload.resets} if workload.resets else {}
        assert {path: n for path, n in found.items() if path != "import"} == resets
        assert iterations == ["automatic"] * workload.resets + ["explicit"] * workload.iterations

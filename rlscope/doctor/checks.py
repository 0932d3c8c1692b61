"""Facts of the probes -> findings: what is recorded here, what is not, and the remedy."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rlscope import registry
from rlscope.doctor import cupti
from rlscope.doctor.finding import Finding, Status
from rlscope.doctor.links import Links
from rlscope.doctor.probes import Facts, distribution
from rlscope.record import config

GOOD, ABSENT, LIMITED, BAD = Status.GOOD, Status.ABSENT, Status.LIMITED, Status.BAD

_CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
_DRIVER_PARAMETERS = "/proc/driver/nvidia/params"
_SMALL_SHARED_MEMORY = 1 << 30
_ON_REQUEST = "numpy"  # a framework only with rls-prof --numpy


def python_findings(facts: Facts, version: str) -> Iterator[Finding]:
    """The interpreter, and what is recorded of it. `version`: of this rlscope."""
    name = f"{facts['implementation']} {facts['version']} ({facts['executable']})"
    install = f"{facts['executable']} -m pip install"
    anew = f"in a checkout of rlscope: {install} ."
    installed = facts["libraries"].get("rlscope")
    recorder = facts["recorder"]
    if recorder is None:
        yield Finding(
            "python", BAD, f"{name} has no rlscope, so its programs get no Python layer", anew
        )
        return
    if recorder["reason"]:
        yield Finding("python", BAD, f"{name}: {recorder['reason']}", anew)
        return
    if installed != version:
        text = f"{name} has rlscope {installed}, but this is rlscope {version}"
        yield Finding("python", BAD, text, f"in a checkout of rlscope {version}: {install} .")
    elif not facts["line"]:
        text = f"{name}: site-packages lacks rlscope.pth, so unchanged programs are not recorded"
        yield Finding("python", BAD, text, f"{anew} --force-reinstall")
    else:
        yield Finding("python", GOOD, name)
    yield _engine(recorder)


def _engine(recorder: Facts) -> Finding:
    engine, why = recorder["engine"], recorder["engine_reason"]
    if engine == "patch":
        return Finding("native calls", GOOD, "recorded by patching the interpreter's pointers")
    if engine == "monitoring":
        text = f"recorded by sys.monitoring, which sees fewer calls and costs more: {why}"
        return Finding("native calls", LIMITED, text)
    return Finding("native calls", BAD, f"not recorded: {why}", "use CPython 3.12 or later")


def library_findings(facts: Facts) -> Iterator[Finding]:
    """Frameworks and simulators that are installed."""
    libraries = facts["libraries"]
    for group, title in ((registry.FRAMEWORKS, "framework"), (registry.SIMULATORS, "simulator")):
        rows = {distribution(name) for name in registry.names(group) if name != _ON_REQUEST}
        found = [f"{name} {libraries[name]}" for name in sorted(rows) if name in libraries]
        if found:
            yield Finding(title, GOOD, ", ".join(found))
        else:
            yield Finding(title, ABSENT, "none that rlscope knows is installed")


def link_findings(links: Iterable[Links]) -> Iterator[Finding]:
    """How each framework comes by CUDA."""
    for each in links:
        yield Finding(each.framework, GOOD if each.major else ABSENT, each.text)


def machine_findings(directory: str) -> Iterator[Finding]:
    """Clock and disks."""
    clock = _read(_CLOCK)
    if clock in ("tsc", "arch_sys_counter"):
        yield Finding("clock", GOOD, clock)
    else:
        text = f"the kernel uses {clock or 'an unknown clock'}, so a record costs twice as much"
        yield Finding("clock", LIMITED, text)
    free = shutil.disk_usage(directory).free
    keeps = config.Config.from_environ().min_free
    text = f"{_gigabytes(free)} free in {directory}; recording stops at {_gigabytes(keeps)}"
    if free > keeps:
        yield Finding("disk", GOOD, text)
    else:
        yield Finding(
            "disk", BAD, text, "give rls-prof -o DIR on another disk, or set RLSCOPE_MIN_FREE"
        )
    yield from _shared_memory()


def _shared_memory() -> Iterator[Finding]:
    try:
        total = shutil.disk_usage("/dev/shm").total
    except OSError:
        yield Finding(
            "shared memory", LIMITED, "there is no /dev/shm, so rings lie beside the trace"
        )
        return
    if total < _SMALL_SHARED_MEMORY:
        text = f"/dev/shm holds only {_gigabytes(total)}, so rings lie beside the trace"
        yield Finding("shared memory", LIMITED, text, "docker run --shm-size=2g")


def environment_findings(environ: Mapping[str, str], library: str) -> Iterator[Finding]:
    """Variables that keep rlscope, or CUPTI, from its work. `library`: our own preload."""
    for text in config.unknown_variables(environ):
        yield Finding("environment", BAD, text)
    injection = environ.get("CUDA_INJECTION64_PATH", "")
    if injection and os.path.realpath(injection) != os.path.realpath(library):
        text = (
            f"CUDA_INJECTION64_PATH is another tool's ({injection}). rlscope then records CUDA up "
            "to a second late. It records none if that tool holds CUPTI, or if the process records "
            "nothing else"
        )
        yield Finding("environment", LIMITED, text, "unset CUDA_INJECTION64_PATH")
    if environ.get("KINETO_USE_DAEMON"):
        text = "KINETO_USE_DAEMON makes PyTorch take CUPTI's one subscription at its import"
        yield Finding("environment", BAD, text, "unset KINETO_USE_DAEMON")


def cuda_findings(facts: Facts) -> Iterator[Finding]:
    """Driver, devices, CUPTI, permissions."""
    if "driver" not in facts:
        yield Finding("cuda", BAD, f"loading the driver ended the probe: {facts['reason']}")
        return
    driver = facts["driver"]
    if driver["reason"]:
        yield Finding(
            "cuda", ABSENT, f"no driver ({driver['reason']}), so there is no GPU to record"
        )
        return
    version = f"driver for CUDA {cupti.cuda_version(driver['version'])}"
    if driver["init"] != 0:
        yield Finding("cuda", BAD, f"{version}, but cuInit() answers {driver['init']}")
        return
    yield Finding("cuda", GOOD, f"{version}: {', '.join(driver['devices']) or 'no device'}")
    yield from cupti.cupti_findings(facts["cupti"])
    yield from _permissions()


def _permissions() -> Iterator[Finding]:
    restricted = "RmProfilingAdminOnly: 1" in _read(_DRIVER_PARAMETERS)
    if restricted and os.geteuid() != 0:
        text = f"{cupti.ADMINISTRATORS}, so no GPU work is recorded"
        yield Finding("permissions", BAD, text, cupti.LET_EVERYBODY)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return ""


def _gigabytes(count: int) -> str:
    return f"{count / (1 << 30):.1f} GiB"

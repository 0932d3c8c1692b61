"""CUPTI's answers to the probe -> findings: whether CUDA calls and GPU work can be recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rlscope.doctor.finding import Finding, Status
from rlscope.doctor.probes import Facts

_KNOWN = "CUPTI 11.7 to 13.5"
_WITHOUT = "rls-prof --cuda=interpose records calls of the CUDA runtime library without CUPTI"
_INSTALL = {
    13: "pip install nvidia-cuda-cupti",
    12: "pip install nvidia-cuda-cupti-cu12",
    11: "pip install nvidia-cuda-cupti-cu11",
}
ADMINISTRATORS = "the driver lets only administrators profile"
LET_EVERYBODY = (
    'put "options nvidia NVreg_RestrictProfilingToAdminUsers=0" into a file of /etc/modprobe.d, '
    "then restart"
)

# CUptiResult -> why, and what mends it.
_REFUSALS = {
    14: (
        "another profiler uses CUPTI's newer interface, which excludes the one that rlscope uses",
        "end that profiler",
    ),
    15: ("CUPTI cannot connect to the driver", "use the CUPTI of the driver's CUDA"),
    33: ("CUPTI does not work on this virtual GPU", _WITHOUT),
    35: (ADMINISTRATORS, LET_EVERYBODY),
    39: (
        "another profiler holds CUPTI's one subscription",
        "run without nsys, ncu, cuda-gdb and compute-sanitizer",
    ),
    40: ("the hypervisor forbids profiling of this virtual GPU", "ask for it to be allowed"),
    41: ("CUPTI does not work in confidential computing mode", _WITHOUT),
    42: ("CUPTI does not work on a mining processor (CMP)", _WITHOUT),
    43: ("CUPTI does not work on a part of a GPU (MIG)", "use a whole GPU"),
    44: ("CUPTI does not work on GPUs in SLI", _WITHOUT),
    45: ("CUPTI does not work on this GPU in WSL", _WITHOUT),
    999: (
        "CUPTI cannot connect to the driver, or gives no reason",
        f"use the CUPTI of the driver's CUDA; {_WITHOUT}",
    ),
}


def cupti_findings(found: Iterable[Facts]) -> Iterator[Finding]:
    """One for each CUDA major that was looked for."""
    return map(_finding, found)


def _finding(facts: Facts) -> Finding:
    wanted, driver = facts["wanted"], facts["driver"]
    if facts["reason"]:
        what = f"no CUPTI for CUDA {wanted}: " if wanted else ""
        text = f"{what}{facts['reason']}, so neither CUDA calls nor GPU work are recorded"
        return Finding(
            "cupti", Status.BAD, text, f"{_install(wanted or driver // 1000)}; {_WITHOUT}"
        )
    text = f"{cupti_version(facts['version'])} ({facts['path']})"
    if facts["major"] > driver // 1000:
        why = f"is newer than the driver, which is for CUDA {cuda_version(driver)}"
        return Finding("cupti", Status.BAD, f"{text} {why}", _install(driver // 1000))
    if facts["subscribe"]:
        why, remedy = refusal(facts["subscribe"])
        text = f"{text} refuses: {why}, so neither CUDA calls nor GPU work are recorded"
        return Finding("cupti", Status.BAD, text, remedy)
    if facts["enable"]:
        why, remedy = refusal(facts["enable"])
        return Finding(
            "cupti", Status.BAD, f"{text} refuses: {why}, so no GPU work is recorded", remedy
        )
    return Finding("cupti", Status.GOOD, text)


def refusal(status: int) -> tuple[str, str]:
    """Why CUPTI answered this status, and what mends it."""
    unknown = ("it does not work here", f"use the CUPTI of the driver's CUDA; {_WITHOUT}")
    why, remedy = _REFUSALS.get(status, unknown)
    return f"{why} ({status})", remedy


def _install(major: int) -> str:
    return _INSTALL.get(major) or f"{_INSTALL[12]}, or {_INSTALL[13].split()[-1]} for CUDA 13"


def cuda_version(number: int) -> str:
    """What cuDriverGetVersion() means.

    >>> cuda_version(12080)
    '12.8'
    """
    return f"{number // 1000}.{number % 1000 // 10}"


def cupti_version(number: int) -> str:
    """What cuptiGetVersion() means; 0: it did not answer.

    >>> cupti_version(130102), cupti_version(28), cupti_version(200000)
    ('CUPTI 13.1', 'CUPTI of CUDA 12', 'CUPTI 20.0, newer than CUPTI 11.7 to 13.5')
    """
    if number == 0:
        return "CUPTI"
    if number < 10000:
        return "CUPTI of CUDA 11" if number < 18 else "CUPTI of CUDA 12"
    text = f"CUPTI {number // 10000}.{number % 10000 // 100}"
    return text if number < 140000 else f"{text}, newer than {_KNOWN}"

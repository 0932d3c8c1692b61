"""What nvidia-smi and top say, beside what the run did meanwhile: in words."""

from __future__ import annotations

from typing import Any

from rlscope.report import units

Rows = list[dict[str, Any]]

_percent = units.whole_percent


def gpus(rows: Rows) -> list[str]:
    """Rows of analysis `utilisation`: one sentence for each GPU."""
    return [_gpu(row) for row in rows if row["kind"] == "gpu"]


def _gpu(row: dict[str, Any]) -> str:
    polled = f"nvidia-smi says that GPU {row['gpu']} is {_percent(row['polled_percent'])} busy."
    if row["busy_ns"] is None:
        return f"{polled} How long this run used it in that time is not known."
    busy = units.share(row["busy_ns"], row["duration_ns"])
    return f"{polled} Work of this run ran for {busy} of that time."


def cores(rows: Rows) -> list[str]:
    """One sentence about the busiest core, where there are several."""
    return [
        f"The busiest of {row['cores']} cores was {_percent(row['polled_percent'])} busy, and "
        f"all of them together {_percent(row['machine_percent'])}."
        for row in rows
        if row["kind"] == "core" and row["cores"] > 1
    ]


def processes(rows: Rows) -> list[str]:
    """One sentence for each process."""
    return [_process(row) for row in rows if row["kind"] == "process"]


def _process(row: dict[str, Any]) -> str:
    name = f"{units.visible(row['process'] or '?')} (pid {row['os_pid']})"
    busy, cuda, waiting = (
        units.share(row[part], row["duration_ns"])
        for part in ("busy_ns", "cuda_api_ns", "waiting_ns")
    )
    in_cuda = f", in CUDA calls for {cuda}" if row["cuda_api_ns"] else ""
    return (
        f"{name} used {_percent(row['polled_percent'])} of a core. It was in Python, simulator or "
        f"framework for {busy} of that time{in_cuda}, and waited for {waiting}."
    )

"""GPUs of a run over all its processes: relations gpu_device and gpu_timeline, column `gpu`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlscope import _trace

Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Use:
    """A process and the number that a device has in it."""

    process_id: int
    device: int
    gpu: str
    """Its name on the machine, as column `gpu`."""
    by_bus: bool
    """Numbers of GPUs are their places on the PCI bus: CUDA_DEVICE_ORDER says so."""


class Devices:
    """Which processes used which GPU, and for how long each of them kept it busy."""

    def __init__(self) -> None:
        self._uses: dict[tuple[int, str], dict[tuple[int, int], int]] = {}
        self._of_host: dict[int, dict[Use, None]] = {}

    def add(
        self,
        process_id: int,
        host_id: int,
        note: str | None,
        gpu_time: Mapping[str, Any],
        numbers_of: str = "",
    ) -> list[str]:
        """Takes the relation `gpu_time` of a process; returns its column `gpu`.

        Args:
            note: what the process noted of how CUDA is recorded (cuda_rows.NOTE), None: nothing.
            numbers_of: who means a GPU of its own by the numbers; empty: nobody on the machine.
        """
        facts = _facts(note)
        visible, by_bus = _visible_devices(facts), facts.get("device_order") == "PCI_BUS_ID"
        names = []
        for device, while_ns in zip(gpu_time["device"], gpu_time["while_ns"], strict=True):
            name = (visible[device] if device < len(visible) else "") or str(device)
            name = f"{name} ({numbers_of})" if numbers_of else name
            uses = self._uses.setdefault((host_id, name), {})
            use = process_id, int(device)
            uses[use] = uses.get(use, 0) + int(while_ns)
            self._of_host.setdefault(host_id, {})[Use(*use, name, by_bus)] = None
            names.append(name)
        return names

    def uses(self, host_id: int) -> list[Use]:
        """Those of all processes of a machine."""
        return list(self._of_host.get(host_id, ()))

    def relations(
        self, directory: _trace.Directory, grids: Mapping[int, tuple[int, int]]
    ) -> dict[str, Columns]:
        """gpu_device and gpu_timeline; `grids`: the time of each host's timelines."""
        devices = _empty("host_id", "gpu", "processes", "busy_ns", "processes_ns")
        timeline = _empty("host_id", "gpu", "start_ns", "bucket_ns", "busy_ns")
        for (host_id, name), uses in sorted(self._uses.items()):
            found = directory.device_times(list(uses), grid=grids[host_id])
            processes = len({process_id for process_id, _ in uses})
            busy_ns = int(found["busy_ns"].sum())
            _append(devices, (host_id, name, processes, busy_ns, sum(uses.values())))
            for bucket in zip(found["start_ns"], found["bucket_ns"], found["busy_ns"], strict=True):
                _append(timeline, (host_id, name, *map(int, bucket)))
        return {"gpu_device": devices, "gpu_timeline": timeline}


def _facts(note: str | None) -> dict[str, Any]:
    try:
        facts = json.loads(note or "{}")
    except (ValueError, RecursionError):  # of another version, or cut
        return {}
    return facts if isinstance(facts, dict) else {}


def _visible_devices(facts: Mapping[str, Any]) -> list[str]:
    """CUDA_VISIBLE_DEVICES of a process, by device number; empty where it was not set."""
    visible = facts.get("visible_devices")
    names = visible.split(",") if isinstance(visible, str) else []
    return [name.strip() for name in names]


def _empty(*names: str) -> Columns:
    return {name: [] for name in names}


def _append(columns: Columns, row: tuple[Any, ...]) -> None:
    for column, cell in zip(columns.values(), row, strict=True):
        column.append(cell)

"""Relations that describe the run and its machines: run, host."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlscope.relations.rows import imported_places, machine_samples
from rlscope.relations.rows.texts import LARGEST, shown
from rlscope.rundir import regular_files

Rows = dict[str, list[Any]]


# The type of each fact that is read below (rlscope/rundir/run_json.py).
_KINDS: dict[str, type] = {
    "version": str,
    "start_time": str,
    "options": dict,
    "environment": dict,
    "host": dict,
    "imported": dict,
}
_HOST_KINDS: dict[str, type] = {
    "name": str,
    "boot_id": str,
    "cpu": str,
    "cores": int,
    "cuda_driver": str,
}
_MOST_RUN_BYTES = 16 << 20  # rlscope/rundir/run_json.py


def read_run_json(root: Path) -> dict[str, Any]:
    """DIR/run.json, `host` and `options` always there; a damaged part costs its facts only."""
    try:
        run = json.loads(regular_files.read(root, "run.json", _MOST_RUN_BYTES))
    except (OSError, ValueError, RecursionError):
        run = None
    known = _of_kinds(run, _KINDS) if isinstance(run, dict) else {}
    host = _of_kinds(known.get("host", {}), _HOST_KINDS)
    return {**known, "host": host, "options": known.get("options", {})}


def own_folders(run: Mapping[str, Any]) -> list[str]:
    """Folders that the user said are the program's own code."""
    folders = run["options"].get("source")
    return [each for each in folders if isinstance(each, str)] if isinstance(folders, list) else []


def _of_kinds(facts: Mapping[str, Any], kinds: Mapping[str, type]) -> dict[str, Any]:
    """The facts without those of a wrong type."""
    return {
        name: shown(fact)
        for name, fact in facts.items()
        if isinstance(fact, kinds.get(name, object))
        and not (isinstance(fact, int) and abs(fact) >= LARGEST)
    }


def run_columns(
    root: Path,
    run: Mapping[str, Any],
    processes: Sequence[Mapping[str, Any]],
    cut_ns: int | None,
    nested: Sequence[str],
    end_ns: int = 0,
) -> Rows:
    """The relation `run`: one row.

    Args:
        end_ns: of the last process that was not recorded; 0: there is none.
    """
    start_ns = min(process["start_ns"] for process in processes)
    host = run["host"]
    row = {
        # One machine since its boot begins no two runs in the same nanosecond.
        "run_id": f"{host.get('boot_id') or root.name}-{run.get('start_ns', start_ns)}",
        "command": _command(run),
        "name": str(run.get("name") or root.name),
        "start_ns": start_ns,
        "end_ns": max(end_ns, *(process["end_ns"] for process in processes)),
        "cut_ns": cut_ns,
        "version": run.get("version"),
        "start_time": run.get("start_time"),
        "options": json.dumps(run["options"]) if run["options"] else None,
        "nested": ", ".join(nested) or None,
        "imported": imported_from(run),
    }
    return {name: [shown(value)] for name, value in row.items()}


def host_columns(run: Mapping[str, Any], processes: Sequence[Mapping[str, Any]]) -> Rows:
    """The relation `host`: one row per machine and boot."""
    known, imported = run["host"], imported_from(run) is not None
    columns: Rows = {
        name: [] for name in ("host_id", "name", "boot_id", "cpu", "cores", "clock", "tsc_hz")
    }
    for host_id, key in enumerate(_hosts(processes)):
        of_host = [process for process in processes if host_key(process) == key]
        recorded = next((process for process in of_host if process["clock"]), of_host[0])
        described = key[0] in ("", known.get("name"))
        cells = (
            host_id,
            key[0] or known.get("name"),
            key[1] or (known.get("boot_id") if described else None) or None,
            known.get("cpu") if described else None,
            known.get("cores") if described else None,
            None if imported else recorded["clock"] or None,
            None if imported else recorded["tick_hz"] or None,
        )
        for column, cell in zip(columns.values(), cells, strict=True):
            column.append(cell)
    return columns


def host_ids(processes: Sequence[Mapping[str, Any]]) -> list[int]:
    """host_id of every process; one that recorded nothing ran where the first one did."""
    numbers = {key: number for number, key in enumerate(_hosts(processes))}
    return [numbers.get(host_key(process), 0) for process in processes]


def time_grids(
    processes: Sequence[Mapping[str, Any]], hosts: Sequence[int]
) -> dict[int, tuple[int, int]]:
    """From the first start to the last end on each host: its processes' timelines share a grid."""
    grids: dict[int, tuple[int, int]] = {}
    for process, host in zip(processes, hosts, strict=True):
        start_ns, end_ns = grids.get(host, (process["start_ns"], process["end_ns"]))
        grids[host] = min(start_ns, process["start_ns"]), max(end_ns, process["end_ns"])
    return grids


HostKey = tuple[str, str, int | None]


def host_key(process: Mapping[str, Any]) -> HostKey:
    """The identity of a machine: name and boot; else the number that an import gave it."""
    machine = imported_places.of_process(process).machine
    return process["host"] or "", process["boot_id"] or "", machine


def _hosts(processes: Sequence[Mapping[str, Any]]) -> list[HostKey]:
    """Keys in order of first appearance, without the unknown one unless there is no other."""
    keys = list(dict.fromkeys(host_key(process) for process in processes))
    return [key for key in keys if key != ("", "", None)] or keys[:1]


def problems(root: Path) -> list[dict[str, Any]]:
    """What cannot be read of run.json and machine.jsonl, as _trace.Directory.problems has it."""
    found = []
    for name, most in (
        ("run.json", _MOST_RUN_BYTES),
        (machine_samples.FILE, machine_samples.MOST_BYTES),
    ):
        try:
            size = regular_files.size(root, name)
        except FileNotFoundError:
            continue
        except OSError as error:
            found.append(_problem(name, 0, 0, f"cannot read {name}: {error.strerror}"))
            continue
        if size > most:
            found.append(_problem(name, most, size - most, "rlscope does not read this far"))
    return found


def _problem(file: str, offset: int, size: int, what: str) -> dict[str, Any]:
    return {"file": file, "offset": offset, "bytes": size, "what": what}


def command_words(run: Mapping[str, Any]) -> list[str]:
    """The argument vector of the run's program."""
    command = run.get("command")
    return [shown(str(word)) for word in command] if isinstance(command, list) else []


def imported_from(run: Mapping[str, Any]) -> str | None:
    """The tool and files that a run was imported from (rlscope/importing/directory.py), or None."""
    imported = run.get("imported")
    if imported is None:
        return None
    files = imported.get("files")
    names = [str(name) for name in files] if isinstance(files, list) else []
    return str(shown(f"{tool_of(run)}: {', '.join(names)}"))


def tool_of(run: Mapping[str, Any]) -> str:
    """The tool that recorded a run which was imported; empty: it was not imported."""
    imported = run.get("imported")
    return "" if imported is None else str(shown(str(imported.get("as", "another tool"))))


def _command(run: Mapping[str, Any]) -> str | None:
    if words := command_words(run):
        return shlex.join(words)
    return str(run["command"]) if run.get("command") else None

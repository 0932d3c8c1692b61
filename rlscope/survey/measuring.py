"""From the trace of one run to its numbers, all of them answers of rlscope.analysis."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace
from importlib import metadata
from typing import Any

from rlscope.analysis import iterations, machine, operations, processes
from rlscope.analysis.coverage import coverage, cut
from rlscope.analysis.transitions import process_transitions
from rlscope.costs import calibrations
from rlscope.errors import RlscopeError
from rlscope.opening import Trace
from rlscope.rundir import regular_files
from rlscope.survey.cells import Cell
from rlscope.survey.runs import Crossing, DiskFull, Polled, Process, Reading, Row, Run

_PROCESSES = 1024
_RUN_JSON_BYTES = 16 << 20
_PROCESS = [each.name for each in fields(Process) if each.name != "polled"]
_POLLED = [each.name for each in fields(Polled)]
_HOST = ("cpu", "cores", "memory_bytes", "kernel", "machine", "python", "cuda_driver")


def measure(directory: str, cell: Cell, run: Run) -> Run:
    """`run` with the numbers of the trace in `directory`; with an error where it has none.

    Raises DiskFull: recording was cut short, as further ones would be.
    """
    calibrations.place(directory)
    try:
        with Trace(directory) as trace:
            _refuse_cut(trace)
            return _measured(trace, directory, cell, run)
    except DiskFull:
        raise
    except RlscopeError as error:
        return replace(run, error=str(error))


def _refuse_cut(trace: Trace) -> None:
    for row in cut(trace).to_dicts():
        reason = row["reason"] or "the wrapper was gone"
        if row["kind"] == "cut" and "--max-size" not in reason:
            raise DiskFull(f"recording was cut short: {reason}")
        raise RlscopeError(f"recording was cut short: {reason}")


def _measured(trace: Trace, directory: str, cell: Cell, run: Run) -> Run:
    times = operations.loop_time(trace).to_dicts()
    if not times:
        raise RlscopeError(
            "nothing was recorded: the program ended before its warm-up of "
            f"{cell.warmup} iterations was over"
        )
    family = processes.process_tree(trace, processes=_PROCESSES).to_dicts()
    places = {row["process_id"]: place for place, row in enumerate(family)}
    rows = [Row(process=places.get(row.pop("process_id")), **row) for row in times]
    training, done = _training(trace, family)
    polled = machine.utilisation(trace, processes=_PROCESSES).to_dicts()
    (facts,) = coverage(trace).to_dicts()
    return replace(
        run,
        machine=_host(directory),
        libraries=_versions(cell),
        training=places.get(training),
        iterations=done,
        steps=done * cell.steps if cell.steps and done else None,
        rows=rows,
        crossings=_crossings(trace, training),
        processes=_processes(family, polled),
        readings=_readings(polled),
        gpu_absence=_gpu_absence(trace, rows),
        correction=facts["cost_method"] or "",
    )


def _training(trace: Trace, family: list[dict[str, Any]]) -> tuple[int | None, int]:
    """The process that trains, and its complete iterations: the main process; the one with most
    iterations, where no main process has any."""
    counted = {
        row["process_id"]: row["iterations"]
        for row in iterations.iteration_summary(trace, processes=_PROCESSES).to_dicts()
    }
    main = [row["process_id"] for row in family if row["role"] == "main"]
    able = [each for each in main if each in counted] or [*counted] or main
    training = max(able, key=lambda each: counted.get(each, 0), default=None)
    return training, counted.get(training, 0)


def _crossings(trace: Trace, training: int | None) -> list[Crossing]:
    if training is None:
        return []
    return [Crossing(**row) for row in process_transitions(trace, training).to_dicts()]


def _processes(family: list[dict[str, Any]], polled: list[dict[str, Any]]) -> list[Process]:
    readings = {row["process_id"]: row for row in polled if row["kind"] == "process"}
    return [
        Process(
            **{name: row[name] for name in _PROCESS},
            polled=_polled(readings.get(row["process_id"])),
        )
        for row in family
    ]


def _polled(row: Mapping[str, Any] | None) -> Polled | None:
    return None if row is None else Polled(**{name: row[name] for name in _POLLED})


def _readings(polled: list[dict[str, Any]]) -> list[Reading]:
    return [
        Reading(
            row["kind"],
            _device(row),
            row["polled_percent"],
            _percent(row["busy_ns"], row["duration_ns"]),
            row["machine_percent"],
        )
        for row in polled
    ]


def _device(row: Mapping[str, Any]) -> str:
    if row["kind"] == "process":
        return str(row["process"] or "?")
    return f"GPU {row['gpu']}" if row["kind"] == "gpu" else "busiest core"


def _percent(part: int | None, whole: int) -> float | None:
    return 100 * part / whole if part is not None and whole else None


def _gpu_absence(trace: Trace, rows: list[Row]) -> str:
    if any(row.gpu_busy for row in rows):
        return ""
    reasons = [row["reason"] for row in operations.gpu_absence(trace).to_dicts()]
    return reasons[0] if reasons else "no GPU work was recorded"


def _versions(cell: Cell) -> dict[str, str]:
    """Of what the cell needs, as this Python has it installed."""
    packages = metadata.packages_distributions() if cell.needs else {}
    found = {}
    for module in cell.needs:
        for package in packages.get(module, ())[:1]:
            with suppress(metadata.PackageNotFoundError):
                found[package] = metadata.version(package)
    return found


def _host(directory: str) -> dict[str, Any]:
    """What of the machine a reader has to know; nothing that names it."""
    with suppress(OSError, ValueError, KeyError):
        host = json.loads(regular_files.read(directory, "run.json", _RUN_JSON_BYTES))["host"]
        return {name: host.get(name) for name in _HOST}
    return {}

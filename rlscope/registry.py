"""What can be added by one file and one row: verbs, panels, renderers, importers, exporters,
frameworks, simulators, findings.

A row is "name": "module:object", or "module" when the module itself is the object. The module is
imported at first use, so that `rlscope --help` imports no framework, no DuckDB and no plotly.
Other packages add rows through entry points of the same group:

    [project.entry-points."rlscope.commands"]
    mine = "my_package.my_module"
"""

from __future__ import annotations

import os
import sys

from rlscope.errors import RlscopeError

TYPE_CHECKING = False  # typing costs 5 ms to import, and traced programs come here early
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib import metadata
    from typing import Any

COMMANDS = "rlscope.commands"
FRAMEWORKS = "rlscope.frameworks"
SIMULATORS = "rlscope.simulators"
WAITS = "rlscope.waits"
SERIALIZERS = "rlscope.serializers"
PANELS = "rlscope.report.panels"
RENDERERS = "rlscope.report.renderers"
IMPORTERS = "rlscope.importers"
EXPORTERS = "rlscope.exporters"
FINDINGS = "rlscope.findings"
MADE_RELATIONS = "rlscope.made_relations"
"""Relations that are made of others, by a room above that of relations."""

# Order matters: help lists verbs, and a report shows panels, in the order of their rows.
_ROWS: Mapping[str, Mapping[str, str]] = {
    COMMANDS: {
        "prof": "rlscope.commands.prof",
        "summary": "rlscope.commands.summary",
        "advise": "rlscope.commands.advise",
        "report": "rlscope.commands.report",
        "diff": "rlscope.commands.diff",
        "baseline": "rlscope.commands.baseline",
        "query": "rlscope.commands.query",
        "info": "rlscope.commands.info",
        "import": "rlscope.commands.import_",
        "export": "rlscope.commands.export",
        "runs": "rlscope.commands.runs",
        "mcp": "rlscope.commands.mcp",
        "calibrate": "rlscope.commands.calibrate",
        "validate": "rlscope.commands.validate",
        "survey": "rlscope.commands.survey",
        "doctor": "rlscope.commands.doctor",
    },
    PANELS: {
        "operations": "rlscope.report.panels.operations:PANEL",
        "layers": "rlscope.report.panels.layers:PANEL",
        "gpu": "rlscope.report.panels.gpu:PANEL",
        "idle": "rlscope.report.panels.idle:PANEL",
        "cuda": "rlscope.report.panels.cuda:PANEL",
        "timeline": "rlscope.report.panels.timeline:PANEL",
        "source": "rlscope.report.panels.source:PANEL",
        "flame": "rlscope.report.panels.flame:PANEL",
        "iterations": "rlscope.report.panels.iterations:PANEL",
        "progress": "rlscope.report.panels.progress:PANEL",
        "imports": "rlscope.report.panels.imports:PANEL",
        "processes": "rlscope.report.panels.processes:PANEL",
        "waiting": "rlscope.report.panels.waiting:PANEL",
        "threads": "rlscope.report.panels.threads:PANEL",
        "blocked": "rlscope.report.panels.blocked:PANEL",
        "compilation": "rlscope.report.panels.compilation:PANEL",
        "machine": "rlscope.report.panels.machine:PANEL",
        "quality": "rlscope.report.panels.quality:PANEL",
        "run": "rlscope.report.panels.run:PANEL",
    },
    RENDERERS: {
        "terminal": "rlscope.report.renderers.terminal:render_summary",
        "html": "rlscope.report.renderers.html:render",
        "json": "rlscope.report.renderers.json:render",
        "notebook": "rlscope.report.renderers.notebook:render",
    },
    # A file belongs to the first one that recognises it (rlscope/importing/importer.py).
    IMPORTERS: {
        "kineto": "rlscope.importing.formats.kineto:IMPORTER",
        "nsight": "rlscope.importing.formats.nsight:IMPORTER",
        "xprof": "rlscope.importing.formats.xprof:IMPORTER",
        "chrome": "rlscope.importing.formats.chrome:IMPORTER",
        "events": "rlscope.importing.formats.events:IMPORTER",
    },
    EXPORTERS: {
        "perfetto": "rlscope.export.formats.perfetto:EXPORTER",
        "chrome": "rlscope.export.formats.chrome:EXPORTER",
        "speedscope": "rlscope.export.formats.speedscope:EXPORTER",
        "collapsed": "rlscope.export.formats.collapsed:EXPORTER",
        "pprof": "rlscope.export.formats.pprof:EXPORTER",
        "parquet": "rlscope.export.formats.parquet:EXPORTER",
        "csv": "rlscope.export.formats.csv:EXPORTER",
    },
    FINDINGS: {
        "anomaly_detection": "rlscope.analysis.findings.anomaly_detection:RULE",
        "argument_validation": "rlscope.analysis.findings.argument_validation:RULE",
        "evaluations": "rlscope.analysis.findings.evaluations:RULE",
        "checkpoints": "rlscope.analysis.findings.checkpoints:RULE",
        "dense_normal": "rlscope.analysis.findings.dense_normal:RULE",
        "disk_wait": "rlscope.analysis.findings.disk_wait:RULE",
        "double_precision": "rlscope.analysis.findings.double_precision:RULE",
        "element_loop": "rlscope.analysis.findings.element_loop:RULE",
        "environment_bound": "rlscope.analysis.findings.environment_bound:RULE",
        "lone_environment": "rlscope.analysis.findings.lone_environment:RULE",
        "garbage_collection": "rlscope.analysis.findings.garbage_collection:RULE",
        "library_distributions": "rlscope.analysis.findings.library_distributions:RULE",
        "logging_calls": "rlscope.analysis.findings.logging_calls:RULE",
        "machine_readings": "rlscope.analysis.findings.machine_readings:RULE",
        "many_threads": "rlscope.analysis.findings.many_threads:RULE",
        "named_lookups": "rlscope.analysis.findings.named_lookups:RULE",
        "needless_gradients": "rlscope.analysis.findings.needless_gradients:RULE",
        "nested_lists": "rlscope.analysis.findings.nested_lists:RULE",
        "object_copies": "rlscope.analysis.findings.object_copies:RULE",
        "optimizer_loop": "rlscope.analysis.findings.optimizer_loop:RULE",
        "outside_environment": "rlscope.analysis.findings.outside_environment:RULE",
        "process_starts": "rlscope.analysis.findings.process_starts:RULE",
        "python_replay": "rlscope.analysis.findings.python_replay:RULE",
        "recompilation": "rlscope.analysis.findings.recompilation:RULE",
        "picture_work": "rlscope.analysis.findings.picture_work:RULE",
        "rendering": "rlscope.analysis.findings.rendering:RULE",
        "repeated_forward": "rlscope.analysis.findings.repeated_forward:RULE",
        "repeated_reading": "rlscope.analysis.findings.repeated_reading:RULE",
        "row_distributions": "rlscope.analysis.findings.row_distributions:RULE",
        "row_functions": "rlscope.analysis.findings.row_functions:RULE",
        "row_predictions": "rlscope.analysis.findings.row_predictions:RULE",
        "sent_weights": "rlscope.analysis.findings.sent_weights:RULE",
        "serialization": "rlscope.analysis.findings.serialization:RULE",
        "single_inference": "rlscope.analysis.findings.single_inference:RULE",
        "sleeping": "rlscope.analysis.findings.sleeping:RULE",
        "small_generations": "rlscope.analysis.findings.small_generations:RULE",
        "state_copies": "rlscope.analysis.findings.state_copies:RULE",
        "state_keys": "rlscope.analysis.findings.state_keys:RULE",
        "step_graphs": "rlscope.analysis.findings.step_graphs:RULE",
        "step_statistics": "rlscope.analysis.findings.step_statistics:RULE",
        "stepped_cells": "rlscope.analysis.findings.stepped_cells:RULE",
        "stepped_forward": "rlscope.analysis.findings.stepped_forward:RULE",
        "table_rows": "rlscope.analysis.findings.table_rows:RULE",
        "target_gradients": "rlscope.analysis.findings.target_gradients:RULE",
        "tensor_loop": "rlscope.analysis.findings.tensor_loop:RULE",
        "tensor_steps": "rlscope.analysis.findings.tensor_steps:RULE",
        "thread_handoffs": "rlscope.analysis.findings.thread_handoffs:RULE",
        "thread_wait": "rlscope.analysis.findings.thread_wait:RULE",
        "uncached_generation": "rlscope.analysis.findings.uncached_generation:RULE",
        "unchanged_calls": "rlscope.analysis.findings.unchanged_calls:RULE",
        "uneven_pool": "rlscope.analysis.findings.uneven_pool:RULE",
        "unfrozen_networks": "rlscope.analysis.findings.unfrozen_networks:RULE",
        "variable_loop": "rlscope.analysis.findings.variable_loop:RULE",
        "weight_arrays": "rlscope.analysis.findings.weight_arrays:RULE",
        "whole_copy": "rlscope.analysis.findings.whole_copy:RULE",
        "whole_history": "rlscope.analysis.findings.whole_history:RULE",
        "cheap_threads": "rlscope.analysis.findings.cheap_threads:RULE",
        "cheap_workers": "rlscope.analysis.findings.cheap_workers:RULE",
        "network_lists": "rlscope.analysis.findings.network_lists:RULE",
        "dense_embeddings": "rlscope.analysis.findings.dense_embeddings:RULE",
        "endless_generation": "rlscope.analysis.findings.endless_generation:RULE",
        "environment_makes": "rlscope.analysis.findings.environment_makes:RULE",
        "polling": "rlscope.analysis.findings.polling:RULE",
        "eigenvalues": "rlscope.analysis.findings.eigenvalues:RULE",
        "integrators": "rlscope.analysis.findings.integrators:RULE",
        "manager_items": "rlscope.analysis.findings.manager_items:RULE",
        "space_makes": "rlscope.analysis.findings.space_makes:RULE",
        "step_backwards": "rlscope.analysis.findings.step_backwards:RULE",
        "kept_results": "rlscope.analysis.findings.kept_results:RULE",
        "repeated_results": "rlscope.analysis.findings.repeated_results:RULE",
        "tensor_items": "rlscope.analysis.findings.tensor_items:RULE",
        "permuted_draws": "rlscope.analysis.findings.permuted_draws:RULE",
        "module_walks": "rlscope.analysis.findings.module_walks:RULE",
        "weight_statistics": "rlscope.analysis.findings.weight_statistics:RULE",
        "inverses": "rlscope.analysis.findings.inverses:RULE",
        "late_worker": "rlscope.analysis.findings.late_worker:RULE",
        "host_conversions": "rlscope.analysis.findings.host_conversions:RULE",
        "outlier_call": "rlscope.analysis.findings.outlier_call:RULE",
        "compilation": "rlscope.analysis.findings.compilation:RULE",
        "imports": "rlscope.analysis.findings.imports:RULE",
        "slow_peer": "rlscope.analysis.findings.slow_peer:RULE",
        "starving": "rlscope.analysis.findings.starving:RULE",
        "set_up": "rlscope.analysis.findings.set_up:RULE",
        "launch_bound": "rlscope.analysis.findings.launch_bound:RULE",
        "device_sync": "rlscope.analysis.findings.device_sync:RULE",
        "pageable_copies": "rlscope.analysis.findings.pageable_copies:RULE",
        "data_set_calls": "rlscope.analysis.findings.data_set_calls:RULE",
        "unjitted_jax": "rlscope.analysis.findings.unjitted_jax:RULE",
        "eager_calls": "rlscope.analysis.findings.eager_calls:RULE",
        "device_memory": "rlscope.analysis.findings.device_memory:RULE",
        "growing_graph": "rlscope.analysis.findings.growing_graph:RULE",
        "number_draws": "rlscope.analysis.findings.number_draws:RULE",
        "number_functions": "rlscope.analysis.findings.number_functions:RULE",
        "plots": "rlscope.analysis.findings.plots:RULE",
        "weighted_draws": "rlscope.analysis.findings.weighted_draws:RULE",
    },
    MADE_RELATIONS: {"finding": "rlscope.analysis.advice:finding_columns"},
    # Named after the package whose import makes the row be read (rlscope/capture/watched.py).
    FRAMEWORKS: {
        "torch": "rlscope.frameworks.pytorch:LIBRARY",
        "tensorflow": "rlscope.frameworks.tensorflow:LIBRARY",
        "jaxlib": "rlscope.frameworks.jax:LIBRARY",
        "numpy": "rlscope.frameworks.numpy:LIBRARY",
    },
    SIMULATORS: {
        "ale_py": "rlscope.simulators.ale:LIBRARY",
        "mujoco": "rlscope.simulators.mujoco:LIBRARY",
        "Box2D": "rlscope.simulators.box2d:LIBRARY",
        "pybullet": "rlscope.simulators.pybullet:LIBRARY",
        "envpool": "rlscope.simulators.envpool:LIBRARY",
        "gymnasium": "rlscope.simulators.gymnasium:LIBRARY",
        "gym": "rlscope.simulators.gym:LIBRARY",
        "mujoco_py": "rlscope.simulators.gym:LIBRARY",
        "atari_py": "rlscope.simulators.gym:LIBRARY",
        "pettingzoo": "rlscope.simulators.pettingzoo:LIBRARY",
        "multi_agent_ale_py": "rlscope.simulators.pettingzoo:LIBRARY",
        "pymunk": "rlscope.simulators.pettingzoo:LIBRARY",
        "magent2": "rlscope.simulators.pettingzoo:LIBRARY",
    },
    # Named after the module that has the functions (rlscope/capture/named_functions.py).
    WAITS: {
        "time": "rlscope.waits.sleeping:WAITS",
        "_thread": "rlscope.waits.locks:WAITS",
        "posix": "rlscope.waits.descriptors:WAITS",
        "_io": "rlscope.waits.files:WAITS",
        "_socket": "rlscope.waits.sockets:WAITS",
        "select": "rlscope.waits.polls:WAITS",
        "_queue": "rlscope.waits.queues:WAITS",
        "_multiprocessing": "rlscope.waits.semaphores:WAITS",
        "ray._raylet": "rlscope.waits.ray:WAITS",
    },
    SERIALIZERS: {
        "_pickle": "rlscope.serializers.pickling:FUNCTIONS",
    },
}

# A traced program asks for these groups while it imports its libraries: importlib.metadata is
# imported only when some installed package declares a row.
_IN_TRACED_PROGRAMS = (FRAMEWORKS, SIMULATORS, WAITS, SERIALIZERS)


def names(group: str) -> list[str]:
    """Names of a group: the built-in ones in the order of their rows, then those of others."""
    return list(_rows(group))


def builtin(group: str) -> Mapping[str, str]:
    """The rows of this package: name -> "module:object"."""
    return _ROWS[group]


def load(group: str, name: str) -> Any:
    """Imports the object behind a name.

    Raises RlscopeError when no row has that name, or when a row of another package cannot be
    imported; an error inside our own module is a bug and keeps its traceback.
    """
    rows = _rows(group)
    if name not in rows:
        known = ", ".join(rows)
        raise RlscopeError(f"no {name!r} in {group}; there are: {known}")
    row = rows[name]
    if isinstance(row, str):
        import importlib  # the first import costs 4 ms

        module, _, attribute = row.partition(":")
        imported = importlib.import_module(module)
        return getattr(imported, attribute) if attribute else imported
    return _load_foreign(group, row)


def module_of(group: str, name: str) -> str:
    """Name of the module behind a row, without importing it."""
    row = _rows(group)[name]
    return row.partition(":")[0] if isinstance(row, str) else row.module


def load_all(group: str) -> Iterator[tuple[str, Any]]:
    """Every (name, object) of a group, imported one by one."""
    for name in names(group):
        yield name, load(group, name)


_found: dict[tuple[str, ...], dict[str, str | metadata.EntryPoint]] = {}
"""Rows of a group, by its name and the folders that were asked: 4 ms for 100 packages."""


def _rows(group: str) -> Mapping[str, str | metadata.EntryPoint]:
    asked = (group, *sys.path)
    if asked not in _found:
        _found[asked] = _find_rows(group)
    return _found[asked]


def _find_rows(group: str) -> dict[str, str | metadata.EntryPoint]:
    rows: dict[str, str | metadata.EntryPoint] = dict(_ROWS[group])
    if group in _IN_TRACED_PROGRAMS and not _is_advertised(group):
        return rows
    from importlib import metadata  # 15 ms: not before rls-prof has started its program

    for point in metadata.entry_points(group=group):
        rows.setdefault(point.name, point)  # a built-in name cannot be taken over
    return rows


def _is_advertised(group: str) -> bool:
    """Whether the entry points of any installed package name the group: 3 ms for 200 packages."""
    heading = f"[{group}]".encode()
    return any(heading in text for text in _entry_point_files())


def _entry_point_files() -> Iterator[bytes]:
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                yield _content(os.path.join(folder, name, "entry_points.txt"))


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _load_foreign(group: str, point: metadata.EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:
        raise RlscopeError(f"{group}: {point.name} ({point.value}) failed: {error}") from error

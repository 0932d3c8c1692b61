"""Makes a trace directory of files of other tools: their processes, aligned by their clocks.

Everything is read before the directory is touched, so that a damaged file, or a Ctrl-C while it is
read, leaves all as it was.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import cast

from rlscope import _trace, registry
from rlscope._version import __version__
from rlscope.errors import RecordingError, RlscopeError
from rlscope.importing.importer import (
    HEAD_BYTES,
    OPERATIONS,
    Importer,
    Scan,
    Source,
    has_real_clock,
    start_ns,
)
from rlscope.importing.places import find as find_places
from rlscope.relations import step_numbers
from rlscope.relations.rows.imported_places import NOTE, Place
from rlscope.rundir import old_run, process_log, regular_files
from rlscope.rundir.new_run import RunDirectory, prepare_directory
from rlscope.rundir.run_json import RUN_FORMAT, RUN_FORMAT_VERSION

# Where a run without a real clock begins: no reading of a clock is 0.
_UNALIGNED_START_NS = 10**12
# No process has it that could still be alive: clock ticks of a machine that is up for ages.
_FIRST_START_TIME = 1 << 62
# Of the kinds of rows that were not taken, and of their names: metadata has room for 64 KiB.
_MOST_KINDS = 100
_LONGEST_KIND = 120
_LONGEST_COMM = 15
_FROM_NSIGHT = "export it first with nsys export --type sqlite, and import the .sqlite file"
_FROM_PERFETTO = (
    "it has Perfetto's own format; https://ui.perfetto.dev opens it, and Perfetto's tool makes a "
    "Chrome trace of it with traceconv json"
)
# What to do with files of which the tool has another form, by the ends of their names.
_INSTEAD = {
    ".nsys-rep": _FROM_NSIGHT,
    ".qdrep": _FROM_NSIGHT,
    ".xplane.pb": "import the .trace.json.gz that JAX writes beside it; of TensorFlow's, the "
    "package xprof makes one with raw_to_tool_data.xspace_to_tool_data([FILE], 'trace_viewer', {})",
    ".pftrace": _FROM_PERFETTO,
    ".perfetto-trace": _FROM_PERFETTO,
}


@dataclass(frozen=True)
class ImportedFile:
    """One file and what became of it."""

    path: str
    importer: Importer
    scans: Sequence[Scan]
    """Its processes."""
    shift_ns: int = 0
    """Added to its times."""
    place: Place = field(default_factory=Place)


@dataclass(frozen=True)
class Imported:
    """A run that was made."""

    directory: str
    files: Sequence[ImportedFile]

    def taken(self) -> Counter[str]:
        """Rows by category, over all files."""
        return _added_up(scan.taken for file in self.files for scan in file.scans)

    def not_taken(self) -> Counter[str]:
        """Rows that are not in the trace, by what they are."""
        return _added_up(scan.not_taken for file in self.files for scan in file.scans)

    def without_rows(self, operations: Collection[str]) -> list[str]:
        """Those of the names that the user called operations that no row has."""
        notes = [scan.notes() for file in self.files for scan in file.scans]
        found = {name for each in notes for name in cast(list[str], each.get(OPERATIONS, []))}
        return [name for name in operations if name not in found]

    def steps(self) -> str:
        """Which iterations are which steps of the tool, as a sentence; empty: they are the same."""
        notes = [scan.notes() for file in self.files for scan in file.scans]
        return step_numbers.sentence(each.get(step_numbers.NOTE) for each in notes)

    def unaligned(self) -> list[ImportedFile]:
        """Files that cannot be compared with others in time, if there are others."""
        return [file for file in self.files if file.shift_ns and len(self.files) > 1]


def import_files(
    paths: Sequence[str],
    directory: str,
    *,
    force: bool = False,
    operations: Collection[str] = (),
    step: Callable[[str], None] = lambda _: None,
) -> Imported:
    """Imports files of one job into a new trace directory.

    Args:
        paths: the files.
        force: remove a run that is there.
        operations: names of rows that are operations, where the files do not say which are: XProf.
        step: called with a few words on the work that goes on.

    Raises:
        RlscopeError: a file is of no known kind, damaged, or has nothing that can be taken.
        DirectoryInUse: the directory holds a run.
        RecordingError: it cannot be written.
    """
    place = os.path.realpath(directory)
    importers = [_importer_of(path) for path in paths]
    if os.path.isdir(place):
        _check_room(place, force)
    spill = _trace.SpillFile()
    try:
        scans = [
            _scan(path, importer, spill, operations, step)
            for path, importer in zip(paths, importers, strict=True)
        ]
    except OSError as error:
        raise RlscopeError(f"cannot sort the rows: {error.strerror or error}") from error
    shifts = _shifts(scans)
    places = find_places(scans)
    files = [
        ImportedFile(*each) for each in zip(paths, importers, scans, shifts, places, strict=True)
    ]
    step("writing the trace")
    run = prepare_directory(directory, force=force)
    try:
        _write(run, files)
    except BaseException as error:
        run.abandon()
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            raise RecordingError(f"cannot write {run.path}: {reason}") from error
        raise
    run.release()
    with suppress(OSError):
        os.rmdir(os.path.join(run.path, "rings"))
    return Imported(directory, files)


# ---- reading ------------------------------------------------------------------------------------


def _importer_of(path: str) -> Importer:
    """The importer of a file, by its content."""
    importers: list[Importer] = [each for _, each in registry.load_all(registry.IMPORTERS)]
    found = None
    with Source(path) as source:
        head = b""
        for size in HEAD_BYTES:
            head += _read_exactly(source, size - len(head))
            found = next((each for each in importers if each.recognises(head)), None)
            if len(head) < size or (found is not None and not found.is_general):
                break
    if found is not None:
        return found
    for ending, instead in _INSTEAD.items():
        if path.lower().endswith(ending):
            raise RlscopeError(f"{path} cannot be imported as it is: {instead}")
    known = ", ".join(importer.title for importer in importers)
    raise RlscopeError(f"{path} is of no kind that can be imported; known are: {known}")


def _read_exactly(source: Source, size: int) -> bytes:
    """So many bytes, fewer only at the end: a compressed file comes in pieces."""
    pieces: list[bytes] = []
    while size > 0 and (piece := source.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _check_room(place: str, force: bool) -> None:
    try:
        old_run.check_room(place, force)
    except OSError as error:
        raise RecordingError(f"cannot write {place}: {error.strerror}") from error


def _scan(
    path: str,
    importer: Importer,
    spill: _trace.SpillFile,
    operations: Collection[str],
    step: Callable[[str], None],
) -> Sequence[Scan]:
    name = os.path.basename(path)
    with Source(path, lambda part: step(f"reading {name}: {part:.0%}")) as source:
        return importer.scan(source, spill, operations)


def _shifts(files: Sequence[Sequence[Scan]]) -> list[int]:
    """What is added to the times of each file: one without a real clock begins with the run."""
    real = [start_ns(scans) for scans in files if has_real_clock(scans)]
    begin_ns = min(real, default=_UNALIGNED_START_NS)
    return [0 if has_real_clock(scans) else begin_ns - start_ns(scans) for scans in files]


# ---- writing ------------------------------------------------------------------------------------


def _write(run: RunDirectory, files: Sequence[ImportedFile]) -> None:
    processes = [(file, scan) for file in files for scan in file.scans]
    records = [
        _write_process(run.path, number, file, scan)
        for number, (file, scan) in enumerate(processes)
    ]
    regular_files.replace(run.path, process_log.FILE, b"".join(records))
    text = json.dumps(_run_json(run.path, files), indent=2) + "\n"
    regular_files.replace(run.path, "run.json", text.encode())


def _write_process(directory: str, number: int, file: ImportedFile, scan: Scan) -> bytes:
    """Writes the file of a process; returns its record in the log."""
    start_time = _FIRST_START_TIME + number
    notes = {**scan.notes(), NOTE: _note(file, scan)}
    scan.write(
        os.path.join(directory, "trace", f"imported.{scan.os_pid}.{start_time}.1.rls"),
        start_time=start_time,
        shift_ns=file.shift_ns,
        metadata={name: json.dumps(value) for name, value in notes.items()},
    )
    began_ns = scan.span_ns[0] + file.shift_ns
    return _trace.process_record(
        process_log.Event.BEGAN,
        pid=scan.os_pid,
        start_time=start_time,
        began_ns=began_ns,
        time_ns=began_ns,
        name=scan.name[:_LONGEST_COMM] or "imported",
    )


def _note(file: ImportedFile, scan: Scan) -> dict[str, object]:
    note: dict[str, object] = {
        "file": os.path.basename(file.path),
        "as": file.importer.title,
        "marks": dict(file.importer.marks),
        "rows": dict(scan.taken),
        "not_taken": dict(_shortened(scan.not_taken)),
        **file.place.note(),
    }
    if file.shift_ns:
        note["clock"] = "not a real one: the process begins with the run"
    return note


def _shortened(counts: Mapping[str, int]) -> Counter[str]:
    """The most frequent kinds by name, the others as one."""
    ranked = Counter(counts).most_common()
    kinds: Counter[str] = Counter()
    for place, (kind, count) in enumerate(ranked):
        kinds[kind[:_LONGEST_KIND] if place < _MOST_KINDS else "(other)"] += count
    return kinds


def _added_up(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total


def _run_json(directory: str, files: Sequence[ImportedFile]) -> dict[str, object]:
    begin_ns = min(start_ns(file.scans) + file.shift_ns for file in files)
    run: dict[str, object] = {
        "format": RUN_FORMAT,
        "format_version": RUN_FORMAT_VERSION,
        "version": __version__,
        "name": os.path.basename(directory),
        "start_ns": begin_ns,
        "imported": {
            "as": ", ".join(dict.fromkeys(file.importer.title for file in files)),
            "files": [os.path.basename(file.path) for file in files],
        },
    }
    if any(has_real_clock(file.scans) for file in files):
        run["start_time"] = datetime.fromtimestamp(begin_ns / 1e9, timezone.utc).isoformat()
    return run

"""Checks which folder may include which in csrc/, and that no two files include each other.

The layers of docs/how-it-works.md:

preload > cupti > runtime > drain > base      python/runtime_module > native_calls > runtime
python/trace_module > analysis > directory > base
python/trace_module > importers > write > base
python/trace_module > exporters > base

inside of csrc/trace, where write and read know nothing of each other:

directory > drain > write > format > layout > base
directory > read > format

and inside of csrc/analysis:

events > cuda > sweep > views > threads > process > archive > keys
         idle > sweep > gpu > process                        process > spill

Files of one layer include each other in one direction, too. A unit is what has one name: x.h and
x.cc. A source without a header of its own belongs to the header whose name its own begins with:
sweeper_archive.cc to sweeper.h. One that there is no such header for is a unit that nothing can
include. A circle is a set of units each of which includes, by way of others, all of them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent / "csrc"
FORMAT = {"trace/format", "trace/layout", "base"}
DRAIN = {"trace/drain", "trace/write", *FORMAT}
READ = {"trace/read", *FORMAT}
RECORDER = {"runtime", "trace/drain", "trace/layout", "base"}
KEYS = {"analysis/keys", *READ}
ARCHIVE = {"analysis/archive", *KEYS}
SPILL = {"analysis/spill", *FORMAT}
PROCESS = {"analysis/process", *ARCHIVE, *SPILL}
THREADS = {"analysis/threads", *PROCESS}
GPU = {"analysis/gpu", *PROCESS}
VIEWS = {"analysis/views", *THREADS}
SWEEP = {"analysis/sweep", "trace/directory", *VIEWS, *GPU}
CUDA = {"analysis/cuda", *SWEEP}
IDLE = {"analysis/idle", *SWEEP}
EVENTS = {"analysis/events", *CUDA}
ALLOWED = {
    "base": {"base"},
    "trace/layout": {"trace/layout", "base"},
    "trace/format": FORMAT,
    "trace/write": {"trace/write", *FORMAT},
    "trace/drain": DRAIN,
    "trace/read": READ,
    "trace/directory": {"trace/directory", *DRAIN, *READ},
    "runtime": RECORDER,
    "cupti": {"cupti", *RECORDER},
    "preload": {"preload", "cupti", *RECORDER},
    "native_calls": {"native_calls", *RECORDER},
    "analysis/spill": SPILL,
    "analysis/keys": KEYS,
    "analysis/archive": ARCHIVE,
    "analysis/process": PROCESS,
    "analysis/threads": THREADS,
    "analysis/gpu": GPU,
    "analysis/views": VIEWS,
    "analysis/sweep": SWEEP,
    "analysis/cuda": CUDA,
    "analysis/idle": IDLE,
    "analysis/events": EVENTS,
    "importers": {"importers", "trace/write", *FORMAT},
    "exporters": {"exporters", "base"},
    "python/runtime_module": {"python/runtime_module", "native_calls", *RECORDER},
    "python/trace_module": {"python/trace_module", "importers", "exporters", *EVENTS, *IDLE},
}
SUFFIXES = {".h", ".cc", ".c", ".S"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+/[^"]+)"', re.MULTILINE)


def layer_of(path: str) -> str:
    """The layer of a file, relative to csrc; a folder that has none is its own."""
    folder = path.rpartition("/")[0]
    return next((f for f in ALLOWED if f"{folder}/".startswith(f"{f}/")), folder)


def violations(root: Path = ROOT) -> list[str]:
    files = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*"))}
    includes = {
        name: INCLUDE.findall(path.read_text())
        for name, path in files.items()
        if path.suffix in SUFFIXES
    }
    return [
        *(f"{root.name}/{line}" for line in wrong_layers(includes)),
        *(f"{root.name}: {' -> '.join([*way, way[0]])} is a circle" for way in circles(includes)),
    ]


def wrong_layers(includes: Mapping[str, list[str]]) -> Iterator[str]:
    for name, included in includes.items():
        layer = layer_of(name)
        if layer not in ALLOWED:
            yield f"{name}: {layer} is no layer"
            continue
        targets = {layer_of(path) for path in included if path in includes}
        for target in sorted(targets - ALLOWED[layer]):
            yield f"{name}: {layer} must not include {target}"


def unit_of(name: str, files: Mapping[str, object]) -> str:
    """The unit of a file, named without suffix."""
    unit = name.rpartition(".")[0]
    header = unit
    while f"{header}.h" not in files:
        header, separator, _ = header.rpartition("_")
        if not separator or "/" not in header:
            return unit
    return header


def circles(includes: Mapping[str, list[str]]) -> list[list[str]]:
    """For each set of units that include each other the shortest way around from one of them."""
    arrows: dict[str, set[str]] = {unit_of(name, includes): set() for name in includes}
    for name, included in includes.items():
        unit = unit_of(name, includes)
        arrows[unit] |= {unit_of(path, includes) for path in included if path in includes} - {unit}
    found: list[list[str]] = []
    seen: set[str] = set()
    for unit in sorted(arrows):
        way = way_around(unit, arrows)
        if way and unit not in seen:
            found.append(way)
            seen |= {other for other in reached(unit, arrows) if unit in reached(other, arrows)}
    return found


def reached(start: str, arrows: Mapping[str, set[str]]) -> dict[str, str]:
    """Every unit that `start` includes, by way of others too, with the one before it on the way."""
    before: dict[str, str] = {}
    ahead = [start]
    for unit in ahead:
        for target in sorted(arrows[unit] - before.keys()):
            before[target] = unit
            ahead.append(target)
    return before


def way_around(start: str, arrows: Mapping[str, set[str]]) -> list[str]:
    """The shortest way from a unit back to itself; empty: there is none."""
    before = reached(start, arrows)
    if start not in before:
        return []
    way = [start]
    while before[way[0]] != start:
        way.insert(0, before[way[0]])
    return [start, *way[:-1]]


if __name__ == "__main__":
    problems = violations()
    print("\n".join(problems) or "includes: ok")
    sys.exit(bool(problems))

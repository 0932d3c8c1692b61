"""How native calls were recorded: the engine, the libraries, and the engine's blind spots."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# What each engine cannot see, whatever the library: the rows of the table in docs/guide/layers.md.
_BY_BOTH = (
    "calls through ctypes and the ABI mode of cffi",
    "C++ threads of a library outside callbacks into Python",
    "the freeing of native objects",
)
BLIND = {
    "patch": (*_BY_BOTH, "waits inside native code, which count as the layer around them"),
    "monitoring": (
        *_BY_BOTH,
        "all waits and pickling, which count as the layer around them",
        "operators, indexing, attributes, iteration and native context managers",
        "Python code that native code calls back, which counts as native",
        "bound methods of native functions called with *arguments (SWIG)",
        "call sites whose callee becomes native after 64 calls that were not",
    ),
    "off": (),
}

_COLUMNS = (
    "engine",
    "processes",
    "libraries",
    "patched",
    "reason",
    "problems",
    "has_waits",
    "scan_ns",
    "startup_ns",
)


def interception(trace: Trace) -> Table:
    """engine, processes, libraries (name -> layer), patched (entry points, the most of any
    process), reason (why not the engine that was asked for), problems, has_waits (False: they were
    not recorded), scan_ns (all processes: finding functions and patching them), startup_ns (all
    processes: until recording was ready): one row per engine and reason."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for _, _, value in statement.run(trace, "interception"):
        facts = _parse(value)
        if facts:
            groups.setdefault((facts["engine"], facts["reason"]), []).append(facts)
    rows = [_row(engine, reason, members) for (engine, reason), members in groups.items()]
    rows += _refused_by_user(trace)
    columns = {name: [row[name] for row in rows] for name in _COLUMNS}
    return Table(columns, name="interception")


def _refused_by_user(trace: Trace) -> list[dict[str, Any]]:
    """Under --intercept=off no process reports an engine: no recording, no cost."""
    options = [_options(text) for text in trace.table("run")["options"]]
    if not any(given.get("intercept") == "off" for given in options):
        return []
    processes = sum(python is not None for python in trace.table("process")["python"])
    facts: dict[str, Any] = {"libraries": {}, "counts": {}}
    return [_row("off", "rls-prof --intercept=off", [facts] * processes)] if processes else []


def _options(text: str | None) -> dict[str, Any]:
    options = json.loads(text) if text else {}
    return options if isinstance(options, dict) else {}


def _parse(text: str) -> dict[str, Any]:
    """A process's report; empty if another version of rlscope wrote it otherwise."""
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    known = isinstance(facts, dict) and {"engine", "reason", "libraries", "counts"} <= set(facts)
    return facts if known else {}


def _row(engine: str, reason: str, members: list[dict[str, Any]]) -> dict[str, Any]:
    libraries = {name: layer for facts in members for name, layer in facts["libraries"].items()}
    problems = Counter(problem for facts in members for problem in facts.get("problems", ()))
    return {
        "engine": engine,
        "processes": len(members),
        "libraries": ", ".join(f"{name} ({layer})" for name, layer in sorted(libraries.items())),
        "patched": max(facts["counts"].get("patched", 0) for facts in members),
        "reason": reason,
        "problems": "; ".join(sorted(problems)),
        "has_waits": any(facts.get("waits", True) for facts in members),
        "scan_ns": sum(facts["counts"].get("scan_ns", 0) for facts in members),
        "startup_ns": sum(facts.get("startup_ns", 0) for facts in members),
    }

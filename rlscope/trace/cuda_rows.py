"""CUDA calls and GPU work of one process as relations (rlscope/trace/cuda_tables.py)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rlscope.trace.operations import UNLINKED, sources_of_rows

NOTE = "cuda"
"""Key of the metadata in which a process says how it recorded CUDA (csrc/capture/note.h)."""

RELATIONS = ("api_call", "kernel", "graph", "memcpy", "memset", "sync", "gpu_time")


def relations(found: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What `_trace.Directory.cuda_relations` found, its operations as texts."""
    # The last one is number -1.
    paths = np.array([*found["operation"]["path"], UNLINKED], dtype=object)
    sources = np.array([*sources_of_rows(found["operation"]), None], dtype=object)
    return {
        name: {
            **found[name],
            "operation": paths[found[name]["operation"]],
            "source": sources[found[name]["operation"]],
        }
        for name in RELATIONS
    }


def why_nothing(notes: Iterable[str], options: Mapping[str, Any]) -> str:
    """Why a run has no CUDA call or GPU work: what its processes noted, else how it was run."""
    told = [note for note in map(_parsed, notes) if isinstance(note, dict)]
    problems = dict.fromkeys(str(note["problem"]) for note in told if "problem" in note)
    if problems:
        return "; ".join(problems)
    if options.get("cuda") == "off":
        return "rls-prof was told not to record CUDA (--cuda=off)"
    return "CUDA was initialised and not used" if told else "no process initialised CUDA"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:  # of another version, or cut
        return None

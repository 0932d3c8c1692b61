"""CUDA calls and GPU work of one process as relations (rlscope/relations/schema/cuda_tables.py)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rlscope import _trace
from rlscope.relations.rows.operations import UNLINKED, sources_of_rows

NOTE = "cuda"
"""Key of the metadata in which a process reports how it recorded CUDA (csrc/cupti/note.h)."""

_WITHOUT_WORK = ("work", "all")
"""The `missing` of such a note where there is no GPU work of the process."""

_HOW_WITHOUT_WORK = {
    "off": "rls-prof ran with --cuda=off",
    "interpose": "--cuda=interpose records only calls of the CUDA runtime library. GPU work is "
    "missing, and so are libraries that call the driver or bring a runtime library of their own: "
    "cuBLAS, cuDNN, NCCL, Triton, JAX and CuPy",
}
"""Ways to record CUDA that see no GPU work."""

IN_WINDOWS = (
    "GPU work was recorded in windows of some iterations (--gpu-share), and is not known elsewhere"
)
OF_WORK = ("gpu_busy", "with_work", "gpu_ns", "total_gpu_ns")
"""Columns about GPU work of relations that are not."""

_WORK = tuple(kind["name"] for kind in _trace.GPU_KINDS if kind["is_work"])

RELATIONS = ("api_call", *_WORK, "sync", "gpu_time")


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


def without_work(
    relations: dict[str, dict[str, Any]], *, but: str = ""
) -> dict[str, dict[str, Any]]:
    """The relations of a process whose GPU work is not known: the columns about it are NULL, `but`
    in one relation."""
    return {
        name: columns
        if name == but
        else {**columns, **{key: _nulls(columns[key]) for key in OF_WORK if key in columns}}
        for name, columns in relations.items()
    }


def seen_spans(iterations: Mapping[str, Any]) -> list[tuple[int, int, bool]]:
    """Begins and ends of the stretches in which the state of the GPU is known, where GPU work was
    recorded in windows: a window, without its first iteration if it has others, because CUPTI is
    attached in that one. The last value is false for the first window, which stands for no other.

    Args:
        iterations: start_ns, end_ns and gpu_recorded of all iterations of the process, in order.
    """
    starts, ends = (np.asarray(iterations[name]) for name in ("start_ns", "end_ns"))
    seen = np.asarray(iterations["gpu_recorded"], dtype=bool)
    edges = np.diff(np.concatenate(([0], seen.astype(np.int8), [0])))
    spans: list[tuple[int, int, bool]] = []
    for first, after in zip(np.flatnonzero(edges > 0), np.flatnonzero(edges < 0), strict=True):
        leaves_out = first > 0 and after - first > 1
        spans.append((int(starts[first + leaves_out]), int(ends[after - 1]), len(spans) > 0))
    if spans and seen[0]:
        spans[0] = (0, spans[0][1], False)  # what came before is recorded, too
    return spans


def of_iterations(
    iteration: Mapping[str, Any], work: Mapping[str, Any], why: str
) -> dict[str, Any]:
    """The relation iteration with the GPU work of each.

    Args:
        iteration: columns of the iterations, from the sweep.
        work: of those that launched some (iteration_work of `_trace.Directory.cuda_relations`).
        why: why GPU work of the process is not known as a whole; empty where it is.
    """
    seen = np.asarray(iteration["gpu_recorded"], dtype=bool)
    unknown = ~seen if why == IN_WINDOWS else np.full(len(seen), bool(why))
    found = {}
    for name in ("kernels", "busy_ns"):
        # One zero for all, as long as none launched anything: a run may have millions.
        values = np.broadcast_to(np.int64(0), len(seen))
        if len(work["iteration"]):
            values = values.copy()
            values[work["iteration"]] = work[name]
        found[name] = np.ma.array(values, mask=unknown)
    return {**iteration, **found}


def without_errors(calls: dict[str, Any]) -> dict[str, Any]:
    """The relation api_call of a process of which it is not known whether its calls failed."""
    return {**calls, "errors": _nulls(calls["errors"])}


def _nulls(values: Any) -> Any:
    return np.ma.array(np.asarray(values), mask=True)


def why_no_work(note: str | None, run: Mapping[str, Any]) -> str:
    """Why GPU work of a process cannot be in its trace; empty where it can.

    Args:
        note: what the process noted, None: nothing.
        run: the contents of run.json.
    """
    facts = _facts(note) if note is not None else {}
    if facts.get("missing") in _WITHOUT_WORK:
        return _problem(facts)
    return _HOW_WITHOUT_WORK.get(how_recorded(run), "")


def uses_windows(run: Mapping[str, Any]) -> bool:
    """Whether GPU work was recorded in windows, where it could be (--gpu-share)."""
    options, environment = run.get("options") or {}, run.get("environment") or {}
    share = options.get("gpu_share") or environment.get("RLSCOPE_GPU_SHARE")
    return share not in (None, "", "100%")


def how_recorded(run: Mapping[str, Any]) -> str:
    """cupti, interpose or off: by rls-prof's option, else by its environment."""
    options, environment = run.get("options") or {}, run.get("environment") or {}
    return str(options.get("cuda") or environment.get("RLSCOPE_CUDA") or "cupti")


def why_nothing(notes: Iterable[str], run: Mapping[str, Any]) -> str:
    """Why a run has no CUDA call or GPU work: what its processes noted, else how it was run."""
    told = list(notes)
    problems = dict.fromkeys(filter(None, (_problem(_facts(note)) for note in told)))
    if problems:
        return "; ".join(problems)
    if how_recorded(run) in _HOW_WITHOUT_WORK:
        return _HOW_WITHOUT_WORK[how_recorded(run)]
    return "CUDA was initialised and not used" if told else _why_unseen(run)


def _why_unseen(run: Mapping[str, Any]) -> str:
    """Why no process of a run noted anything about CUDA."""
    if (run.get("host") or {}).get("cuda_driver") == "":
        return "the CUDA driver, libcuda.so.1, was not found"
    tool = str((run.get("environment") or {}).get("CUDA_INJECTION64_PATH", ""))
    if tool and "librlscope" not in tool:
        return (
            f"CUDA_INJECTION64_PATH is another tool's ({tool}). Then rlscope watches only "
            "processes that have recorded something else, and none of them loaded CUDA"
        )
    return "no process initialised CUDA"


def _facts(note: str) -> dict[str, Any]:
    try:
        facts = json.loads(note)
    except (ValueError, RecursionError):  # of another version, or cut
        return {}
    return facts if isinstance(facts, dict) else {}


def _problem(facts: Mapping[str, Any]) -> str:
    return str(facts.get("problem", ""))

"""Rows of the relation `idle` (semantics.md, Idle time)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rlscope import _trace
from rlscope.relations.groups import first_name, group_of
from rlscope.relations.rows.blocked import as_list
from rlscope.relations.rows.operations import sources_of_rows

ROLLED_UP = "rolled up"

_REASON_OF_GROUP = {
    "import": "compilation",
    "compilation": "compilation",
    "saving": "disk",
    "loading": "disk",
}
_PREPARING = ("setup", "warmup")
_OF_STATE = ("stage", "operation", "layer", "gpu_busy")
_KNOWN = "gpu_is_known"


class _State(NamedTuple):
    stage: str
    operation: str
    source: str | None
    layer: str
    gpu_busy: bool | None
    """None: not known."""
    is_sample: bool = False


def columns(found: Mapping[str, Any], swept: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The rows of a process.

    Args:
        found: what `_trace.Directory.idle` found.
        swept: what `_trace.Directory.sweep` did, without GPU work if the former had `seen`.
    """
    times: Counter[tuple[_State, str]] = Counter()
    for state, reason, ns in _rows(found, "idle"):
        times[state, reason_of_operation(state.operation) or reason] += ns
    # Where GPU work was recorded in windows, the breakdown has none.
    known = found["idle"].get(_KNOWN)
    is_whole = known is None or all(as_list(known))
    for state, ns in _missing(found, swept, is_whole):
        times[state, ROLLED_UP] += ns
    rows = [
        (*state[:-1], reason, ns, state.is_sample)
        for (state, reason), ns in sorted(times.items(), key=_in_order)
    ]
    names = (*_State._fields[:-1], "reason", "duration_ns", "is_sample")
    return dict(zip(names, _transposed(rows, len(names)), strict=True))


def reason_of_operation(path: str) -> str | None:
    """The reason of all time of an operation; None: it depends on the instant.

    >>> reason_of_operation("update/compilation"), reason_of_operation("update")
    ('compilation', None)
    """
    if first_name(path) in _PREPARING:
        return "compilation"
    return _REASON_OF_GROUP.get(group_of(path))


def _missing(
    found: Mapping[str, Any], swept: Mapping[str, Any], is_whole: bool
) -> Iterator[tuple[_State, int]]:
    """Time of the breakdown that has no reason: a roll-up left it out."""
    left: Counter[_State] = Counter()
    for state, _, ns in _rows(swept, "breakdown"):
        left[_compared(state, is_whole)] += ns
    for state, _, ns in _rows(found, "idle"):
        left[_compared(state, is_whole)] -= ns
    return ((state, ns) for state, ns in left.items() if ns)


def _compared(state: _State, is_whole: bool) -> _State:
    return state if is_whole else state._replace(gpu_busy=None, is_sample=False)


def _rows(found: Mapping[str, Any], name: str) -> Iterator[tuple[_State, str, int]]:
    paths = found["operation"]["path"]
    sources = sources_of_rows(found["operation"])
    columns = found[name]
    reasons = columns.get("reason", [""] * len(columns["duration_ns"]))
    places = [as_list(columns[each]) for each in _OF_STATE]
    known = as_list(columns.get(_KNOWN, [True] * len(reasons)))
    samples = as_list(columns.get("is_sample", [False] * len(reasons)))
    for stage, operation, layer, busy, is_known, is_sample, reason, ns in zip(
        *places, known, samples, reasons, as_list(columns["duration_ns"]), strict=True
    ):
        layer_name = _trace.LAYERS[layer]
        yield (
            _State(
                stage,
                paths[operation],
                sources[operation],
                layer_name,
                bool(busy) if is_known else None,
                bool(is_sample),
            ),
            reason,
            ns,
        )


def _in_order(item: tuple[tuple[_State, str], int]) -> tuple[Any, ...]:
    state, reason = item[0]
    busy = -1 if state.gpu_busy is None else int(state.gpu_busy)
    return (*state[:2], state.source or "", state.layer, busy, state.is_sample, reason)


def _transposed(rows: Sequence[Sequence[Any]], width: int) -> Iterable[list[Any]]:
    return map(list, zip(*rows, strict=True)) if rows else ([] for _ in range(width))

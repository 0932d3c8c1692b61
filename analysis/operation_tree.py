"""The tree of operations: their own times, and those of everything inside them.

SQL has the nodes. They are added up here in one pass: a recursion of 2,000 operations has two
million pairs of an operation and one that encloses it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

Node = dict[str, Any]

_LAYERS = (
    "python_ns",
    "simulator_ns",
    "framework_ns",
    "cuda_api_ns",
    "wait_ns",
    "none_ns",
    "gpu_ns",
)
_CORRECTED = ("corrected_ns", "corrected_low_ns", "corrected_high_ns")
_COLUMNS = (
    *("operation", "name", "depth", "self_ns", "total_ns"),
    *(f"total_{name}" for name in _CORRECTED),
    *_LAYERS,
    "whole_ns",
)
# Below start-up, warm-up and end: so many operations, each of so much of that time.
_MOST_AROUND = 4
_LEAST_AROUND = 0.01
_BETWEEN = 1  # place after the operations; what comes later is in no share


def operation_tree(trace: Trace, *, operations: int) -> Table:
    """One row per path, parents before their children, siblings by total time.

    Columns: operation, name, depth, self_ns, total_ns (the same for it and everything inside it),
    the total without what recording cost with its interval (None: not known), one column per
    layer, gpu_ns, whole_ns: what total_ns is a share of (None: start-up, warm-up, end and gaps
    between windows, which are in no share).

    Only the `operations` largest paths by total time, whose totals hold the others. Then, where
    there was any, the time between operations, start-up, warm-up, end and gaps: with them the rows
    of depth 0 add up to the whole time of these processes, if none is left out.
    """
    nodes = {row["id"]: row for row in statement.run(trace, "operation_tree").to_dicts()}
    whole_ns = sum(node["self_ns"] or 0 for node in nodes.values() if node["after"] <= _BETWEEN)
    _add_up(nodes)
    ranked = sorted(
        (node for node in nodes.values() if "total_ns" in node),
        key=lambda node: (node["after"], -node["total_ns"], node["operation"]),
    )
    rows = [
        {
            **node,
            "self_ns": node["self_ns"] or 0,
            "whole_ns": None if node["after"] > _BETWEEN else whole_ns,
        }
        for node in _placed(_kept(ranked, nodes, operations))
    ]
    return Table({name: [row[name] for row in rows] for name in _COLUMNS}, name="operation_tree")


def _add_up(nodes: Mapping[int, Node]) -> None:
    """Gives every node that has time, or holds some, its totals. Children before their parents: ids
    of operations rise with their depth, and those around the loop are two deep at most."""
    for node in sorted(nodes.values(), key=lambda node: -node["depth"]):
        if node["self_ns"] is not None:
            _add(node, node["self_ns"], [node[name] for name in _CORRECTED])
        if "total_ns" in node and node["parent"] is not None:
            corrected = [node[f"total_{name}"] for name in _CORRECTED]
            _add(nodes[node["parent"]], node["total_ns"], corrected)


def _add(node: Node, total_ns: int, corrected: list[int | None]) -> None:
    node["total_ns"] = node.get("total_ns", 0) + total_ns
    for name, ns in zip(_CORRECTED, corrected, strict=True):
        before = node.get(f"total_{name}")
        node[f"total_{name}"] = before if ns is None else (before or 0) + ns


def _kept(ranked: list[Node], nodes: Mapping[int, Node], operations: int) -> Iterator[Node]:
    siblings: defaultdict[int | None, int] = defaultdict(int)
    for rank, node in enumerate(ranked, 1):
        siblings[node["parent"]] += 1
        if node["after"] == 0:
            kept = rank <= operations
        elif node["depth"] == 0:
            kept = True
        else:
            least_ns = _LEAST_AROUND * nodes[node["parent"]]["total_ns"]
            kept = siblings[node["parent"]] <= _MOST_AROUND and node["total_ns"] >= least_ns
        if kept:
            yield node


def _placed(kept: Iterator[Node]) -> Iterator[Node]:
    """Ranked nodes in the order of a tree. What encloses a node takes as long as it, and ranks
    before it."""
    children: defaultdict[int | None, list[Node]] = defaultdict(list)
    for node in kept:
        children[node["parent"]].append(node)
    waiting = children[None][::-1]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += children[node["id"]][::-1]

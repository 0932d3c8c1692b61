"""The tree of operations: their own times, and those of everything inside them.

SQL has the nodes. They are added up here in one pass: a recursion of 2,000 operations has two
million pairs of an operation and one that encloses it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
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
_TOTALS = ("total_ns", *(f"total_{name}" for name in _CORRECTED))
# What has so much of the shares' whole is worth a row.
_LEAST = 0.01
# Below start-up, warm-up and end: so many operations, each of so much of that time.
_MOST_AROUND = 4
_LEAST_AROUND = 0.01
_BETWEEN = 1  # place after the operations; what comes later is in no share


def operation_tree(trace: Trace, *, operations: int, most: int | None = None) -> Table:
    """One row per path, parents before their children, siblings by total time.

    Columns: operation, name, depth, self_ns, total_ns (the same for it and everything inside it),
    the total without what recording cost with its interval (None: not known), one column per
    layer, gpu_ns, whole_ns: what total_ns is a share of (None: start-up, warm-up, end and gaps
    between windows, which are in no share).

    Only the `operations` largest paths by total time, and up to `most` of those that have 1 % of
    the whole. One row "(2 more operations)" counts what is left out among siblings: always among
    outermost operations, further inside where it has 1 %. Then, where there was any, the time
    between operations, start-up, warm-up, end and gaps: with them the rows of depth 0 add up to the
    whole time of these processes.
    """
    nodes = {row["id"]: row for row in statement.run(trace, "operation_tree").to_dicts()}
    whole_ns = sum(node["self_ns"] or 0 for node in nodes.values() if node["after"] <= _BETWEEN)
    _add_up(nodes)
    ranked = sorted(
        (node for node in nodes.values() if "total_ns" in node),
        key=lambda node: (node["after"], -node["total_ns"], node["operation"]),
    )
    least_ns = _LEAST * whole_ns
    kept = list(_kept(ranked, nodes, operations, max(most or 0, operations), least_ns))
    rows = [
        {
            **node,
            "self_ns": node["self_ns"] or 0,
            "whole_ns": None if node["after"] > _BETWEEN else whole_ns,
        }
        for node in _placed([*kept, *_left_out(ranked, kept, least_ns)])
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


def _kept(
    ranked: list[Node], nodes: Mapping[int, Node], operations: int, most: int, least_ns: float
) -> Iterator[Node]:
    siblings: defaultdict[int | None, int] = defaultdict(int)
    there = sum(node["after"] == 0 for node in ranked)
    for rank, node in enumerate(ranked, 1):
        siblings[node["parent"]] += 1
        if node["after"] == 0:
            # The row that counts what is left out says less than the last one of them.
            is_last = rank == there == operations + 1
            kept = rank <= operations or (
                rank <= most and (is_last or node["total_ns"] >= least_ns)
            )
        elif node["depth"] == 0:
            kept = True
        else:
            part_ns = _LEAST_AROUND * nodes[node["parent"]]["total_ns"]
            kept = siblings[node["parent"]] <= _MOST_AROUND and node["total_ns"] >= part_ns
        if kept:
            yield node


def _left_out(ranked: list[Node], kept: Collection[Node], least_ns: float) -> Iterator[Node]:
    """A row for the siblings that have none, where their parent has one, or there is no parent."""
    shown = {node["id"] for node in kept}
    below: defaultdict[int, list[Node]] = defaultdict(list)
    hidden: defaultdict[int | None, list[Node]] = defaultdict(list)
    for node in ranked:
        if node["parent"] is not None:
            below[node["parent"]].append(node)
        if node["after"] == 0 and node["id"] not in shown:
            hidden[node["parent"]].append(node)
    for parent, siblings in hidden.items():
        total_ns = sum(node["total_ns"] for node in siblings)
        if parent is None or (parent in shown and total_ns >= least_ns):
            yield _together(siblings, below)


def _together(siblings: list[Node], below: Mapping[int, list[Node]]) -> Node:
    """One row of several, with everything inside of them."""
    many = len(siblings)
    name = f"({many:,} more operation{'s' if many > 1 else ''})"
    whole = [*siblings]
    for node in whole:
        whole += below.get(node["id"], [])
    return {
        **siblings[0],
        "id": None,
        "operation": name,
        "name": name,
        **{column: _sum(siblings, column) for column in _TOTALS},
        **{column: _sum(whole, column) for column in _LAYERS},
        "self_ns": _sum(siblings, "total_ns"),
    }


def _sum(nodes: list[Node], column: str) -> int | None:
    known = [node[column] for node in nodes if node[column] is not None]
    return sum(known) if known else None


def _placed(kept: Iterable[Node]) -> Iterator[Node]:
    """Ranked nodes in the order of a tree. What encloses a node takes as long as it, and ranks
    before it; a row of several comes after its siblings."""
    children: defaultdict[int | None, list[Node]] = defaultdict(list)
    for node in sorted(kept, key=lambda node: node["after"]):
        children[node["parent"]].append(node)
    waiting = children[None][::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if node["id"] is not None:
            waiting += children[node["id"]][::-1]

"""Monte-Carlo tree search with a network, as in AlphaZero, over several games at once.

Silver et al. 2018 (Science 362, 1140-1144): a simulation descends from the root along the moves of
the highest upper confidence bound (PUCT), adds the position that it gets to, and carries the
network's value of that back to the root. One simulation of every game is one batch of the network.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlscope.workloads.connect_four import COLUMNS, Position

Evaluate = Callable[[Sequence[Position]], tuple[Any, Any]]
"""Positions -> priors of the columns, (positions, 7), values for who moves next, (positions,)."""

_EXPLORATION = 1.5
"""Weight of the prior against the values that were found (c of PUCT)."""
_NOISE_SHARE = 0.25
_NOISE_CONCENTRATION = 1.0
"""Concentration of the Dirichlet noise at the root, which makes self-play try every move."""


class Node:
    """A position of the tree; the lists are parallel, an item for each possible move."""

    __slots__ = ("children", "moves", "position", "priors", "result", "values", "visits")

    def __init__(self, position: Position) -> None:
        self.position = position
        self.result = position.result()
        self.moves = position.moves() if self.result is None else []
        self.priors: list[float] = []
        self.visits = [0] * len(self.moves)
        self.values = [0.0] * len(self.moves)
        self.children: list[Node | None] = [None] * len(self.moves)

    def set_priors(self, prior: Any) -> None:
        """Takes the priors of the possible moves, of all columns; they then add up to 1."""
        possible = prior[self.moves]
        self.priors = (possible / possible.sum()).tolist()

    def best(self) -> int:
        """Index of the move with the highest upper confidence bound."""
        weight = _EXPLORATION * math.sqrt(sum(self.visits) + 1)
        bounds = [
            (value / visits if visits else 0.0) + weight * prior / (1 + visits)
            for value, visits, prior in zip(self.values, self.visits, self.priors, strict=True)
        ]
        return bounds.index(max(bounds))


Path = list[tuple[Node, int]]
"""Nodes from the root down, each with the index of the move that was taken."""


def search(
    positions: Sequence[Position],
    evaluate: Evaluate,
    simulations: int,
    operation: Any,
    noise: np.random.Generator | None = None,
) -> Any:
    """Share of the simulations that took each column, float64 of shape (positions, 7).

    With a generator for noise, the priors of the first moves are disturbed. No game may be over.
    """
    roots = [Node(position) for position in positions]
    _evaluate(roots, evaluate, operation)
    if noise is not None:
        for root in roots:
            _disturb(root, noise)
    for _ in range(simulations):
        with operation("selection"):
            paths = [_descend(root) for root in roots]
        with operation("simulation"):
            leaves = [_grow(path) for path in paths]
        values = _evaluate(leaves, evaluate, operation)
        with operation("backup"):
            for path, value in zip(paths, values, strict=True):
                _back_up(path, value)
    shares = np.zeros((len(roots), COLUMNS))
    for share, root in zip(shares, roots, strict=True):
        share[root.moves] = np.divide(root.visits, simulations)
    return shares


def _descend(root: Node) -> Path:
    """The way down to a move that nobody has tried, or to the end of the game."""
    path: Path = []
    node: Node | None = root
    while node is not None and node.result is None:
        index = node.best()
        path.append((node, index))
        node = node.children[index]
    return path


def _grow(path: Path) -> Node:
    """The node at the end of a path, made if it is new."""
    node, index = path[-1]
    child = node.children[index]
    if child is None:
        child = node.children[index] = Node(node.position.play(node.moves[index]))
    return child


def _evaluate(nodes: Sequence[Node], evaluate: Evaluate, operation: Any) -> list[float]:
    """Values of nodes for who moves next: the result, or what the network expects."""
    open_nodes = [node for node in nodes if node.result is None]
    expected: list[float] = []
    if open_nodes:
        with operation("inference"):
            priors, values = evaluate([node.position for node in open_nodes])
        for node, prior in zip(open_nodes, priors, strict=True):
            node.set_priors(prior)
        expected = values.tolist()
    following = iter(expected)
    return [next(following) if node.result is None else node.result for node in nodes]


def _back_up(path: Path, value: float) -> None:
    """Adds a leaf's value to each move that led there; what is good for one player is bad for the
    other."""
    for node, index in reversed(path):
        value = -value
        node.visits[index] += 1
        node.values[index] += value


def _disturb(root: Node, noise: np.random.Generator) -> None:
    chances = noise.dirichlet([_NOISE_CONCENTRATION] * len(root.moves))
    mixed = (1 - _NOISE_SHARE) * np.array(root.priors) + _NOISE_SHARE * chances
    root.priors = mixed.tolist()

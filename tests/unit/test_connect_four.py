"""The rules of Connect Four, against a board of lists, and the search that plays it."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from rlscope.workloads.connect_four import (
    COLUMNS,
    ROWS,
    Game,
    Position,
    planes,
    play,
    random_player,
    score,
)
from rlscope.workloads.tree_search import search


class Board:
    """The same game, slow and plain: who owns each field, 0 or 1."""

    def __init__(self) -> None:
        self.columns: list[list[int]] = [[] for _ in range(COLUMNS)]
        self.stones = 0

    def play(self, column: int) -> None:
        self.columns[column].append(self.stones % 2)
        self.stones += 1

    def owner(self, row: int, column: int) -> int | None:
        if not 0 <= column < COLUMNS or not 0 <= row < len(self.columns[column]):
            return None
        return self.columns[column][row]

    def result(self) -> float | None:
        last = (self.stones - 1) % 2
        fields = itertools.product(range(ROWS), range(COLUMNS))
        for (row, column), (up, right) in itertools.product(
            fields, [(0, 1), (1, 0), (1, 1), (1, -1)]
        ):
            line = [self.owner(row + up * k, column + right * k) for k in range(4)]
            if line == [last] * 4:
                return -1.0
        return 0.0 if self.stones == ROWS * COLUMNS else None

    def picture(self) -> Any:
        mover = self.stones % 2
        return [
            [
                [float(self.owner(row, column) == of) for column in range(COLUMNS)]
                for row in range(ROWS)
            ]
            for of in (mover, 1 - mover)
        ]


def test_positions_are_those_of_a_plain_board() -> None:
    chance = random.Random(1)
    results = []
    for _ in range(200):
        board, position = Board(), Position()
        while position.result() is None:
            assert position.moves() == [
                column for column in range(COLUMNS) if len(board.columns[column]) < ROWS
            ]
            column = chance.choice(position.moves())
            board.play(column)
            position = position.play(column)
            assert position.result() == board.result()
            picture = planes([position.mine], [position.theirs])
            assert picture.dtype == np.float32
            assert picture.tolist() == [board.picture()]
        results.append(position.result())
    assert -1.0 in results


def test_full_board_without_four_is_a_draw() -> None:
    chance = random.Random(1)
    columns: list[int] = []
    position = Position()
    while position.result() != 0.0:  # one game of 400
        if position.result() is not None:
            columns, position = [], Position()
        columns.append(chance.choice(position.moves()))
        position = position.play(columns[-1])
    board = Board()
    for column in columns:
        board.play(column)
    assert len(columns) == ROWS * COLUMNS
    assert board.result() == 0.0
    assert position.moves() == []


def _no_operation(_name: str) -> Any:
    return contextlib.nullcontext()


def _knows_nothing(positions: Sequence[Position]) -> tuple[Any, Any]:
    return np.full((len(positions), COLUMNS), 1 / COLUMNS), np.zeros(len(positions))


def _after(*columns: int) -> Position:
    position = Position()
    for column in columns:
        position = position.play(column)
    return position


@pytest.mark.parametrize(
    ("columns", "best"),
    [
        ((0, 1, 0, 1, 0, 1), 0),  # four above each other win at once
        ((3, 6, 4, 6, 5, 6), 6),  # the other player would win in column 6, but 2 or 6 wins first
        ((0, 1, 0, 1, 0), 0),  # the only answer to three above each other
    ],
)
def test_search_finds_what_decides_the_game(columns: tuple[int, ...], best: int) -> None:
    start = _after()
    shares = search([_after(*columns), start], _knows_nothing, 400, _no_operation)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    if columns == (3, 6, 4, 6, 5, 6):
        assert shares[0].argmax() in (2, 6)
    else:
        assert shares[0].argmax() == best


def test_search_never_plays_into_a_full_column() -> None:
    full = _after(0, 0, 0, 0, 0, 0)
    noise = np.random.default_rng(1)
    (share,) = search([full], _knows_nothing, 50, _no_operation, noise)
    assert share[0] == 0.0
    assert (share[1:] > 0).all()


def test_search_evaluates_all_games_in_one_batch() -> None:
    sizes = []

    def evaluate(positions: Sequence[Position]) -> tuple[Any, Any]:
        sizes.append(len(positions))
        return _knows_nothing(positions)

    search([_after(), _after(3), _after(3, 3)], evaluate, 10, _no_operation)
    assert sizes == [3] * 11


def test_score_counts_the_wins_of_the_first_player_in_either_seat() -> None:
    def left(positions: Sequence[Position]) -> Any:
        return np.eye(COLUMNS)[[position.moves()[0] for position in positions]]

    def right(positions: Sequence[Position]) -> Any:
        return np.eye(COLUMNS)[[position.moves()[-1] for position in positions]]

    chance = np.random.default_rng(1)
    # Both fill a column of their own: who begins has four first.
    games = play([left, right], [(0, 1), (1, 0)], 0, chance, _no_operation)
    assert [game.outcome() for game in games] == [1.0, 1.0]
    assert score([left, right], 10, 0, chance, _no_operation) == 5.0
    assert score([left, random_player], 100, 100, chance, _no_operation) > 55


def test_draw_is_half_a_win() -> None:
    game = Game()
    game.history = [(Position(), None)] * (ROWS * COLUMNS)
    game.position = Position(
        (1 << 7 * COLUMNS) - 1 & ~sum(1 << 7 * c + ROWS for c in range(COLUMNS))
    )
    assert game.outcome() == 0.0

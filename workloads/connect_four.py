"""Connect Four: two players drop stones into seven columns of six; four in a row win.

A position is two sets of stones, each the bits of an int:

     5 12 19 26 33 40 47      7 bits are a column, of which the highest stays empty,
     4 11 18 25 32 39 46      so that no row of four goes over an edge
     :  :  :  :  :  :  :
     0  7 14 21 28 35 42

It is seen by the player who moves next: a move swaps the two sets. A player is a function of
positions: how good it finds each column, shape (positions, 7), shares that add up to 1, 0 if full.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Player = Callable[[Sequence["Position"]], Any]

COLUMNS = 7
ROWS = 6

_HEIGHT = ROWS + 1
_BOTTOM = sum(1 << _HEIGHT * column for column in range(COLUMNS))
_BOARD = _BOTTOM * ((1 << ROWS) - 1)
_DIRECTIONS = (1, _HEIGHT - 1, _HEIGHT, _HEIGHT + 1)  # up, falling, right, rising


class Position(NamedTuple):
    """The stones of the player who moves next, and those of the other one."""

    mine: int = 0
    theirs: int = 0

    def moves(self) -> list[int]:
        """The columns that are not full."""
        stones = self.mine | self.theirs
        top = 1 << ROWS - 1
        return [column for column in range(COLUMNS) if not stones >> _HEIGHT * column & top]

    def play(self, column: int) -> Position:
        """The position after a stone into a column that is not full."""
        bottom = 1 << _HEIGHT * column
        filled = (self.mine | self.theirs) & bottom * ((1 << ROWS) - 1)
        return Position(self.theirs, self.mine | filled + bottom)

    def result(self) -> float | None:
        """-1 if the other player has won by the last move, 0 for a draw, None in between."""
        if _has_four(self.theirs):
            return -1.0
        return 0.0 if self.mine | self.theirs == _BOARD else None


def planes(mine: Sequence[int] | Any, theirs: Sequence[int] | Any) -> Any:
    """Positions as pictures: float32 of shape (positions, 2, rows, columns), 1 for a stone."""
    bits = np.stack([np.asarray(mine, "<u8"), np.asarray(theirs, "<u8")], axis=1)
    unpacked = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
    columns = unpacked.reshape(-1, 2, 64)[:, :, : COLUMNS * _HEIGHT]
    board = columns.reshape(-1, 2, COLUMNS, _HEIGHT)[..., :ROWS]
    return board.transpose(0, 1, 3, 2).astype(np.float32)


class Game:
    """A game from its first move on."""

    def __init__(self) -> None:
        self.position = Position()
        self.history: list[tuple[Position, Any]] = []

    def play(self, shares: Any, column: int) -> None:
        """Takes a move, and notes what the player thought of each."""
        self.history.append((self.position, shares))
        self.position = self.position.play(column)

    def outcome(self) -> float:
        """1 if the first player has won, -1 if the second one, 0 if nobody."""
        result = self.position.result()
        assert result is not None
        return -result if len(self.history) % 2 else result


def play(
    players: Sequence[Player],
    seats: Sequence[tuple[int, int]],
    sampled_moves: int,
    random: np.random.Generator,
    operation: Any,
) -> list[Game]:
    """Plays games to their end, all at once; seats are the first and the second player of each."""
    games = [Game() for _ in seats]
    running = list(zip(games, seats, strict=True))
    ply = 0
    while running:
        for index, player in enumerate(players):
            turn = [game for game, seat in running if seat[ply % 2] == index]
            if not turn:
                continue
            shares = player([game.position for game in turn])
            with operation("simulation"):
                for game, share in zip(turn, shares, strict=True):
                    sampled = ply < sampled_moves
                    column = random.choice(COLUMNS, p=share) if sampled else share.argmax()
                    game.play(share, int(column))
        running = [(game, seat) for game, seat in running if game.position.result() is None]
        ply += 1
    return games


def score(
    players: Sequence[Player],
    games: int,
    sampled_moves: int,
    random: np.random.Generator,
    operation: Any,
) -> float:
    """How many games the first of two players wins, draws by half; they take turns to begin."""
    seats = [(0, 1) if game % 2 == 0 else (1, 0) for game in range(games)]
    played = play(players, seats, sampled_moves, random, operation)
    wins = 0.0
    for game, (first, _) in zip(played, seats, strict=True):
        wins += (1 + (game.outcome() if first == 0 else -game.outcome())) / 2
    return wins


def random_player(positions: Sequence[Position]) -> Any:
    """Every possible move is as good as any other."""
    return possible_shares(positions, np.ones((len(positions), COLUMNS)))


def possible_shares(positions: Sequence[Position], weights: Any) -> Any:
    """Weights of the columns without those that are full, scaled so that they add up to 1."""
    possible = np.zeros((len(positions), COLUMNS))
    for row, position in zip(possible, positions, strict=True):
        row[position.moves()] = 1.0
    shares = possible * weights
    return shares / shares.sum(axis=1, keepdims=True)


def _has_four(stones: int) -> bool:
    for shift in _DIRECTIONS:
        pairs = stones & stones >> shift
        if pairs & pairs >> 2 * shift:
            return True
    return False

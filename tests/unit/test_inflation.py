"""What recording adds, from pairs of blocks: against programs whose truth is known."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlscope.costs import inflation
from rlscope.costs.inflation import combined, cuda_parts, estimate
from rlscope.rundir.turns_file import BARE, CALLS, CPU, RECORDED, WORK, Block, append, read


def block(recorded: bool, cpu_ns: int, process: int = 1, **changes: int) -> Block:
    measured, iterations = bool(changes.get("measured", 1)), changes.get("iterations", 1)
    mode = RECORDED if recorded else BARE
    return Block(process, changes.get("round", 0), mode, measured, iterations, cpu_ns)


def numbered(blocks: list[Block]) -> list[Block]:
    """Blocks whose pairs follow each other."""
    return [replace(each, round=i // 2) for i, each in enumerate(blocks)]


def test_blocks_come_back_from_their_file(tmp_path: object) -> None:
    path = f"{tmp_path}/turns"
    assert read(path) == []
    blocks = [block(True, 5, iterations=3), block(False, 2**40, process=7, measured=0)]
    for each in blocks:
        append(path, each)
    with open(path, "ab") as file:
        file.write(b"1 1 1 1 3")  # being written
    assert read(path) == blocks


def test_pairs_are_of_one_process_and_measured() -> None:
    blocks = []
    for pair in range(12):
        one = [
            block(True, 300, round=pair, iterations=2),
            block(False, 200, round=pair, iterations=2),
        ]
        other = [block(False, 2000, 2, round=pair), block(True, 2100, 2, round=pair)]
        warm = block(True, 10**9, round=pair, measured=0)
        blocks += [warm, one[0], other[0], warm, other[1], one[1]]
    added = estimate([*blocks, block(True, 10**9, round=12)])
    assert added is not None
    assert added.pairs == 24
    assert added.added_ns.mean == pytest.approx((50 + 100) / 2)
    assert added.base_ns == pytest.approx((100 + 2000) / 2)


def test_a_block_that_is_missing_costs_its_pair_only() -> None:
    """Where the program stopped recording; the lengths of pairs differ from there on."""
    blocks = [
        block(
            recorded,
            (110 if recorded else 100) * (3 + pair % 2),
            round=pair,
            iterations=3 + pair % 2,
        )
        for pair in range(40)
        for recorded in (True, False)
    ]
    added = estimate(blocks[1:])
    assert added is not None
    assert added.pairs == 39
    assert added.added_ns.mean == pytest.approx(10)


def test_few_pairs_say_nothing() -> None:
    pair = [block(True, 110), block(False, 100)]
    assert estimate([]) is None
    assert estimate(numbered(pair * (inflation.FEWEST_PAIRS - 1))) is None
    assert estimate(numbered(pair * inflation.FEWEST_PAIRS)) is not None


def test_a_neighbour_of_the_machine_that_slows_some_blocks_changes_little() -> None:
    chance = random.Random(1)
    blocks = []
    for _ in range(200):
        for recorded in (True, False):
            slowed = 10_000 if chance.random() < 0.04 else 0
            blocks.append(block(recorded, 1_000 + 30 * recorded + chance.randrange(10) + slowed))
    added = estimate(numbered(blocks))
    assert added is not None
    assert added.share.mean == pytest.approx(0.03, abs=0.002)


def rounds(count: int, **added: int) -> list[Block]:
    """Rounds of 10 iterations of a microsecond and what each mode adds, in changing order."""
    chance = random.Random(3)
    blocks = []
    for number in range(count):
        modes = [BARE, CPU, CALLS, WORK, RECORDED]
        chance.shuffle(modes)
        for mode in modes:
            spent_ns = 10 * (1_000 + added.get(mode, 0)) + chance.randrange(50)
            blocks.append(Block(1, number, mode, True, 10, spent_ns))
    return blocks


def test_parts_of_cuda_add_up_to_all_of_it() -> None:
    """100 ns of other records, 30 of callbacks, 200 of activity records, 8 more of the two."""
    blocks = rounds(200, cpu=100, calls=130, work=300, recorded=338)
    parts, added = cuda_parts(blocks), estimate(blocks)
    assert parts is not None and added is not None
    assert parts.others_ns.mean == pytest.approx(100, abs=2)
    assert parts.calls_ns.mean == pytest.approx(30 + 8 / 2, abs=2)
    assert parts.work_ns.mean == pytest.approx(200 + 8 / 2, abs=2)
    assert parts.more_ns.mean == pytest.approx(8, abs=2)
    total = parts.others_ns.mean + parts.calls_ns.mean + parts.work_ns.mean
    assert total == pytest.approx(added.added_ns.mean, abs=1)
    assert added.added_ns.mean == pytest.approx(338, abs=2)


def test_rounds_without_all_modes_say_nothing_of_parts() -> None:
    """CUDA began later, or a window of the program's spoilt a block; warm-up is no block."""
    few = inflation.FEWEST_PAIRS - 1
    begins = [each for each in rounds(50) if each.mode in (BARE, RECORDED)]
    spoilt = [replace(each, round=100) for each in rounds(1) if each.mode != WORK]
    warm = [replace(each, round=101, measured=False) for each in rounds(1)]
    other = [replace(each, process=2) for each in rounds(few)]
    assert cuda_parts([*begins, *spoilt, *warm]) is None
    assert cuda_parts([*begins, *warm, *other]) is None
    assert (
        cuda_parts([*begins, *other, *[replace(each, round=99) for each in rounds(1)]]) is not None
    )


def test_intervals_cover_the_truth_and_a_further_run() -> None:
    """95 % of them, over programs whose runs differ by 0.5 %, or only by what is not known."""
    chance = random.Random(2)
    for between in (0.0, 0.005):
        covered, of_run, rounds = 0, 0, 1000
        for _ in range(rounds):
            found = combined(
                [
                    0.02 + chance.gauss(0, between) + chance.gauss(0, 0.002)
                    for _ in range(chance.choice([3, 6, 10, 20]))
                ]
            )
            covered += found.low <= 0.02 <= found.high
            of_run += found.run_low <= 0.02 + chance.gauss(0, between) <= found.run_high
        assert 0.93 * rounds <= covered <= 0.97 * rounds, between
        assert 0.93 * rounds <= of_run, between


def test_one_run_does_not_say_how_far_runs_differ() -> None:
    with pytest.raises(ValueError, match="one run"):
        combined([1.0])


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12), st.floats(0.01, 100))
def test_the_mean_lies_among_the_runs_and_scales_with_them(runs: list[float], scale: float) -> None:
    found = combined(runs)
    assert min(runs) - 1e-9 <= found.mean <= max(runs) + 1e-9
    assert found.run_low <= found.low <= found.mean <= found.high <= found.run_high
    turned = combined(runs[::-1])
    assert (turned.low, turned.high) == pytest.approx((found.low, found.high), abs=1e-9)
    scaled = combined([run * scale for run in runs])
    assert scaled.half_width == pytest.approx(found.half_width * scale, abs=1e-6)

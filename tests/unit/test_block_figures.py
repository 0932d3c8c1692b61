"""Figures of blocks that took turns, on machines whose costs are made up."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpu import block_figures
from gpu.block_figures import BEFORE, OFF

ITERATIONS, LAUNCHES, PLAIN_NS = 10, 50, 100_000
PER = {"launch": LAUNCHES}
ADDED_NS = {"all": 150_000, "calls": 50_000}
LEFT_NS = 20_000  # once the profiler was attached

Block = dict[str, Any]


def steady(place: int) -> float:
    return 1.0


def drifting(place: int) -> float:
    """A host that becomes 30 % slower, and trembles by 1 %."""
    return (1 + 0.3 * place / 80) * random.Random(place).uniform(0.99, 1.01)


class Machine:
    """Blocks of a machine that is so slow, as programs/blocks.py writes them."""

    def __init__(self, slowness: Callable[[int], float]) -> None:
        self.blocks: list[Block] = []
        self._slowness = slowness

    def measure(self, mode: str, number: int, more_ns: int, **counts: int) -> None:
        slow = self._slowness(len(self.blocks))
        ns = round(ITERATIONS * (PLAIN_NS + more_ns) * slow)
        self.blocks.append(
            {
                "round": number, "mode": mode, "iterations": ITERATIONS, "counts": counts,
                "after": self.blocks[-1]["mode"] if self.blocks else "",
                "cpu_ns": ns, "wall_ns": 2 * ns, "yardstick_ns": round(500_000 * slow),
                "switch_cpu_ns": 3000, "switch_wall_ns": 4000,
            }
        )  # fmt: skip


def turns(slowness: Callable[[int], float]) -> list[Block]:
    machine = Machine(slowness)
    for _ in range(6):
        machine.measure(BEFORE, 0, 0)
    machine.measure(OFF, 0, LEFT_NS)
    for number in range(1, 16):
        for mode, ns in ADDED_NS.items():
            machine.measure(mode, number, LEFT_NS + ns)
            machine.measure(OFF, number, LEFT_NS)
    return machine.blocks


@pytest.mark.parametrize("slowness", [steady, drifting])
def test_what_a_mode_adds_is_found(slowness: Callable[[int], float]) -> None:
    found = block_figures.of_blocks(turns(slowness), PER)
    assert found["rounds"] == 15
    for mode, ns in ADDED_NS.items():
        added = found["added"][mode]
        assert added["cpu"]["us"]["median"] == pytest.approx(1.15 * ns / 1e3, rel=0.2)
        per_launch = added["cpu"]["ns_per_launch"]
        assert per_launch["low"] <= per_launch["median"] <= per_launch["high"]
        assert per_launch["median"] == pytest.approx(1.15 * ns / LAUNCHES, rel=0.2)
        percent = 100 * ns / (PLAIN_NS + LEFT_NS)
        assert added["cpu"]["percent"]["median"] == pytest.approx(percent, rel=0.05)
        assert added["wall"]["percent"]["median"] == pytest.approx(percent, rel=0.05)
        assert added["wall"]["us"]["median"] == pytest.approx(
            2 * added["cpu"]["us"]["median"], rel=0.05
        )


def test_what_is_left_is_found_though_the_host_drifts() -> None:
    found = block_figures.of_blocks(turns(drifting), PER)["left"]
    assert found.keys() == {BEFORE, *ADDED_NS}
    for mode in ADDED_NS:
        cpu = found[mode]["cpu"]
        assert cpu["percent"]["median"] == pytest.approx(100 * LEFT_NS / PLAIN_NS, abs=1)
        assert cpu["ns_per_launch"]["median"] == pytest.approx(LEFT_NS / LAUNCHES, rel=0.1)
        assert cpu["percent_as_measured"]["median"] > cpu["percent"]["median"] + 10


def test_a_mode_is_compared_with_its_neighbours_only() -> None:
    """Not with a block that is not off, nor with one from before."""
    machine = Machine(steady)
    machine.measure(BEFORE, 0, 10**9)
    machine.measure("all", 1, 7000)
    machine.measure("calls", 1, 10**9)
    machine.measure("all", 2, 7000)
    machine.measure(OFF, 2, 0)
    added = block_figures.of_blocks(machine.blocks, PER)["added"]["all"]["cpu"]["us"]
    assert added == {"median": 7.0, "low": 7.0, "high": 7.0, "samples": 1}


def test_each_mode_has_the_counts_of_its_own_blocks() -> None:
    machine = Machine(steady)
    for number in range(3):
        machine.measure("few", number, 10_000, calls=10 * ITERATIONS)
        machine.measure(OFF, number, 0, calls=0)
        machine.measure("many", number, 10_000, calls=40 * ITERATIONS)
        machine.measure(OFF, number, 0, calls=0)
    found = block_figures.of_blocks(machine.blocks, {}, ("calls",))
    assert found["added"]["few"]["cpu"]["ns_per_call"]["median"] == 1000
    assert found["added"]["many"]["cpu"]["ns_per_call"]["median"] == 250
    assert found["counts_per_iteration"]["many"] == {"calls": [40, 40]}


def test_steps_of_a_cycle_are_compared_with_its_last() -> None:
    more_ns = {"on": 90_000, "kinds-off": 30_000, "unsubscribed": 10_000}
    machine = Machine(steady)
    for _ in range(4):
        machine.measure(BEFORE, 0, 0, kernels=0)
    for number in range(1, 5):
        for step, ns in more_ns.items():
            machine.measure(step, number, ns, kernels=500 if step == "on" else 0)
    found = block_figures.of_cycles(machine.blocks, PER)["steps"]
    assert list(found) == list(more_ns)
    against_last = {step: found[step]["against_last_of_cycle"]["cpu"] for step in found}
    assert against_last["on"]["ns_per_launch"]["median"] == 80_000 / LAUNCHES
    assert against_last["kinds-off"]["us"]["median"] == 20
    assert against_last["unsubscribed"]["us"] == {}
    before = found["unsubscribed"]["against_before"]["cpu"]
    assert before["percent"]["median"] == pytest.approx(10)
    assert found["on"]["counts_per_iteration"] == {
        BEFORE: {"kernels": [50, 50]},
        "unsubscribed": {"kernels": [50, 50]},
    }
    assert found["on"]["takes"]["wall_us"]["median"] == 4


def test_nothing_measured_gives_no_figures_and_no_error() -> None:
    found = block_figures.of_blocks([], PER)
    assert (found["blocks"], found["added"]) == (0, {})
    assert block_figures.of_cycles([], PER)["steps"] == {}


def test_a_program_that_was_cut_leaves_its_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "blocks.jsonl"
    assert block_figures.read(file) == []
    line = json.dumps(turns(steady)[0])
    file.write_text(f"{line}\n{line[:-5]}")
    assert block_figures.read(file) == [json.loads(line)]

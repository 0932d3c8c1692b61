"""The tutorial shows its programs as they are, and each of them computes the same."""

from __future__ import annotations

import fnmatch
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import tutorial
from numpy.random import default_rng
from support.files import page_commands
from support.files.compared_runs import measured

from rlscope.compare import comparison
from rlscope.compare.renderers import text

PAGE = tutorial.PAGE.read_text()


def test_the_page_shows_what_differs_between_its_programs() -> None:
    assert tutorial.renewed(PAGE, {"change": tutorial.change}) == PAGE


def test_the_page_shows_each_step_once() -> None:
    asked = re.findall(r"<!-- (\w+): ([\w ]+) -->", PAGE)
    pairs = [
        f"{before} {after}"
        for before, after in zip(tutorial.STEPS[:-1], tutorial.STEPS[1:], strict=True)
    ]
    shown = [("advice", step) for step in tutorial.STEPS[:-1]]
    shown += [(kind, pair) for kind in ("change", "difference") for pair in pairs]
    assert sorted(asked) == sorted([*shown, ("times", " ".join(tutorial.STEPS))])


def test_a_reader_has_recorded_what_a_command_of_the_page_reads(tmp_path: Path) -> None:
    recorded: list[str] = []
    read = 0
    for command in page_commands.of_page(PAGE, tmp_path):
        found = page_commands.options(command)
        if command[0] == "rls-prof":
            recorded.append(found.output)
            assert (tutorial.PROGRAMS / Path(found.command[-1]).name).is_file()
            continue
        sides = found.sides if command[1] == "diff" else [found.directory]
        counts = [len(fnmatch.filter(recorded, side)) for side in sides]
        assert counts == [tutorial.RUNS if command[1] == "diff" else 1] * len(sides), command
        read += len(sides)
    assert read == 3 + 2 * 3


def test_the_commands_of_the_guide_to_comparisons_exist(tmp_path: Path) -> None:
    guide = (tutorial.PAGE.parent / "guide" / "diff.md").read_text()
    found = page_commands.of_page(guide, tmp_path)
    verbs = {command[1] if command[0] == "rlscope" else command[0] for command in found}
    assert verbs == {"diff", "baseline", "rls-prof"}
    outputs = [page_commands.options(each).output for each in found if each[0] == "rls-prof"]
    sides = [page_commands.options(each).sides for each in found if each[1] == "diff"]
    assert ["runs/base-*", "runs/new-*"] in sides
    for pattern in ("runs/base-*", "runs/new-*"):
        assert len(fnmatch.filter(outputs, pattern)) == 5
    for each in found:
        page_commands.options(each)


def test_the_table_of_a_terminal_ends_with_the_verdict_on_the_page() -> None:
    runs = [measured(default_rng(seed), slower=1.0, long_part=0.0) for seed in range(2)]
    said = text.render(comparison.compare(runs[:1], runs[1:]), None, width=160, unicode=True)
    (table,) = [each for each in said.split("\n\n") if each.startswith("operation")]
    assert "of the loop" in table
    head, first, *_ = tutorial.until_verdict(table.splitlines())
    assert (head.split()[-1], first.split("  ")[-1]) == ("verdict", "no clear difference")


def test_the_loop_over_environments_and_the_arrays_compute_the_same() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("gymnasium")
    loop, arrays = (_program(name)["advantages_of"] for name in ("batched", "arrays"))
    torch.manual_seed(3)
    rewards, values = torch.rand(2, 128, 8)
    dones, last_value = (torch.rand(128, 8) < 0.1).float(), torch.rand(8)
    rest = (last_value, (torch.rand(8) < 0.5).float())
    found = [of(rewards, values, dones, *rest) for of in (loop, arrays)]
    assert torch.allclose(*found, atol=1e-5)


def _program(name: str) -> dict[str, Any]:
    return runpy.run_path(str(tutorial.PROGRAMS / f"{name}.py"))

"""The tutorial shows its programs as they are, and each of them computes the same."""

from __future__ import annotations

import re
import runpy
from typing import Any

import pytest
import tutorial

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

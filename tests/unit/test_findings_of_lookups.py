"""Advice on names of MuJoCo that are looked up in each step."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, found_by, loop_rows
from support.files.relation_rows import SECOND, Relations

TEXT = """\
def observe(data):
    hand = data.body("hand").xpos
    return data.qpos.copy(), hand
"""


def looking(function: str = "mujoco._structs:MjData.body", line: int = 2) -> Relations:
    call = {"process_id": 0, "operation": "simulation", "function": function, "calls": 900}
    return loop_rows(
        Time("simulation", "python", 2 * SECOND, line),
        Time("simulation", "simulator", SECOND, line),
        text=TEXT,
        native_call=[{**call, "layer": "simulator", "duration_ns": SECOND, "self_ns": SECOND}],
    )


@pytest.mark.parametrize("view", ["MjData.body", "MjModel.joint", "_MjDataBodyViews.xpos"])
def test_lines_that_look_names_up_are_worth_their_time(view: str):
    (finding,) = found_by("named_lookups", looking(f"mujoco._structs:{view}"))
    assert (finding.file, finding.line, finding.operation) == (FILE, 2, "simulation")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.9 * 3 * SECOND)


@pytest.mark.parametrize(
    "silent", [looking("mujoco._functions:mj_step"), looking("game:Data.body"), looking(line=3)]
)
def test_other_lines_and_libraries_look_nothing_up(silent: Relations):
    assert found_by("named_lookups", silent) == []

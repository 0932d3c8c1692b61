"""What the library of each release answers without a driver, beside the simulated CUPTI."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.cuda.cupti_releases import SIMULATED, Release, every_release
from support.cuda.simcuda_runs import run_simulated

SCRIPT = Path(__file__).with_name("answers.py")
# There is none, or there is one that CUPTI cannot connect to, as one that is too old.
SITUATIONS = {
    "absent": {"SIMCUDA_DRIVER": "absent"},
    "refusing": {"SIMCUPTI_CONNECTION": "refuse"},
}


def answers(folder: Path, release: Release, library: str, **knobs: str) -> dict[str, Any]:
    """By scenario and call. The simulated driver refuses a real CUPTI whatever the knobs."""
    major = max(release.major, 12)
    command = [sys.executable, str(SCRIPT), library.format(major=major)]
    options = ("--cuda", str(major), "--cupti", release.name)
    done = run_simulated(folder, command, *options, **knobs)
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in done.out.splitlines()]
    return {f"{scenario}: {call}": answer for scenario, call, answer in rows}


@every_release(SIMULATED)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_simulated_cupti_answers_as_the_real_one_without_a_driver(
    tmp_path: Path, release: Release, situation: str
) -> None:
    knobs = SITUATIONS[situation]
    real = answers(tmp_path, release, str(release.library), **knobs)
    assert real
    assert answers(tmp_path, release, "libcupti.so.{major}", **knobs) == real

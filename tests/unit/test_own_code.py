"""Which files are the program's own code."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from rlscope.rundir.own_code import LIBRARIES, is_own

_OTHER_LIST = Path("csrc/python/runtime_module/import_times.cc")


@pytest.mark.parametrize(
    "module",
    ["annotations.annotate", "auto.torch", "capture.roles", "frameworks.pytorch", "recorder"],
)
def test_what_rlscope_does_in_a_program_is_not_its_own(module: str) -> None:
    file = importlib.import_module(f"rlscope.{module}").__file__
    assert file is not None and not is_own(file)


def test_a_workload_is_a_program_of_its_own() -> None:
    assert is_own(str(Path("workloads/ppo.py").resolve()))


def test_the_recorder_leaves_out_the_same_files() -> None:
    text = (Path(__file__).parents[2] / _OTHER_LIST).read_text()
    function = text[text.index("bool IsLibrary(") : text.index("std::string Asker(")]
    assert tuple(re.findall(r'"(/[^"]+)"', function)) == LIBRARIES

"""A process notes in which precision its first forwards are given tensors."""

from __future__ import annotations

from ast import literal_eval
from pathlib import Path

import pytest
from support.process.forked_programs import record_forks

pytest.importorskip("torch")

_BEGIN = """
import rlscope.auto
rlscope.auto.begin()
import numpy
import torch
from torch import nn
from rlscope.recorder import runtime

class Net(nn.Module):
    def forward(self, *args, **kwargs):
        return None

net, double, single = Net(), torch.zeros(2, dtype=torch.float64), torch.zeros(2)
"""

_PROGRAMS = {
    "for _ in range(3): net(double)": (3, 0),
    "for _ in range(3): net(single)": (0, 3),
    "net(1, [double], x=double)": (1, 0),
    "net(single, double)": (0, 1),  # the first tensor tells
    "net(double.half())": (0, 1),
    "net(double.long())": (0, 1),
    "net(torch.zeros(2, dtype=torch.complex64))": (0, 1),
    "net(numpy.zeros(2))": (0, 0),
    "net()": (0, 0),
    "net([double])": (0, 0),
    "nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)).double()(double)": (1, 0),
    "for each in [double] * 10 + [single] * 300: net(each)": (10, 246),
    "for each in [None] * 300 + [single] * 300: net(each)": (0, 256),
}


def test_the_first_forwards_tell(directory: str, tmp_path: Path) -> None:
    file = tmp_path / "given"
    tells = f"\nwith open({str(file)!r}, 'a') as told: print(runtime.given_precisions(), file=told)"
    record_forks(directory, _BEGIN, {text: text + tells for text in _PROGRAMS})
    given = map(literal_eval, file.read_text().splitlines())
    assert dict(zip(_PROGRAMS, given, strict=True)) == _PROGRAMS

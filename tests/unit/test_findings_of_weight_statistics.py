"""Advice on loops that read numbers of all weights of a network."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, found_by, loop_rows
from support.files.relation_rows import SECOND

NORMS = "norm = sum(p.grad.norm(2).item() ** 2 for p in net.parameters()) ** 0.5"


@pytest.mark.parametrize(
    ("line", "speaks"),
    [
        (NORMS, True),
        ("means = {k: float(v.mean()) for k, v in net.state_dict().items()}", True),
        ("for n, p in net.named_parameters(): told[n] = p.detach().cpu()", True),
        ("for p in net.parameters(): p.grad.clamp_(-1, 1)", False),
        ("for p in net.parameters(): p.data.add_(float(rate) * p.grad)", False),
        ("penalty = sum(p.square().sum() for p in net.parameters())", False),  # a part of the loss
        ("means = [float(each.mean()) for each in batch]", False),
        ("count = sum(p.numel() for p in net.parameters())", False),
    ],
)
def test_a_loop_that_makes_numbers_of_all_weights(line: str, speaks: bool):
    trace = loop_rows(Time("backprop", "framework", 2 * SECOND, 2), text=f"import torch\n{line}\n")
    found = found_by("weight_statistics", trace)
    assert [(each.file, each.line) for each in found] == [(FILE, 2)] * speaks
    for each in found:
        assert each.price is not None
        assert each.price.saving_ns == pytest.approx(0.9 * 2 * SECOND)


def test_all_lines_of_a_loop_count():
    text = "for p in net.parameters():\n    top = max(top, p.grad.max().item())\n"
    times = (Time("(none)", "framework", SECOND, line) for line in (2, 3))
    text += "    mean += p.grad.square().mean().sqrt().item()\n"
    (finding,) = found_by("weight_statistics", loop_rows(*times, text=text))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(1.8 * SECOND)

"""The loop goes through all modules of a network, to set what they are set to already."""

from __future__ import annotations

from rlscope.analysis.function_rule import of_calls

RULE = of_calls(
    (
        r".*/torch/nn/modules/module\.py:Module\.(train|eval|to|_apply|cpu|cuda|float|requires_grad_)",
    ),
    title="setting mode, device or gradients of all modules takes",
    what="functions that go through all modules of a network",
    fix="Set them where they change: to(device) once, and eval() or train() before a phase, not "
    "in each step. A network without dropout and batch normalisation needs no eval().",
    no_effect="No effect, but other numbers, where a network with dropout acts and learns in turn.",
    part=(0.85, 1.0, 1.2),
)

"""The loop asks the operating system or a driver for the state of the machine."""

from __future__ import annotations

from rlscope.analysis.function_rule import of_calls

CALLS = (r".*/psutil/.*", r".*/(pynvml|GPUtil)(/.*)?\.py:.*")

RULE = of_calls(
    CALLS,
    title="asking for the state of the machine takes",
    what="psutil, pynvml or GPUtil",
    fix="Ask once in some seconds, or let a thread ask.",
    no_effect="No effect where each step needs the answer.",
    waits=True,
    part=(0.85, 0.95, 1.0),
)

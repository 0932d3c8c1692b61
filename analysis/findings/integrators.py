"""An environment integrates its equations with scipy, which prepares more than it computes."""

from __future__ import annotations

from rlscope.analysis.function_rule import of_calls

RULE = of_calls(
    (r".*/scipy/integrate/.*",),
    title="integrating equations with scipy takes",
    what="functions of scipy.integrate",
    fix="Write a few steps of a fixed size by hand: a step of Runge and Kutta is four calls of the "
    "equations. Compare its results once with those of scipy.",
    no_effect="No effect where the equations are stiff, or need thousands of steps.",
    part=(0.4, 0.8, 0.95),
)

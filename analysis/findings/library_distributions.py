"""Distributions of scipy.stats draw or are evaluated, by many functions of Python for each call."""

from __future__ import annotations

from rlscope.analysis.function_rule import of_calls

RULE = of_calls(
    (
        r".*/scipy/stats/(_distn_infrastructure|_distribution_infrastructure|_new_distributions"
        r"|_continuous_distns|_discrete_distns|_multivariate)\.py:.*",
    ),
    title="distributions of scipy.stats take",
    what="scipy.stats, which makes, draws from or evaluates distributions",
    fix="Draw with a generator of NumPy (rng.normal, rng.uniform), and write a density as a "
    "formula or with scipy.special. At least make the distribution once, before the loop.",
    no_effect="Little effect where each call draws or evaluates thousands of numbers.",
    part=(0.6, 0.9, 1.0),
)

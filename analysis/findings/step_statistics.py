"""Statistics for people are computed in each step."""

from __future__ import annotations

from rlscope.analysis.function_rule import of_calls

RULE = of_calls(
    # Functions whose results nobody learns from, but for rare algorithms.
    (
        r".*/numpy/lib/_?function_base(_impl)?\.py:"
        r"(nan)?(quantile|percentile|median|cov|corrcoef)",
        r".*/numpy/lib/_?histograms(_impl)?\.py:histogram.*",
        r".*/scipy/stats/(_stats|_morestats|_mstats|_axis_nan|_hypotests|_binned|_kde|_corr|_entropy"
        r"|_variation|_resampling|_mannwhitneyu|_wilcoxon|_ksstats|_bws|_survival|_fit|_sensitivity"
        r"|stats|mstats|morestats|contingency).*\.py:.*",
        r".*/sklearn/metrics/.*",
        r".*/torchmetrics/.*",
    ),
    title="statistics take",
    what="functions of statistics",
    fix="Compute them once in many steps.",
    no_effect="No effect where the algorithm itself needs them in each step.",
    part=(0.85, 1.0, 1.0),
)

"""Distributions check their arguments each time one is made, and each sample that is scored."""

from __future__ import annotations

from rlscope.analysis.function_rule import of_calls

RULE = of_calls(
    # A distribution that does not check leaves its constructor at once, and calls the others never.
    (
        r".*/torch/distributions/distribution\.py:Distribution\.(__init__|_validate_sample)",
        r".*/torch/distributions/constraints\.py:.*\.check",
    ),
    title="distributions check their arguments for",
    what="torch.distributions' checks",
    fix="Pass validate_args=False, or once: "
    "torch.distributions.Distribution.set_default_validate_args(False).",
    no_effect="No effect where the checks find mistakes that the program then handles.",
    # They make objects, too, which cost something where they are freed.
    part=(0.85, 1.0, 1.4),
)

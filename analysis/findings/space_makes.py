"""The loop makes spaces of Gymnasium anew, which never change."""

from __future__ import annotations

from rlscope.analysis.function_rule import of_calls

RULE = of_calls(
    (r".*/gym(nasium)?/spaces/\w+\.py:\w+\.__init__",),
    title="making spaces takes",
    what="functions that make spaces of observations or actions",
    fix="Make each space once, as the environment is made, and return the same object: "
    "functools.lru_cache does that for a method of a PettingZoo environment.",
    no_effect="No effect where each episode needs spaces of other sizes.",
    # Making one frees another one, and fills arrays that functions in C copy.
    part=(0.9, 1.05, 1.3),
    with_lines=True,
)

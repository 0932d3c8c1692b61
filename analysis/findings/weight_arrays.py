"""Weights of Keras models move from one to the other through arrays of NumPy."""

from __future__ import annotations

from rlscope.analysis.function_rule import of_calls
from rlscope.relations.groups import LEARNING

RULE = of_calls(
    (r".*keras/.*:(Base)?(Layer|Model)\.(get|set)_weights",),
    title="weights of networks move through arrays of NumPy for",
    what="get_weights and set_weights of Keras",
    fix="Assign the variables of one network to those of the other in one compiled function: "
    "`variable.assign(...)` in a tf.function.",
    no_effect="No effect where the weights go to another process.",
    # The example DDPG of Keras wins 84 % of the time of its target networks so.
    part=(0.6, 0.84, 0.95),
    in_groups=(LEARNING,),
)

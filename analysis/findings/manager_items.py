"""Processes ask a manager of multiprocessing for one item after the other."""

from __future__ import annotations

from rlscope.analysis.function_rule import of_calls

RULE = of_calls(
    (r".*/multiprocessing/managers\.py:BaseProxy\._callmethod",),
    title="asking the process of a manager takes",
    what="calls of lists, dictionaries and the like of multiprocessing.Manager()",
    fix="Copy many items at once into an own list, such as rows[:] or rows[known:], and read that. "
    "Or send items through a queue or a pipe, or keep them in shared memory.",
    no_effect="Little effect where each item is large.",
    part=(0.6, 0.95, 1.0),
    waits=True,
)

"""When rules of analysis/findings about networks fire, about what learns and what acts by them.

Thresholds, as those of analysis/finding_verdicts.py are.
"""

from __future__ import annotations

from itertools import pairwise

from rlscope.analysis import finding_verdicts
from rlscope.analysis.verdicts import Row

# How much longer than forwards an optimizer takes at least that goes through unused weights, and
# one of its operators. A table of 500 rows took 2 to 14 us in one, and one of 60,000 rows 1.6 ms.
_DENSE_UPDATES = 3
_LONG_UPDATE_NS = 100_000
# Forwards of which the precision is known that are enough to tell that of all.
_FEWEST_FORWARDS = 10
# Inferences for each backward, of a program that collects first, and how much longer than the
# forward calls of its layers a backward of them takes at most.
_INFERENCES_PER_BACKWARD = 4
_BACKWARD_OF_FORWARDS = 10
# Entries into inference for each backward through what they computed.
_STEPS_PER_BACKWARD = 8
# Batches of a replay memory for each backward, of a program that learns from it: a batch may have
# the backwards of two networks.
_REPLAYED = 0.3
# Share of the time of replay in which Python goes through transitions.
_STEPPED_REPLAY = 0.25
# Frames from a line to a call that it makes itself are one.
_DIRECTLY = 1.5
# With a cache, second halves of the planted program token_sampler take 5 to 10 % longer than first
# ones; without it, 99 %.
_NOTABLE_GROWTH = 0.2
# Entries that tell that they grow; the part of them that reads sequences; how much longer the later
# ones are than the first; and how much each is like the one before.
_FEWEST_GROWING = 200
_SEQUENCES = 0.4
_LATER = 1.5
_ALIKE = 0.6
# How much longer entries of the last quarter take than those of the first where a graph grows, and
# how many entries tell that.
_GROWN = 1.5
_FEWEST_ENTRIES = 20
FEWEST_GENERATED = 32
"""Calls of the same function in a generation, of which the halves can be compared."""


def is_direct_caller(distance: float) -> bool:
    """Whether a line calls the network itself, from its mean distance in frames."""
    return distance < _DIRECTLY


def is_replay_stepped(stepped_ns: float, replay_ns: float) -> bool:
    """Whether replay takes its time because Python goes through transitions."""
    return stepped_ns >= _STEPPED_REPLAY * replay_ns


def are_gradients_needless(row: Row) -> bool:
    """Whether autograd is on in inference, while backwards go through forwards of their own: one
    through inference takes many times as long as those. They are far fewer, or each learns from
    what replay gives. From a row of the rule `needless_gradients`."""
    collects = row["backwards"] * _INFERENCES_PER_BACKWARD <= row["entries"]
    return bool(
        row["switches"] == 0
        and row["backwards"] > 0
        and (collects or row["replays"] >= _REPLAYED * row["backwards"])
        and row["backward_ns"] <= _BACKWARD_OF_FORWARDS * row["forward_ns"]
    )


def do_entries_grow(row: Row) -> bool:
    """Whether entries into an operation grow from one to the next, and begin anew, because a
    network reads a longer sequence each time. From a row of `findings/growing_entry`."""
    return bool(
        row["entries"] >= _FEWEST_GROWING
        and row["sequence_ns"] >= _SEQUENCES * row["calls_ns"] > 0
        and row["many_ns"] >= _LATER * row["first_ns"]
        and (row["correlation"] or 0) >= _ALIKE
    )


def are_graphs_of_steps(row: Row) -> bool:
    """Whether backwards go through what inference computed, in many entries each. From the same
    rows."""
    steps = row["backwards"] * _STEPS_PER_BACKWARD
    return bool(0 < steps <= row["entries"] and row["forward_calls"] < row["backwards"])


def are_forwards_double(row: Row) -> bool:
    """Whether a process computes nearly all forwards in double precision. From a row of
    `findings/double_precision`."""
    forwards = row["in_double"] + row["in_others"]
    return forwards >= _FEWEST_FORWARDS and finding_verdicts.is_nearly_all(
        row["in_double"], forwards
    )


def is_growth_notable(longer_ns: float, half_ns: float) -> bool:
    """Whether second halves of generations take so much longer than first ones that all earlier
    tokens are computed again. Attention to tokens in a cache grows a little, too."""
    return longer_ns >= _NOTABLE_GROWTH * half_ns


def are_updates_dense(update_ns: float, forward_ns: float, call_ns: float) -> bool:
    """Whether an optimizer goes through weights that forwards do not use: it takes far longer than
    they do, and not because its calls are many and brief."""
    return update_ns >= _DENSE_UPDATES * forward_ns and call_ns >= _LONG_UPDATE_NS


def is_graph_growing(growth: Row) -> bool:
    """Whether each quarter of the entries into an operation takes longer than the one before, and
    the last one far longer than the first. From a row of `findings/operation_growth`."""
    quarters = growth.get("quarter_ns", ())
    grows = all(each > before for before, each in pairwise(quarters))
    enough = growth.get("entries", 0) >= _FEWEST_ENTRIES
    return bool(enough and grows and quarters[-1] >= _GROWN * quarters[0])

"""Options that say which calls have a layer of their own, of the verbs that run a program."""

from __future__ import annotations

import argparse

from rlscope.commands.options import values
from rlscope.commands.options.rare import RareOptions


def prepare(group: argparse._ArgumentGroup, rare: RareOptions) -> None:
    """Declares the options that say what is a layer."""
    group.add_argument(
        "--simulator",
        action="append",
        type=values.module,
        metavar="MODULE",
        default=[],
        help="record native code of this module as layer simulator; you can repeat it. rlscope "
        "knows the common simulators and frameworks",
    )
    group.add_argument(
        "--environment",
        action="append",
        type=values.environment_class,
        metavar="MODULE:CLASS",
        default=[],
        help="steps and resets of this class are simulation; CLASS alone is one of the script. "
        "rlscope knows environments of the common libraries, and finds most others by itself",
    )
    group.add_argument(
        "--numpy", action="store_true", help="record calls into NumPy as layer framework"
    )
    group.add_argument(
        "--no-waits",
        dest="waits",
        action="store_false",
        help="do not record pickling, nor what threads wait for: pipes, sockets, locks, the GIL, "
        "sleep",
    )
    rare.add(
        group,
        "--intercept",
        choices=("patch", "monitoring", "off"),
        default="",
        help="how to record native calls. By default (patch), rlscope replaces the interpreter's "
        "pointers to them. With monitoring it uses sys.monitoring, which sees fewer calls and "
        "costs more; it does so by itself where it cannot patch. With off it records none",
    )

"""Options that say what is a layer of its own: of the verbs that run a program."""

from __future__ import annotations

import argparse

from rlscope.commands.options import values


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options that say what is a layer."""
    layers = parser.add_argument_group(
        "what is a layer", "of its own, beside Python: simulators and frameworks that rlscope knows"
    )
    layers.add_argument(
        "--intercept",
        choices=("patch", "monitoring", "off"),
        default="",
        help="how native calls are recorded: by patching the interpreter's pointers to them, or by "
        "sys.monitoring, which sees fewer of them and costs more (default: patch; monitoring where "
        "that is refused)",
    )
    layers.add_argument(
        "--numpy", action="store_true", help="calls into NumPy are layer framework, not python"
    )
    layers.add_argument(
        "--no-waits",
        dest="waits",
        action="store_false",
        help="do not record what threads wait for (pipes, sockets, locks, the GIL, sleep), nor "
        "pickling",
    )
    layers.add_argument(
        "--simulator",
        action="append",
        type=values.module,
        metavar="MODULE",
        default=[],
        help="the native code of this module is layer simulator; may be given several times",
    )

"""Options of the verbs that run a program several times: calibrate and validate."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import fields

from rlscope.commands.options import layers, values
from rlscope.commands.options.rare import RareOptions
from rlscope.record.settings import Settings
from rlscope.terminal import stderr
from rlscope.visible import visible


def prepare(parser: argparse.ArgumentParser, *, within: float, meaning: str) -> None:
    """Declares the command, how precise the answer is to be, and the options of rls-prof."""
    parser.usage = "%(prog)s [options] [--] COMMAND..."
    rare = RareOptions(parser)
    precision = parser.add_argument_group("how precise, and for how long")
    precision.add_argument(
        "--within",
        type=values.percent,
        metavar="PERCENT",
        default=within,
        help=f"stop when {meaning} is known within plus or minus PERCENT of the program's CPU time "
        f"without recording. That is half of its 95 %% interval (default: {100 * within:g}%%)",
    )
    precision.add_argument(
        "--limit",
        type=values.seconds,
        metavar="S",
        default=600.0,
        help="start no new run after about S seconds. A run takes a sixth of them at most "
        "(default: 600)",
    )
    recorded = parser.add_argument_group("what to record")
    recorded.add_argument(
        "--auto",
        action=argparse.BooleanOptionalAction,
        help="find operations without annotations, as rls-prof does (default: --auto)",
    )
    layers.prepare(recorded, rare)
    parser.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        metavar="COMMAND...",
        help="the program to run, with its arguments",
    )


def run(
    parser: argparse.ArgumentParser,
    options: argparse.Namespace,
    with_settings: Callable[[Settings], int],
) -> int:
    """Runs the verb with the settings of its program; returns its exit code."""
    from rlscope.record import child

    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        parser.error(f"give the command to run: {parser.prog} [options] [--] COMMAND...")
    given = {field.name for field in fields(Settings)} & set(vars(options)) - {"command"}
    settings = Settings(
        command=command, sample_seconds=0, **{name: getattr(options, name) for name in given}
    )
    # Imports NumPy and DuckDB before the first run, so that no run pays for it.
    child.import_quietly("rlscope.relations.rows.build")
    try:
        return with_settings(settings)
    except child.CommandNotFound as error:
        stderr.write(f"{parser.prog}: {visible(str(error))}\n")
        return error.code


def percent(share: float) -> str:
    """The share with two digits: 1.49 %."""
    return f"{100 * share:.2f} %"

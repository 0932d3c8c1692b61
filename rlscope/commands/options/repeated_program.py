"""Options of the verbs that run a program several times: calibrate and validate."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import fields

from rlscope.commands.options import layers, values
from rlscope.record.program import Settings
from rlscope.terminal import stderr
from rlscope.visible import visible


def prepare(parser: argparse.ArgumentParser, *, within: float, meaning: str) -> None:
    """Declares the command, how precise the answer is to be, and the options of rls-prof."""
    parser.usage = "%(prog)s [options] [--] COMMAND..."
    parser.add_argument(
        "--within",
        type=values.percent,
        metavar="PERCENT",
        default=within,
        help=f"half the width of the 95 %% interval {meaning} that is precise enough, in percent "
        f"of the program's CPU time without recording (default: {100 * within:g}%%)",
    )
    parser.add_argument(
        "--limit",
        type=values.seconds,
        metavar="S",
        default=600.0,
        help="start no further run after about so many seconds; each run may take a sixth of it "
        "(default: 600)",
    )
    parser.add_argument(
        "--auto", action=argparse.BooleanOptionalAction, help="as for rls-prof (default: --auto)"
    )
    layers.prepare(parser)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND...")


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
    child.import_quietly(
        "rlscope.relations.rows.build"
    )  # NumPy and DuckDB, which a later run has behind it
    try:
        return with_settings(settings)
    except child.CommandNotFound as error:
        stderr.write(f"{parser.prog}: {visible(str(error))}\n")
        return error.code


def percent(share: float) -> str:
    """The share with two digits: 1.49 %."""
    return f"{100 * share:.2f} %"

"""`rlscope mcp [FOLDER]`: answers a chat agent's questions about runs (Model Context Protocol)."""

from __future__ import annotations

import argparse

from rlscope.commands.options import values
from rlscope.errors import RlscopeError

_DESCRIPTION = """\
Answers a chat agent about the recorded runs in a folder and below it. The agent's client starts
this command, and talks to it over stdin and stdout in the Model Context Protocol. The agent can
list runs, and ask for findings, lines of source and SQL. It reads nothing outside of the folder."""

_EXAMPLES = """\
examples:
  rlscope mcp runs
      what a client has to start; docs/guide/mcp.md shows how to tell it
  rlscope mcp . --allow-record
      lets the agent run commands, too: any command, as you

It needs the package mcp: pip install 'rlscope[mcp]'
"""
_LONGEST_S = 600.0


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "folder", metavar="FOLDER", nargs="?", default=".", help="answer about this (default: .)"
    )
    parser.add_argument(
        "--allow-record",
        action="store_true",
        help="let the agent run commands under rls-prof. They can do what you can do",
    )
    parser.add_argument(
        "--record-seconds",
        metavar="S",
        type=values.seconds,
        default=_LONGEST_S,
        help=f"end a recorded command after S seconds (default: {_LONGEST_S:g})",
    )


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Answers until stdin ends."""
    from rlscope.agents.folder import Folder

    if not options.record_seconds:
        parser.error("--record-seconds takes a number above 0")
    folder = Folder(options.folder)
    try:
        from rlscope.agents import server
    except ImportError as error:
        raise RlscopeError(
            f"rlscope mcp needs the package mcp, release 2 or later: pip install 'rlscope[mcp]' "
            f"({error})"
        ) from error
    server.serve(folder, record_seconds=options.record_seconds if options.allow_record else None)
    return 0

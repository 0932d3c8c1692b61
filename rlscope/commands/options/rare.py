"""Options that few runs need: `--help` leaves them out, `--help-all` shows them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any


class RareOptions:
    """The rare options of one parser. It takes them like all others, whichever help it prints."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        """Declares `--help-all`."""
        self._meanings: dict[argparse.Action, str] = {}
        parser.add_argument(
            "--help-all",
            action=_HelpAll,
            meanings=self._meanings,
            help="show all options, also those that few runs need, and exit",
        )

    def add(
        self, group: argparse._ActionsContainer, name: str, *, help: str, **settings: Any
    ) -> None:
        """Declares one of them in its group, as `add_argument` does."""
        action = group.add_argument(name, help=argparse.SUPPRESS, **settings)
        self._meanings[action] = help


class _HelpAll(argparse.Action):
    """Prints the help with the meanings that `--help` leaves out."""

    def __init__(
        self,
        option_strings: list[str],
        dest: str,
        meanings: Mapping[argparse.Action, str],
        help: str,
    ) -> None:
        super().__init__(
            option_strings, argparse.SUPPRESS, nargs=0, default=argparse.SUPPRESS, help=help
        )
        self._meanings = meanings

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        for action, meaning in self._meanings.items():
            action.help = meaning
        parser.print_help()
        parser.exit()

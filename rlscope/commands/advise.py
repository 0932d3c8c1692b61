"""`rlscope advise DIR`: says what to mend first in a recorded program, and what that is worth."""

from __future__ import annotations

import argparse

from rlscope.errors import RlscopeError
from rlscope.terminal.shown_opening import load_shown

_FORMATS = ("text", "markdown", "json")
_DESCRIPTION = """\
Says what to mend first in a recorded program: where it is in the code, and how much of the training
loop can be won back. Each finding has its evidence, and says when the fix changes nothing."""

_EXAMPLES = """\
examples:
  rlscope advise runs/ppo
  rlscope advise runs/ppo --format markdown > advice.md
      to paste into an issue
  rlscope advise runs/ppo --format json -o advice.json
      for programs: docs/reference/advice.md describes it
"""


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument("directory", metavar="DIR", help="trace directory")
    parser.add_argument(
        "--format", choices=_FORMATS, default="text", help="print text, markdown or json (text)"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write to this file (default: stdout)"
    )


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Prints the findings."""
    from rlscope.report import advice_renderers

    with load_shown(options.directory) as trace:
        text = advice_renderers.FORMATS[options.format](trace)
    if options.output is None:
        print(text, end="")
        return 0
    try:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise RlscopeError(f"cannot write {options.output}: {error.strerror}") from error
    return 0

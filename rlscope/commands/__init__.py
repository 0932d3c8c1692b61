"""The command line: `rlscope <verb>`. One verb is one file here and one row of the registry.

A verb is a module with two functions (Command); the first line of its docstring is its line in
`rlscope --help`, which reads that line without importing the module.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import Protocol

from rlscope import registry
from rlscope.errors import RlscopeError
from rlscope.terminal.suggesting import SuggestingParser
from rlscope.visible import visible

_EPILOG = """\
`rlscope VERB --help` explains a verb and shows examples. A first run:

  rls-prof -o runs/ppo python train.py    records the program, shows where its time went
  rlscope summary runs/ppo                shows that again
  rlscope report runs/ppo                 writes the HTML page again
  rlscope query runs/ppo "SELECT operation, sum(duration_ns) FROM training_loop GROUP BY ALL"
"""


class Command(Protocol):
    """The functions of a verb's module."""

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Declares description, examples and arguments. Imports nothing heavy."""

    def run(self, parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
        """Does it; returns the exit code. Raises RlscopeError for a stated failure.

        Usage errors that argparse cannot find go through parser.error (exit 2).
        """


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point `rlscope`: 0 good, 1 stated failure (one line on stderr), 2 usage, 130 Ctrl-C."""
    if argv is None:
        keep_pandas_out()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A path may hold bytes that are no text, a name what the terminal cannot show.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except RlscopeError as error:
        print(f"rlscope: {_one_line(error)}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return _reader_gone()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception as error:
        # Libraries that poll for signals report a Ctrl-C as an error of their own.
        if isinstance(error.__cause__, KeyboardInterrupt):
            return 128 + signal.SIGINT
        if _is_out_of_memory(error):
            print("rlscope: not enough memory for this trace", file=sys.stderr)
            return 1
        raise
    return code


def keep_pandas_out() -> None:
    """Hides pandas from this process, which is a command of ours and runs nothing else.

    DuckDB imports pandas, where it is installed, to compare the first parameter of a statement
    with its NaT. That takes 0.3 s of a summary's 1.5 s, and no command uses pandas.
    """
    sys.modules.setdefault("pandas", None)  # type: ignore[arg-type]


def _is_out_of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM


def _run(arguments: list[str]) -> int:
    verb = arguments[0] if arguments else "--help"
    if verb not in registry.names(registry.COMMANDS):
        parser = _parser()
        if not verb.startswith("-"):
            parser.error(f"no verb {verb!r}{_meant(verb)}")
        parser.parse_args([verb, *arguments[1:]])  # --help, --version, or an unknown option: exits
        parser.error("give a verb")
    command: Command = registry.load(registry.COMMANDS, verb)
    own = SuggestingParser(
        prog=f"rlscope {verb}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.prepare(own)
    return command.run(own, _options(own, arguments[1:]))


def _meant(verb: str) -> str:
    """The nearest verb; summary, if a trace was given and no verb; else all verbs."""
    from difflib import get_close_matches  # 2 ms, and only for a verb that is wrong

    names = registry.names(registry.COMMANDS)
    near = get_close_matches(verb, names, n=1)
    if near:
        return f"; did you mean {near[0]}?"
    if os.path.isdir(verb):
        return f"; did you mean rlscope summary {verb}?"
    return f"; there are: {', '.join(names)}"


def _options(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    """Options may stand anywhere: parse_args() takes DIR --format csv SQL for a DIR without SQL."""
    try:
        return parser.parse_intermixed_args(arguments)
    except TypeError:  # everything after the verb's first argument is another program's
        return parser.parse_args(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rlscope",
        description="Shows where the time of a reinforcement learning program goes.",
        epilog=_EPILOG,
        formatter_class=_HelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rlscope {_version()}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    for name in registry.names(registry.COMMANDS):
        verbs.add_parser(name, help=_help_line(name), add_help=False)
    return parser


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """argparse counts verbs as if they were indented less, and breaks the line of the longest."""

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        longest = max(map(len, registry.names(registry.COMMANDS)))
        self._action_max_length = max(self._action_max_length, longest + 2 * self._indent_increment)


def _help_line(verb: str) -> str:
    """The end of the first line of the module's docstring, read from its source."""
    import ast  # with importlib.util 15 ms: this package is imported by rls-prof too
    import importlib.util
    from pathlib import Path

    module = registry.module_of(registry.COMMANDS, verb)
    try:
        spec = importlib.util.find_spec(module)
        source = Path(spec.origin or "").read_text(encoding="utf-8") if spec else ""
    except (ImportError, OSError):
        return ""
    lines = (ast.get_docstring(ast.parse(source)) or "").splitlines()
    return lines[0].rpartition("`")[2].lstrip("): ").replace("%", "%%") if lines else ""


def _version() -> str:
    from rlscope._version import __version__

    return __version__


def _one_line(error: Exception) -> str:
    return visible(" ".join(str(error).split()))


def _reader_gone() -> int:
    """`rlscope query ... | head`: the rest of the buffer is dropped, without a message."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + signal.SIGPIPE

"""`rlscope diff BASE NEW`: compares runs, and says what became slower or faster."""

from __future__ import annotations

import argparse
from pathlib import Path

from rlscope.commands.options import values
from rlscope.compare.baselines import STORE
from rlscope.terminal.status_line import progress

_FORMATS = ("text", "markdown", "json")
_DESCRIPTION = """\
Compares recorded runs, and says what became slower or faster, as far as their noise lets anybody
tell. Each side is one run or several: a trace directory, a folder of them, a pattern, or the name
of a baseline (rlscope baseline). Several runs of each side tell much smaller differences than one.

Exit codes with --gate: 0 passed, 1 a regression, 3 cannot tell. An error is 1, too."""

_EXAMPLES = """\
examples:
  rlscope diff runs/before runs/after
  rlscope diff "runs/base-*" "runs/new-*" --html diff.html
  rlscope diff --base runs/base-1 runs/base-2 --new runs/new-1 runs/new-2
  rlscope diff main runs/change --gate 3% --junit gate.xml
      main is a baseline; the command fails if the loop or a large operation is 3 % slower
"""


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument("sides", metavar="DIR", nargs="*", help="the base, and what is new")
    parser.add_argument("--base", metavar="DIR", nargs="+", help="the runs of the base")
    parser.add_argument(
        "--new", metavar="DIR", nargs="+", help="the runs that are compared with it"
    )
    parser.add_argument(
        "--store", metavar="DIR", default=STORE, help=f"folder of baselines (default: {STORE})"
    )
    parser.add_argument(
        "--per",
        choices=("iteration", "step"),
        help="show times per iteration, or per environment step (default: per iteration, unless "
        "the iterations of the sides have a different number of steps)",
    )
    parser.add_argument(
        "--format", choices=_FORMATS, default="text", help="print text, markdown or json (text)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write that to FILE, not to stdout")
    parser.add_argument(
        "--html", metavar="FILE", help="write a page with a differential flame graph, too"
    )
    parser.add_argument(
        "--gate",
        type=values.percent,
        metavar="PERCENT",
        help="exit with 1 if the loop, or an operation of at least 5 %% of it, is slower by "
        "PERCENT or more, and with 3 if that cannot be told",
    )
    parser.add_argument(
        "--junit", metavar="FILE", help="with --gate: write its checks as JUnit XML"
    )


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Prints the comparison."""
    named = _sides(parser, options)
    if options.junit and options.gate is None:
        parser.error("--junit needs --gate")
    from rlscope.compare import comparison, gate, renderers, rows, sides
    from rlscope.report.report_file import write_text

    with progress() as line:
        base, new = (
            sides.read(sides.directories(side, options.store), line.step) for side in named
        )
        per = {"step": rows.STEP, None: ""}.get(options.per, options.per)
        found = comparison.compare(base, new, per=per)
    judged = None if options.gate is None else gate.judge(found, options.gate)
    if options.html:
        write_text(Path(options.html), renderers.page(found, judged))
    if options.junit and judged is not None:
        write_text(Path(options.junit), renderers.junit(judged))
    text = renderers.FORMATS[options.format](found, judged)
    if options.output is None:
        print(text, end="")
    else:
        write_text(Path(options.output), text)
    return 0 if judged is None else judged.exit_code


def _sides(
    parser: argparse.ArgumentParser, options: argparse.Namespace
) -> tuple[list[str], list[str]]:
    if options.base and options.new and not options.sides:
        return options.base, options.new
    if len(options.sides) == 2 and not options.base and not options.new:
        return [options.sides[0]], [options.sides[1]]
    if len(options.sides) > 2:
        parser.error(
            'two sides are compared: quote a pattern ("runs/base-*"), or name the runs of each '
            "side: --base DIR... --new DIR..."
        )
    parser.error("give two sides: rlscope diff BASE NEW, or --base DIR... --new DIR...")

"""`rlscope export DIR`: writes a run for other tools: Perfetto, Parquet and more."""

from __future__ import annotations

import argparse
import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from rlscope import registry
from rlscope.commands.options import values
from rlscope.terminal import stderr
from rlscope.terminal.shown_opening import load_shown
from rlscope.terminal.status_line import progress
from rlscope.visible import visible

if TYPE_CHECKING:
    from rlscope.export.exporter import Exported
    from rlscope.export.window import Window
    from rlscope.relations.trace import Trace

_DESCRIPTION = """\
Writes a recorded or imported run in a format that other tools read: operations, calls, waits, GPU
work, iterations and phases on a timeline, or all relations as tables. Long runs: take a part."""

_EXAMPLES = """\
examples:
  rlscope export runs/ppo
      writes ppo.pftrace, for https://ui.perfetto.dev
  rlscope export runs/ppo --iteration 100
      one iteration; 100-110 for several
  rlscope export runs/ppo --from 12.5s --to 13s -o part.pftrace.gz
  rlscope export runs/ppo --format speedscope
  rlscope export runs/ppo --format parquet -o ppo-tables
      a file for each relation of the SQL reference
"""

_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_TIME = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?|\.[0-9]{1,12})(ns|us|ms|s|m|h)?")


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument("directory", metavar="DIR", help="trace directory")
    parser.add_argument(
        "--format",
        default="perfetto",
        metavar="FORMAT",
        help="perfetto, chrome, speedscope, parquet, csv, or one of another package "
        "(default: perfetto)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="file, or folder of parquet and csv; of a file, .gz at the end compresses it "
        "(default: here, named after DIR)",
    )
    parser.add_argument(
        "--from",
        dest="from_ns",
        metavar="TIME",
        type=_time,
        help="since the start of the run: 12.5, 12.5s, 800ms, 3m",
    )
    parser.add_argument("--to", dest="to_ns", metavar="TIME", type=_time, help="until then")
    parser.add_argument(
        "--iteration",
        metavar="N[-M]",
        type=values.iteration_ranges,
        help="from the first start of the iteration in any process to its last end",
    )
    parser.add_argument("--force", action="store_true", help="replace an earlier export")


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Writes the export, says what is in it, and prints its path."""
    _check(parser, options)
    exporter = registry.load(registry.EXPORTERS, options.format)
    with progress() as line, load_shown(options.directory, step=line.step) as trace:
        window = _window(trace, options)
        path = Path(options.output or _default_name(options.directory, window, exporter.ending))

        def tell(part: float) -> None:
            line.step(f"writing {path.name}: {part:.0%}")

        line.step(f"writing {path.name}")
        exported = exporter.write(trace, window, path, force=options.force, tell=tell)
    stderr.write("".join(f"{visible(text)}\n" for text in _told(exported)))
    print(path)
    return 0


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    known = registry.names(registry.EXPORTERS)
    if options.format not in known:
        parser.error(f"no format {options.format!r}; there are: {', '.join(known)}")
    if options.iteration is not None:
        if options.from_ns is not None or options.to_ns is not None:
            parser.error("give a part by --iteration, or by --from and --to, not by both")
        if len(options.iteration) > 1:
            parser.error("--iteration takes one number or one range, as 100-110")
    if options.to_ns is not None and options.to_ns <= (options.from_ns or 0):
        parser.error("--to is not behind --from")


def _time(text: str) -> int:
    """A time since the start of the run, in nanoseconds."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"not a time, as 12.5, 12.5s, 800ms or 3m: {text!r}")
    return int(Decimal(match[1]) * _UNITS[match[2] or "s"])


def _window(trace: Trace, options: argparse.Namespace) -> Window:
    from rlscope.export import window

    if options.iteration is not None:
        return window.of_iterations(trace, options.iteration[0])
    return window.between(trace, options.from_ns, options.to_ns)


def _default_name(directory: str, window: Window, ending: str) -> str:
    parts = [Path(directory).resolve().name or "run", window.label]
    return f"{'-'.join(filter(None, parts))}{ending}"


def _told(exported: Exported) -> list[str]:
    counts = [f"{count:,} {what}" for what, count in exported.counts.items() if count]
    return [", ".join(counts) or "nothing is in this part of the run", *exported.left_out]

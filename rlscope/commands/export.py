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
Writes a recorded or imported run in a format that other tools read. As perfetto, chrome or
speedscope it becomes a timeline of operations, calls, waits, GPU work, iterations and phases. As
collapsed, pprof or speedscope, the time of each stack of Python calls is there. As parquet or csv,
every relation becomes a table. If the run is long, choose a part of it."""

_EXAMPLES = """\
examples:
  rlscope export runs/ppo
      writes ppo.pftrace; open it in https://ui.perfetto.dev
  rlscope export runs/ppo --iteration 100
      exports one iteration; 100-110 exports several
  rlscope export runs/ppo --from 12.5s --to 13s -o part.pftrace.gz
  rlscope export runs/ppo --format speedscope
  rlscope export runs/ppo --format pprof
      writes ppo.pb.gz; open it with: go tool pprof -http=: ppo.pb.gz
  rlscope export runs/ppo --format parquet -o ppo-tables
      writes one file for each relation of the SQL reference
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
        help="write perfetto, chrome, speedscope, collapsed, pprof, parquet, csv, or a format of "
        "another package (default: perfetto)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="write to this file, or to this folder for parquet and csv. A name that ends in .gz "
        "compresses the file (default: a name like that of DIR, in the working directory)",
    )
    parser.add_argument(
        "--from",
        dest="from_ns",
        metavar="TIME",
        type=_time,
        help="export from this time after the start of the run on: 12.5, 12.5s, 800ms, 3m",
    )
    parser.add_argument(
        "--to", dest="to_ns", metavar="TIME", type=_time, help="export up to this time"
    )
    parser.add_argument(
        "--iteration",
        metavar="N[-M]",
        type=values.iteration_ranges,
        help="export this iteration: from its first start in any process to its last end",
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
            parser.error("give the part by --iteration or by --from and --to, not by both")
        if len(options.iteration) > 1:
            parser.error("--iteration takes one number, or one range such as 100-110")
    if options.to_ns is not None and options.to_ns <= (options.from_ns or 0):
        parser.error("--to must be later than --from")


def _time(text: str) -> int:
    """A time since the start of the run, in nanoseconds."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(
            f"expected a time such as 12.5, 12.5s, 800ms or 3m, got {text!r}"
        )
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
    return [", ".join(counts) or "this part of the run has nothing in it", *exported.left_out]

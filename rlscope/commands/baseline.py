"""`rlscope baseline save|list|show`: keeps runs by a name, to compare later ones with."""

from __future__ import annotations

import argparse
import sys

from rlscope.compare.baselines import STORE
from rlscope.terminal.status_line import progress

_DESCRIPTION = """\
Keeps copies of recorded runs by a name. `rlscope diff NAME DIR` then compares later runs with
them."""

_EXAMPLES = """\
examples:
  rlscope baseline save main runs/main-*
      keeps these runs as main
  rlscope baseline list
  rlscope baseline show main
  rlscope diff main runs/change-*
"""


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument("action", choices=("save", "list", "show"), help="what to do")
    parser.add_argument("name", metavar="NAME", nargs="?", help="name of the baseline")
    parser.add_argument(
        "runs", metavar="DIR", nargs="*", help="with save: trace directories, or folders of them"
    )
    parser.add_argument(
        "--store", metavar="DIR", default=STORE, help=f"keep baselines here (default: {STORE})"
    )
    parser.add_argument("--force", action="store_true", help="replace a baseline of this name")


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Does it."""
    if options.action == "list":
        return _list(options.store)
    if options.name is None:
        parser.error(f"{options.action} takes the name of a baseline")
    if options.action == "show":
        return _show(options.name, options.store)
    if not options.runs:
        parser.error("save takes the runs to keep: rlscope baseline save NAME DIR...")
    from rlscope.compare import baselines, sides

    found = sides.directories(options.runs, options.store)
    with progress() as line:
        sides.read(found, line.step)  # what cannot be read is no baseline
        print(baselines.save(options.name, found, options.store, force=options.force))
    return 0


def _list(store: str) -> int:
    from rlscope.compare import baselines
    from rlscope.report import units

    found = baselines.names(store)
    for name in found:
        runs = baselines.runs_of(name, store)
        print(f"{name}  {units.plural(len(runs), 'run')}  {baselines.saved(name, store)}".rstrip())
    if not found:
        print(f"rlscope: no baselines in {store}", file=sys.stderr)
    return 0


def _show(name: str, store: str) -> int:
    from rlscope.compare import baselines
    from rlscope.report import catalogue, units

    for each in catalogue.describe(baselines.runs_of(name, store)):
        length = units.duration(each.duration_ns)
        print(units.visible(f"{each.directory}  {each.state}  {length}  {each.command or '-'}"))
    return 0

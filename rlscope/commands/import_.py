"""`rlscope import FILE...`: makes a trace directory of traces of other tools."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

from rlscope.terminal import stderr
from rlscope.terminal.status_line import progress
from rlscope.visible import visible

if TYPE_CHECKING:
    from rlscope.importing.directory import Imported

_DESCRIPTION = """\
Makes a trace directory of traces that other tools recorded, for rlscope summary, report and query.
Several files are the processes of one run. The kind of a file is found by its content:

  torch.profiler (Kineto)    JSON or JSON.gz of export_chrome_trace()
  Nsight Systems             nsys export --type sqlite REPORT.nsys-rep
  XProf (JAX, TensorFlow)    trace.json.gz of a log directory's plugins/profile
  Chrome trace               JSON or JSON.gz of any other tool: slices become operations
  table of events            Parquet or CSV with the columns of relation event"""

_EXAMPLES = """\
examples:
  rlscope import trace.json.gz -o runs/imported
  rlscope import rank-*.json.gz -o runs/job
      the ranks of one job, aligned by their clocks
  rlscope import vm.trace.json.gz -o runs/jax --operation act --operation learn
      XProf does not say which of its rows are annotations: these are operations
  rlscope summary runs/imported
"""

_MOST_KINDS = 12  # that are named on the terminal; the metadata has more


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument("files", metavar="FILE", nargs="+", help="trace of a tool")
    parser.add_argument(
        "-o", "--output", metavar="DIR", required=True, help="trace directory to make"
    )
    parser.add_argument(
        "--operation",
        metavar="NAME",
        action="append",
        default=[],
        dest="operations",
        help="rows of XProf with this name are an operation; may be given several times",
    )
    parser.add_argument("--force", action="store_true", help="remove a run that is in DIR")


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Imports the files, says what was taken of them, and prints the directory's path."""
    from rlscope.importing.directory import import_files

    with progress() as line:
        imported = import_files(
            options.files,
            options.output,
            force=options.force,
            operations=options.operations,
            step=line.step,
        )
    told = _told(imported) + [
        f"no row of XProf is called {visible(name)}: --operation found nothing"
        for name in imported.without_rows(options.operations)
    ]
    stderr.write("".join(f"{text}\n" for text in told))
    print(imported.directory)
    return 0


def _told(imported: Imported) -> list[str]:
    taken, not_taken = imported.taken(), imported.not_taken()
    lines = [f"taken: {_listed(taken)}"]
    if not_taken:
        lines.append(f"not taken: {_listed(not_taken)}")
    if steps := imported.steps():
        lines.append(visible(steps))
    lines += [
        f"{visible(file.path)} has no real clock: its times are not aligned with those of the "
        "other files, and its process begins with the run"
        for file in imported.unaligned()
    ]
    return lines


def _listed(counts: Counter[str]) -> str:
    named = counts.most_common(_MOST_KINDS)
    parts = [f"{count:,} {visible(kind)}" for kind, count in named]
    if others := counts.total() - sum(count for _, count in named):
        parts.append(f"{others:,} others")
    return ", ".join(parts)

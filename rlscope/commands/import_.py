"""`rlscope import FILE...`: turns traces of other tools into a run of rlscope."""

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
Turns traces that other tools recorded into a trace directory, which rlscope summary, report and
query read. Several files become the processes of one run. rlscope finds the kind of a file by its
content:

  torch.profiler (Kineto)    JSON or JSON.gz of export_chrome_trace()
  Nsight Systems             nsys export --type sqlite REPORT.nsys-rep
  XProf (JAX, TensorFlow)    trace.json.gz of a log directory's plugins/profile
  Chrome trace               JSON or JSON.gz of any other tool; its slices become operations
  table of events            Parquet or CSV with the columns of relation event"""

_EXAMPLES = """\
examples:
  rlscope import trace.json.gz -o runs/imported
  rlscope import rank-*.json.gz -o runs/job
      makes one run of the ranks of a job, and aligns them by their clocks
  rlscope import vm.trace.json.gz -o runs/jax --operation act --operation learn
      makes these two operations: XProf does not say which of its rows are annotations
  rlscope summary runs/imported
"""

_MOST_KINDS = 12  # that are named on the terminal; the metadata has more


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="a trace that another tool recorded"
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", required=True, help="make this trace directory"
    )
    parser.add_argument(
        "--operation",
        metavar="NAME",
        action="append",
        default=[],
        dest="operations",
        help="make rows of XProf with this name an operation; you can repeat it",
    )
    parser.add_argument("--force", action="store_true", help="replace the run in DIR")


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
        f"--operation {visible(name)} found nothing: no row of XProf has that name"
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
        f"{visible(file.path)} has no real clock: rlscope cannot align it with the other files; "
        "its process begins with the run"
        for file in imported.unaligned()
    ]
    return lines


def _listed(counts: Counter[str]) -> str:
    named = counts.most_common(_MOST_KINDS)
    parts = [f"{count:,} {visible(kind)}" for kind, count in named]
    if others := counts.total() - sum(count for _, count in named):
        parts.append(f"{others:,} others")
    return ", ".join(parts)

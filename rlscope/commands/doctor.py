"""`rlscope doctor`: checks what rlscope can record here, and names the remedies."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlscope.doctor.finding import Finding

_DESCRIPTION = """\
Checks what rlscope can record on this machine and in a Python environment. It prints one line for
each part: interpreter, native calls, source lines, frameworks, simulators, clock, disks, CUDA
driver, CUPTI and permissions.

A line that fails is followed by its remedy, and makes the exit code 1. A part that is not there,
such as a GPU, is no failure."""

_EXAMPLES = """\
examples:
  rlscope doctor                                 checks this environment
  rlscope doctor --python .venv/bin/python       checks the one that you train in
  rlscope doctor --format json                   prints the same for scripts
"""


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "--python",
        metavar="PATH",
        default=sys.executable,
        help="check this interpreter (default: the one that runs rlscope)",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="print text or JSON (default: text)",
    )


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Prints the findings."""
    from rlscope.doctor.finding import Status

    findings = list(_findings(options.python))
    if options.format == "json":
        print(json.dumps([finding.to_dict() for finding in findings], indent=1))
    else:
        print("\n".join(_lines(findings)))
    return 1 if any(finding.status is Status.BAD for finding in findings) else 0


def _findings(python: str) -> Iterator[Finding]:
    from importlib import metadata

    from rlscope.capture.cuda import VARIABLE, variable
    from rlscope.doctor import checks, links, probes, stacks
    from rlscope.recorder import LIBRARY

    facts = probes.python_facts(python, os.environ)
    folders = variable(facts["paths"], os.environ.get(VARIABLE, "")).split(":")
    linked = links.of_frameworks(facts["paths"])
    cuda = probes.cuda_facts(
        facts["executable"],
        list(filter(None, folders)),
        os.environ,
        sorted({each.major for each in linked if each.major}) or [0],
    )
    yield from checks.python_findings(facts, metadata.version("rlscope"))
    yield stacks.finding(facts)
    yield from checks.library_findings(facts)
    yield from checks.link_findings(linked)
    yield from checks.machine_findings(os.getcwd())
    yield from checks.environment_findings(os.environ, LIBRARY)
    yield from checks.cuda_findings(cuda)


def _lines(findings: list[Finding]) -> Iterator[str]:
    subjects = max(len(finding.subject) for finding in findings)
    for finding in findings:
        yield f"{finding.status.value:7}  {finding.subject:{subjects}}  {finding.text}"
        if finding.remedy:
            yield f"{'':7}  {'':{subjects}}  -> {finding.remedy}"

"""A gate as JUnit's XML, which CI systems show: a case for the loop and for each operation."""

from __future__ import annotations

from xml.etree import ElementTree

from rlscope.analysis.difference_verdicts import Gated
from rlscope.compare import words
from rlscope.compare.gate import Check, Gate
from rlscope.report import units

_ELEMENTS = {Gated.FAILS: "failure", Gated.CANNOT_TELL: "skipped"}


def render(gate: Gate) -> str:
    """The file. What cannot be told is a case that was skipped."""
    counts = {
        name: str(sum(each.outcome == outcome for each in gate.checks))
        for name, outcome in (("failures", Gated.FAILS), ("skipped", Gated.CANNOT_TELL))
    }
    named = {"name": "rlscope diff", "tests": str(len(gate.checks)), "errors": "0", **counts}
    suite = ElementTree.Element("testsuite", named)
    for each in gate.checks:
        _add(suite, each)
    ElementTree.indent(suite)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, "unicode") + "\n"
    )


def _add(suite: ElementTree.Element, check: Check) -> None:
    name = units.operation(check.row.name)
    case = ElementTree.SubElement(suite, "testcase", classname="rlscope", name=name)
    if kind := _ELEMENTS.get(check.outcome):
        needed = f": {check.more_runs} more runs of each side needed" if check.more_runs else ""
        message = f"{check.outcome.value}: {words.check(check)}{needed}"
        ElementTree.SubElement(case, kind, message=message)

"""A line of the program that takes a notable part of the run before the loop begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rlscope.amounts import duration, plural
from rlscope.analysis import lines, statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# Imports, and what is compiled, have rules of their own.
_OPERATION = "(none)"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked: dict[str, Any] = {
        "process_id": loop.process_id,
        "operation": _OPERATION,
        "layers": [],
        "stage": "start-up",
    }
    for row in lines.operation_lines(trace, **asked)[:1]:
        if _is_import(trace, loop, row) or _do_others_train(trace, loop, row):
            return
        if _is_of_loop(trace, loop, row):
            return
        imports = _imports_of_children(trace, loop, asked, row)
        yield Finding(
            title=f"one line takes {duration(row['own_ns'])} before the loop begins",
            evidence=f"Its 95 % interval is {duration(row['own_low_ns'])} to "
            f"{duration(row['own_high_ns'])}.{imports}",
            evidence_sql=statement.shown("operation_line", **asked),
            fix="Import that before you start the processes, which have it then if they are forks."
            if imports
            else "Prepare less, keep the result for later runs, or make the line cheaper.",
            no_effect="No effect on a longer run, which pays it once, too.",
            once_ns=max(row["own_low_ns"], 0),
            file=row["file"],
            line=row["line"],
        )


def _is_import(trace: Trace, loop: Loop, row: dict[str, Any]) -> bool:
    """Whether most of the line is an import, as of what the first optimizer of PyTorch needs. Rule
    imports speaks of it, if the program can do without."""
    if (row["text"] or "").lstrip().startswith(("import ", "from ")):
        return True
    asked = {"process_id": loop.process_id, "asked_by": f"{row['file']}:{row['line']}"}
    (of_line,) = statement.run(trace, "findings/line_import", **asked).to_dicts()
    return verdicts.is_most(of_line["total_ns"] or 0, row["own_ns"])


def _do_others_train(trace: Trace, loop: Loop, row: dict[str, Any]) -> bool:
    """Whether the line is the training, which other processes do, and what follows shows the
    result."""
    (others,) = statement.run(trace, "findings/other_loop", process_id=loop.process_id).to_dicts()
    return verdicts.is_most(others["longest_ns"] - loop.loop_ns, row["own_ns"])


def _is_of_loop(trace: Trace, loop: Loop, row: dict[str, Any]) -> bool:
    """Whether the line takes longer in the loop: its first passes were no set-up."""
    asked = {"process_id": loop.process_id, "file": row["file"]}
    rows = statement.run(trace, "findings/line_operation", **asked).to_dicts()
    in_loop_ns = sum(each["total_ns"] for each in rows if each["line"] == row["line"])
    return bool(in_loop_ns > row["own_ns"])


def _imports_of_children(
    trace: Trace, loop: Loop, asked: dict[str, Any], row: dict[str, Any]
) -> str:
    """What processes import that a line waits for; "" the line does something else."""
    waits = lines.operation_lines(trace, **{**asked, "layers": ["wait"]})
    place = row["file"], row["line"]
    waited_ns = sum(each["own_ns"] for each in waits if (each["file"], each["line"]) == place)
    of_children = statement.run(
        trace, "findings/child_import", process_id=loop.process_id
    ).to_dicts()
    for each in of_children:
        if verdicts.is_most(min(waited_ns, each["each_ns"]), row["own_ns"]):
            return (
                f" It waits for {plural(each['children'], 'process')}, each of which imports for "
                f"{duration(each['each_ns'])}, {each['module']} most of it."
            )
    return ""


RULE = Rule(_find)

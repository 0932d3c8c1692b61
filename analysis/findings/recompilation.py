"""A function is compiled again and again, for each shape or value that it meets."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration
from rlscope.analysis import finding_verdicts, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import SCOPES, Source, source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/recompilation"
# TensorFlow's names of what a data set does with its rows. Rule data_set_calls speaks of these.
_OF_DATA_SETS = "Dataset_"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        if not finding_verdicts.is_compiled_again(row["late_count"]):
            continue
        if (row["function"] or "").startswith(_OF_DATA_SETS) or _is_of_jax(trace, row):
            continue
        again_ns = row["again_ns"]
        # What follows is in the loop.
        first = Price(row["first_ns"], 0.7 * row["first_ns"], row["first_ns"]).times(row["again"])
        yield Finding(
            title=f"{row['compiler']} compiles {row['function']} {count(row['count'])} times, for "
            f"{duration(again_ns)} outside of the loop",
            evidence=f"It takes {duration(row['total_ns'])} in all, "
            f"{duration(row['total_ns'] / row['count'])} each time, "
            f"{count(row['late_count'])} times after the first update. What follows each time "
            f"takes {duration(row['first_ns'])} longer than usual. The price is a part of "
            f"the loop's {duration(loop.loop_ns)} and of these compilations together.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix=_fix(row["compiler"]),
            no_effect="No effect once all shapes have been met: a longer run pays it once.",
            outside_ns=round(again_ns),
            price=Price(again_ns, again_ns * 0.8, again_ns).plus(first),
            file=row["file"],
            line=row["line"],
        )


def _fix(compiler: str) -> str:
    if compiler == "TensorFlow":
        return (
            "Give it the same shapes each time (pad batches), and tensors for numbers that change: "
            "each new number of Python is traced anew."
        )
    return (
        "Give it the same shapes each time (pad batches), or let torch.compile make one function "
        "for all shapes (dynamic=True)."
    )


def _is_of_jax(trace: Trace, row: Mapping[str, Any]) -> bool:
    """Whether it is a function of JAX, such as add, which is compiled for each shape that a program
    without jax.jit hands it. Rule unjitted_jax speaks of these."""
    if row["compiler"] != "JAX":
        return False
    files = statement.run(trace, "kept_file")["file"]
    return not any(_defines(source_of(trace, file), row["function"]) for file in files)


def _defines(source: Source, name: str) -> bool:
    """Whether a function of the file has a name; <lambda> is that of any."""
    return any(
        getattr(node, "name", "<lambda>") == name
        for node in ast.walk(source.tree or ast.Module([], []))
        if isinstance(node, SCOPES)
    )


RULE = Rule(_find)

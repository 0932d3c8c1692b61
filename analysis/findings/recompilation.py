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
# What makes a compiled function of one.
_MAKERS = frozenset(
    "jax.jit jax.pmap jit nnx.jit eqx.filter_jit pmap tf.function torch.compile".split()
)
_TORCH = "torch.compile"
_ANEW = (
    "Make the compiled function once, before the loop, and keep it. Each call of jit, "
    "torch.compile or tf.function on a new function, such as a lambda, compiles anew."
)
_NO_EFFECT_ANEW = "No effect if the function must be another one each time."
_NO_EFFECT = "No effect once all shapes have been met: a longer run pays it once."
_FIXES = {
    "JAX": "Give it the same shapes and types each time (pad batches), and pass numbers that "
    "change as arrays: each new value of a static argument is compiled anew.",
    "TensorFlow": "Give it the same shapes each time (pad batches), and tensors for numbers that "
    "change: each new number of Python is traced anew.",
    _TORCH: "Give it the same shapes each time (pad batches), or let torch.compile make "
    "one function for all shapes (dynamic=True).",
}


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        if not finding_verdicts.is_compiled_again(row["late_count"]):
            continue
        if (row["function"] or "").startswith(_OF_DATA_SETS) or _is_of_jax(trace, row):
            continue
        again_ns, is_anew = row["again_ns"], _is_made_anew(trace, row)
        # What follows is in the loop.
        first = Price(row["first_ns"], 0.7 * row["first_ns"], row["first_ns"]).times(row["again"])
        yield Finding(
            title=f"{row['compiler']} compiles {row['function']} {count(row['count'])} times, for "
            f"{duration(row['total_ns'])}",
            evidence=f"It takes {duration(row['total_ns'])} in all, "
            f"{duration(row['total_ns'] / row['count'])} each time, "
            f"{count(row['late_count'])} times after the first update. What follows each time "
            f"takes {duration(row['first_ns'])} longer than usual. The price is a part of "
            f"the loop's {duration(loop.loop_ns)} and of these compilations together.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix=_ANEW if is_anew else _FIXES.get(row["compiler"], _FIXES[_TORCH]),
            no_effect=_NO_EFFECT_ANEW if is_anew else _NO_EFFECT,
            outside_ns=round(again_ns),
            price=Price(again_ns, again_ns * 0.8, again_ns).plus(first),
            file=row["file"],
            line=row["line"],
        )


def _is_made_anew(trace: Trace, row: Mapping[str, Any]) -> bool:
    """Whether the function that calls it makes it, too: each time another one to the compiler."""
    if row["file"] is None or row["line"] is None:
        return False
    function = source_of(trace, row["file"]).function_node(row["line"])
    return any(
        isinstance(node, ast.Call) and ast.unparse(node.func) in _MAKERS and node.args
        for node in ast.walk(function or ast.Module([], []))
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

"""Compilers in words: what they compiled, and the loop that one compiled function is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rlscope.analysis import verdicts
from rlscope.report import units

Rows = Sequence[dict[str, Any]]

# Functions that the sentence names.
_NAMED = 3
# What looks inside the functions of a compiler.
_LOOKS_INSIDE = {
    "JAX": "XProf (jax.profiler) can",
    "TensorFlow": "XProf (tf.profiler) can",
}


def compilations(rows: Rows) -> Iterable[str]:
    """Rows of `compilation`: how long libraries compiled, and what, where it is much."""
    if not rows or not verdicts.is_compilation_notable(rows[0]["all_ns"], rows[0]["whole_ns"]):
        return
    named = ", ".join(
        f"{units.visible(row['function'])} {units.duration(row['total_ns'])}"
        f"{_how_often(row['count'])}{_for(row)}"
        for row in rows[:_NAMED]
    )
    yield (
        f"Compiling took {units.duration(rows[0]['all_ns'])} of "
        f"{units.duration(rows[0]['whole_ns'])}: {named}."
    )


def opaque(rows: Rows) -> Iterable[str]:
    """Rows of `compiled_call`: that nothing of the loop shows but one compiled function."""
    for row in rows:
        if not verdicts.is_loop_opaque(row["duration_ns"], row["loop_ns"]):
            continue
        share = units.share(row["duration_ns"], row["loop_ns"])
        tool = _LOOKS_INSIDE.get(row["compiler"] or "", "a profiler of its compiler can")
        yield (
            f"One compiled call, {units.visible(row['function'])}, is {share} of the loop. "
            f"rlscope cannot look inside it; {tool}."
        )


def unawaited(rows: Rows) -> str:
    """Rows of `compiled_call`: that a loop may be short because nobody waits for its one call."""
    for row in rows:
        opaque = verdicts.is_loop_opaque(row["duration_ns"], row["loop_ns"])
        if opaque and row["compiler"] == "JAX":
            return (
                f"The loop is one call of {units.visible(row['function'])}, which JAX computes in "
                "the background. If that takes longer, the program does not wait for it: call "
                "jax.block_until_ready on what it returns."
            )
    return ""


def place(row: dict[str, Any]) -> str:
    """ "train.py line 40"; "" where it is not known."""
    return units.line_of(row["file"], row["line"]) if row["file"] else ""


def _how_often(count: int) -> str:
    return f" for {count:,} times" if count > 1 else ""


def _for(row: dict[str, Any]) -> str:
    return f" ({found})" if (found := place(row)) else ""

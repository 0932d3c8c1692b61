"""Libraries that compile functions of the program: paid once, unless a cache keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import duration, plural
from rlscope.analysis import statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    for row in statement.run(trace, "findings/compilation", **asked).to_dicts():
        yield Finding(
            title=f"{row['compiler']} compiles for {duration(row['total_ns'])}",
            evidence=f"{plural(row['functions'], 'function')}, the longest of them "
            f"{row['longest']}: {duration(row['longest_ns'])}.",
            evidence_sql=statement.shown("findings/compilation", **asked),
            fix="Keep what was compiled (Numba: cache=True; torch.compile and JAX: a folder for "
            "their cache), or compile less.",
            no_effect="No effect on a longer run, which pays it once, too.",
            once_ns=row["total_ns"],
            file=row["file"],
            line=row["line"],
        )


RULE = Rule(_find)

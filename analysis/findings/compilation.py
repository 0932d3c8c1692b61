"""Libraries that compile functions of the program: paid once, unless a cache keeps them. Those that
are compiled again and again are a rule of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.amounts import duration, plural
from rlscope.analysis import finding_verdicts, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

Row = Mapping[str, Any]
_STATEMENT = "findings/compilation"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    found: dict[str, list[Row]] = {}
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        if not finding_verdicts.is_compiled_again(row["late_count"]):
            found.setdefault(row["compiler"], []).append(row)
    for compiler, rows in found.items():
        longest, total_ns = rows[0], sum(row["total_ns"] for row in rows)
        yield Finding(
            title=f"{compiler} compiles for {duration(total_ns)}",
            evidence=f"{plural(len(rows), 'function')}, the longest of them "
            f"{longest['function']}: {duration(longest['total_ns'])}.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Keep what was compiled (Numba: cache=True; torch.compile and JAX: a folder for "
            "their cache), or compile less.",
            no_effect="No effect on a longer run, which pays it once, too.",
            once_ns=total_ns,
            file=longest["file"],
            line=longest["line"],
        )


RULE = Rule(_find)

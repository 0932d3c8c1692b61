"""A key or a text is made of a state, item by item."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import lines, statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import of_functions, time_of_line
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/element_loop"
# What writes an array or a tensor for people: str(board), f"{value}".
_WRITERS = (
    r".*/numpy/_?core/arrayprint\.py:.*",
    r".*/torch/_tensor_str\.py:.*",
    r".*/torch/_tensor\.py:Tensor\.(__repr__|__format__)",
)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    written = of_functions(trace, loop, _WRITERS)
    if written is not None:
        yield Finding(
            title="arrays and tensors are written as text for "
            f"{share(written.time.saving_ns, loop.loop_ns)} of the loop",
            evidence=f"{written.readings} readings of the loop's stack lie in what NumPy or "
            "PyTorch writes for people.",
            evidence_sql=written.evidence_sql,
            fix="If the text is a key, use array.tobytes(). If it is for a log, let that make it: "
            "log.debug('%s', x) makes none below its level. Else write it less often.",
            no_effect="Other keys for arrays of other types or shapes that look alike.",
            price=written.time.part(0.85, 0.97, 1.0),
            operation=written.operation,
            file=written.file,
            line=written.line,
        )
    asked = lines.asked_of_python_lines(trace, loop.process_id)
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    for first in rows:
        if not verdicts.is_line_costly(first["own_ns"], loop.loop_ns):
            return
        if source_of(trace, first["file"]).joins_items(first["line"]):
            time = time_of_line(rows, first)
            yield Finding(
                title="a key or a text is made item by item, for "
                f"{share(time.saving_ns, loop.loop_ns)} of the loop",
                evidence="The line joins what a comprehension, or map, makes of each item.",
                evidence_sql=statement.shown(_STATEMENT, **asked),
                fix="If the items are an array's, use array.tobytes() as the key. Else keep the "
                "key beside the state, and change it with it.",
                no_effect="Little effect where the state has a few items.",
                price=time.part(0.6, 0.92, 1.0),
                operation=first["operation"],
                file=first["file"],
                line=first["line"],
            )
            return


RULE = Rule(_find, of_lines=True)

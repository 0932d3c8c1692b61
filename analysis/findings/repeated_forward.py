"""Learning calls a network again with what it was given already: nothing has changed meanwhile."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import finding_verdicts, repeated_calls, statement, training_lines, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import estimate_of
from rlscope.analysis.list_code import passes_of
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import source_of
from rlscope.analysis.trained_networks import Optimizers
from rlscope.analysis.training_lines import Row

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for row, price in _repeated(trace, loop):
        yield Finding(
            title=f"the same forward is computed again, for {share(price.saving_ns, loop.loop_ns)} "
            "of the loop",
            evidence=f"The line calls a network in {row['operation']} with arguments that do not "
            f"change, for {share(row['total_ns'], loop.loop_ns)} of the loop in all.",
            evidence_sql=training_lines.shown(trace, loop),
            fix="Compute it once, before the loop or in the first of the lines, and keep the "
            "result.",
            no_effect="No effect, but other numbers, where the network draws at random.",
            price=price,
            operation=row["operation"],
            file=row["file"],
            line=row["line"],
        )
        return


def _repeated(trace: Trace, loop: Loop) -> Iterator[tuple[Row, Price]]:
    """Lines that repeat a forward, and what the repetitions take."""
    rows = training_lines.forward_lines(trace, loop)
    for row in rows:
        price = _price(trace, loop, row, rows)
        if price is not None:
            yield row, price
    for row in training_lines.leading_lines(trace, loop):
        if not verdicts.is_line_costly(row["total_ns"], loop.loop_ns):
            continue
        source = source_of(trace, row["file"])
        optimizers = Optimizers([source.tree] if source.tree else [])
        copies = optimizers.copies - optimizers.names
        if copies and repeated_calls.same_of_a_copy(source, row["line"], copies):
            time = estimate_of([{**row, "own_ns": row["total_ns"]}])
            whole_ns = training_lines.whole_ns(trace, loop, row)
            passes = passes_of(source, row["line"])
            part = (0.3, 0.5, 1.0) if passes is None else (1 - 1 / max(passes, 1),) * 3
            yield row, time.times(whole_ns / row["total_ns"]).part(*part)


def _price(trace: Trace, loop: Loop, row: Row, rows: Sequence[Row]) -> Price | None:
    """What all passes but one take, or all lines but the first. None: the line repeats nothing."""
    source = source_of(trace, row["file"])
    if repeated_calls.same_in_each_pass(source, row["line"]):
        whole_ns = training_lines.whole_ns(trace, loop, row)
        if not verdicts.is_most(row["total_ns"], whole_ns):
            return None  # it does much else, such as an episode
        passes = _passes(trace, loop, row["operation"])
        time = estimate_of([{**row, "own_ns": row["total_ns"]}]).times(whole_ns / row["total_ns"])
        return time.part(0.3, 0.5, 1) if passes is None else time.times(1 - 1 / passes)
    lines = repeated_calls.lines_of_the_same(source, row["line"])
    key = row["file"], row["operation"]
    again = [each for each in rows if (each["file"], each["operation"]) == key]
    again = [{**each, "own_ns": each["total_ns"]} for each in again if each["line"] in lines[1:]]
    return estimate_of(again) if again and row["line"] == again[0]["line"] else None


def _passes(trace: Trace, loop: Loop, operation: str) -> int | None:
    """How often an iteration does the same: the greatest number that divides how often each
    function is called in it. None: it says nothing, because one function is called once."""
    asked = {"process_id": loop.process_id, "operation": operation}
    rows = statement.run(trace, "findings/call_count", **asked).to_dicts()
    often = [row["calls"] / max(loop.iterations, 1) for row in rows]
    passes = math.gcd(*(round(each) for each in often if finding_verdicts.is_whole(each)))
    return passes if passes > 1 else None


RULE = Rule(_find)

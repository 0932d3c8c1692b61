"""The gate of a change: does it make the loop, or a large operation, slower by more than a limit?

                     0      limit
---------------------|--------|----------------->   change
              [---x---]                             passes: not slower by the limit
                        [---x---]                   passes or fails by x: the interval is no wider
                                  [------x------]   fails: slower, and by more than the limit
      [--------------x--------------]               cannot tell
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rlscope.analysis import difference_verdicts
from rlscope.analysis.difference_verdicts import Gated, Verdict
from rlscope.compare.comparison import Comparison
from rlscope.compare.rows import Row

PASSED, FAILED, UNTOLD = 0, 1, 3
"""Exit codes; 2 is a wrong use of the command."""
_CODES = {Gated.PASSES: PASSED, Gated.FAILS: FAILED, Gated.CANNOT_TELL: UNTOLD}


@dataclass(frozen=True)
class Check:
    """One row that the gate looks at."""

    row: Row
    outcome: Gated
    more_runs: int | None
    """How many more runs of each side would tell. None: it is told, or nobody knows."""
    by_rest: bool = False
    """Whether it is the change relative to the rest of the loop that decides."""


@dataclass(frozen=True)
class Gate:
    """All of them."""

    limit: float
    checks: Sequence[Check]

    @property
    def outcome(self) -> Gated:
        """One that fails decides, then one that cannot be told."""
        found = {each.outcome for each in self.checks}
        for decisive in (Gated.FAILS, Gated.CANNOT_TELL):
            if decisive in found:
                return decisive
        return Gated.PASSES

    @property
    def exit_code(self) -> int:
        """PASSED, FAILED or UNTOLD."""
        return _CODES[self.outcome]

    @property
    def more_runs(self) -> int | None:
        """How many more runs of each side tell all of it; None: not known."""
        untold = [each.more_runs for each in self.checks if each.outcome == Gated.CANNOT_TELL]
        known = [each for each in untold if each is not None]
        return max(known) if known and len(known) == len(untold) else None


def judge(comparison: Comparison, limit: float) -> Gate:
    """The loop, and the operations that are at least difference_verdicts.GATED_SHARE of it on a
    side. Operations that one side lacks have no change: the loop has their time."""
    large = [
        row
        for row in comparison.operations
        if row.share >= difference_verdicts.GATED_SHARE and not row.only
    ]
    checks = [_check(comparison.loop, limit)]
    checks += [_by_rest(comparison, row, limit) or _check(row, limit) for row in large]
    told = _check(comparison.mean_loop, limit)
    # What disturbs a loop hides much of its mean, which fails a gate only where it is told.
    return Gate(limit, [*checks, *([told] if told.outcome == Gated.FAILS else [])])


def _check(row: Row, limit: float) -> Check:
    found = row.difference
    if found is None:
        return Check(row, Gated.CANNOT_TELL, None)
    reach = math.expm1(found.reach) if found.reach < math.inf else math.inf
    outcome = difference_verdicts.of_gate(found.change, found.low, found.high, reach, limit)
    untold = outcome == Gated.CANNOT_TELL
    return Check(row, outcome, found.runs_to_tell(limit) if untold else None)


def _by_rest(comparison: Comparison, row: Row, limit: float) -> Check | None:
    """An operation that fails relative to the rest of the loop. Where the loop became faster, that
    may be all that the others did."""
    found = row.relative
    if found is None or comparison.loop.verdict == Verdict.FASTER:
        return None
    if found.verdict != Verdict.SLOWER or found.difference.change < limit:
        return None
    return Check(row, Gated.FAILS, None, by_rest=True)

"""--rollup before there is anything to roll up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlscope.record.iteration_keeper import KeptIterations
from rlscope.record.rollup import RollUp


def test_a_turn_before_any_process_records_does_nothing(tmp_path: Path) -> None:
    """As while a launcher runs that cannot be recorded."""
    (tmp_path / "trace").mkdir()
    nothing: Any = None  # a drainer that is not asked
    kept = KeptIterations(str(tmp_path), [], max_size=0, min_free=0, say=print)
    roll = RollUp(str(tmp_path), nothing, 60.0, 0, print, kept)
    roll._turn(is_large=False)
    assert list((tmp_path / "trace").iterdir()) == []

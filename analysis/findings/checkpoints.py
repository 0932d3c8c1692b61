"""The loop writes its state to disk more often than it is likely to be needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import groups
from rlscope.analysis.critical_loop import Loop, states
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import files_beside, of_functions

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_SAVING = "saving"
# Functions of libraries that write a state: one library is one row.
_SAVES = (
    r".*/torch/serialization\.py:save",
    r".*/torch/distributed/checkpoint/state_dict_saver\.py:(async_)?save",
    r".*/safetensors/(torch|numpy)\.py:save(_file|_model)?",
    r".*/numpy/lib/_?npyio(_impl)?\.py:_?save(z|z_compressed)?",
    r".*/joblib/numpy_pickle\.py:dump",
    r".*/stable_baselines3/common/base_class\.py:BaseAlgorithm\.save",
)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    found = of_functions(trace, loop, _SAVES)
    if found is None:
        return
    # All of the operation that rlscope finds for it is exact.
    time = found.time.at_least(_saving_ns(trace, loop))
    # Files are often renamed, flushed or removed by the lines around.
    time = time.plus(files_beside(trace, loop, found))
    yield Finding(
        title=f"saving takes {share(time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{found.readings} readings of the loop's stack lie in functions that save. "
        "Other lines of the same function that handle files are counted, too.",
        evidence_sql=found.evidence_sql,
        fix="Save a tenth as often, or let a thread write a copy.",
        no_effect="No effect where the loop already saves only once, at its end.",
        price=time.part(0.8, 0.9, 1.0),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


def _saving_ns(trace: Trace, loop: Loop) -> int:
    """Time of the loop in operations that save."""
    paths = groups.paths_in(trace, loop.process_id, _SAVING)
    rows = states(trace, loop).to_dicts()
    return sum(row["duration_ns"] for row in rows if row["operation"] in paths)


RULE = Rule(_find, of_lines=True)

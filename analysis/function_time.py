"""Time in calls of functions that a rule of analysis/findings knows, and the lines that led there.

found = of_functions(trace, loop, (r".*/torch/serialization\\.py:save",))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlscope.analysis import finding_verdicts, lines, statement
from rlscope.analysis.called_functions import rows_of_calls
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import Source, source_of

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.relations.trace import Trace

NETWORKS = (r".*/torch/nn/modules/module\.py:Module\.(_wrapped)?_call_impl",)
"""What calls a network: one library is one row."""
KERAS_LAYERS = (r".*keras/(src/)?(layers/layer|engine/base_layer)\.py:Layer\.__call__",)
OBJECT_COPIES = (
    r".*/copy\.py:deepcopy",
    r".*/dataclasses\.py:asdict",
    r".*/json/__init__\.py:dumps?",
    r".*/json/encoder\.py:.*",
    r".*/yaml/__init__\.py:(safe_)?dump(_all)?",
    r".*/pprint\.py:.*",
)
"""What goes through all that an object holds."""
LOGGING_LIBRARIES = (
    r".*/logging/__init__\.py:(Logger|LoggerAdapter)\..*",
    r".*/csv\.py:DictWriter\..*",
    r".*/torch/utils/tensorboard/.*",
    r".*/tensorboardX/.*",
    r".*/tensorflow/python/ops/summary_ops_v2\.py:.*",
    r".*/wandb/.*",
    r".*/mlflow/.*",
    r".*/comet_ml/.*",
    r".*/loguru/.*",
    r".*/tqdm/std\.py:tqdm\.(set_\w+|refresh|display|update|write)",
    r".*/stable_baselines3/common/logger\.py:.*",
)
"""What libraries log with: one library is one row."""
_STATEMENT = "findings/library_function"
# What handles files, in the standard library.
_FILE_CALLS = frozenset(
    "close dump dumps flush fsync open readlines remove rename replace unlink write writelines"
    " writerow writerows".split()
)


@dataclass(frozen=True)
class FunctionTime:
    """Time of the loop in calls of some functions."""

    time: Price
    file: str
    """The file, and below the number, of the line that led to most of it."""
    line: int
    operation: str
    """That has most of it."""
    operations: frozenset[str]
    """All that have some of it."""
    places: frozenset[tuple[str, int]]
    """File and number of each line that led there."""
    readings: int
    evidence_sql: str


def of_functions(
    trace: Trace,
    loop: Loop,
    functions: Sequence[str],
    operations: Sequence[str] | None = None,
    where: Callable[[Source, int], bool] | None = None,
    *,
    waits: bool = False,
) -> FunctionTime | None:
    """`functions`: regular expressions, each of a file, a colon and a function. `operations`: the
    paths in which they count; None: all. `where`: says of the text of a file and a line whether
    calls count to which the line led; None: all do. `waits`: whether waits are time, too. The
    answer is None if no line of the program's own led to a call, or if too few readings say so."""
    if operations is not None and not operations:
        return None
    asked = {
        "process_id": loop.process_id,
        "functions": list(functions),
        "operations": list(operations or ()),
        "waits": waits,
    }
    rows = rows_of_calls(trace, _STATEMENT, **asked)
    if where is not None:
        rows = [row for row in rows if where(source_of(trace, row["file"]), row["line"])]
    if not finding_verdicts.are_readings_enough(sum(row["readings"] for row in rows)):
        return None
    return FunctionTime(
        time=estimate_of(rows),
        file=rows[0]["file"],
        line=rows[0]["line"],
        operation=rows[0]["operation"],
        operations=frozenset(row["operation"] for row in rows),
        places=frozenset((row["file"], row["line"]) for row in rows),
        readings=sum(row["readings"] for row in rows),
        evidence_sql=statement.shown(_STATEMENT, **asked),
    )


def time_of_functions(
    trace: Trace,
    loop: Loop,
    functions: Sequence[str],
    places: Container[tuple[str, int]],
    *,
    waits: bool = False,
) -> Price:
    """Time in calls of functions, as `of_functions` takes them, to which some lines led."""
    asked = {"process_id": loop.process_id, "functions": list(functions)}
    asked |= {"operations": [], "waits": waits}
    rows = rows_of_calls(trace, _STATEMENT, **asked)
    return estimate_of([row for row in rows if (row["file"], row["line"]) in places])


def estimate_of(rows: Sequence[Mapping[str, Any]]) -> Price:
    """The sum of rows with own_ns, below_ns2 and above_ns2."""
    own_ns = sum(row["own_ns"] for row in rows)
    below_ns = math.sqrt(sum(row["below_ns2"] for row in rows))
    above_ns = math.sqrt(sum(row["above_ns2"] for row in rows))
    return Price(own_ns, max(own_ns - below_ns, 0.0), own_ns + above_ns)


def ns_by_file(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The own time of rows of lines, by file: to read a file takes longer than to ask this."""
    found: dict[str, float] = {}
    for row in rows:
        found[row["file"]] = found.get(row["file"], 0.0) + row["own_ns"]
    return found


def time_of_line(rows: Sequence[Mapping[str, Any]], row: Mapping[str, Any]) -> Price:
    """The sum of rows of the same line as one of them, which has one for each operation."""
    place = row["file"], row["line"]
    return estimate_of([each for each in rows if (each["file"], each["line"]) == place])


def made_ready(trace: Trace, loop: Loop, found: FunctionTime) -> Price:
    """Python's own time in the lines that led to calls: it makes what these are given."""
    rows = lines.python_lines(trace, process_id=loop.process_id)
    return estimate_of([row for row in rows if (row["file"], row["line"]) in found.places])


def written_beside(
    trace: Trace, loop: Loop, place: tuple[str, int], operations: Sequence[str] = ()
) -> Price:
    """Other time of the function around a line (file and number), at lines that handle files.
    `operations`: the paths in which it counts; none: in all."""
    return calls_beside(trace, loop, place, _FILE_CALLS, operations)


def files_beside(
    trace: Trace, loop: Loop, found: FunctionTime, operations: Sequence[str] = ()
) -> Price:
    """The same around the line that led to most calls, without lines that led to any."""
    place = found.file, found.line
    return calls_beside(trace, loop, place, _FILE_CALLS, operations, but=found.places)


def time_of_function(trace: Trace, loop: Loop, place: tuple[str, int]) -> float:
    """All time of the program's own function around a line, with what it calls. 0: there is
    none."""
    file, line = place
    first, last = source_of(trace, file).function_at(line) or (1, 0)
    return time_with_callees(trace, loop, file, range(first, last + 1))


def time_with_callees(trace: Trace, loop: Loop, file: str, lines: Container[int]) -> float:
    """Time of some lines of a file, in all operations, with what they call."""
    asked = {"process_id": loop.process_id, "file": file}
    rows = statement.run(trace, "findings/line_operation", **asked).to_dicts()
    return float(sum(row["total_ns"] for row in rows if row["line"] in lines))


def calls_beside(
    trace: Trace,
    loop: Loop,
    place: tuple[str, int],
    names: Container[str] | None,
    operations: Sequence[str] = (),
    but: Container[tuple[str, int]] = (),
) -> Price:
    """Time of the function around a line, or of what lies in none, at lines that call functions of
    some names, `but` at some places. None: at all lines of the function."""
    file, line = place
    source = source_of(trace, file)
    function = source.function_node(line)
    if function is None and names is None:
        return Price(0, 0, 0)
    rows = statement.run(
        trace, "findings/own_line", process_id=loop.process_id, operations=list(operations)
    ).to_dicts()
    return estimate_of(
        [
            row
            for row in rows
            if row["file"] == file
            and (file, row["line"]) not in but
            and source.function_node(row["line"]) is function
            and (names is None or source.calls_any(row["line"], names))
        ]
    )

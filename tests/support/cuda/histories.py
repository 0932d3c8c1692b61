"""What a process did with CUDA, twice: as its trace has it, and as the truth file and the stamps of
the process have it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from support.cuda.boundaries import NS_TOLERATED, Row
from support.cuda.breakdown import History, Span
from support.cuda.runs import CudaRun, expected_calls, paired_work

STAMPED_OPERATION = """
import atexit, json
from contextlib import contextmanager
import rlscope as rls

stamps, here = [], threading.local()
atexit.register(lambda: print(json.dumps(stamps)))

@contextmanager
def operation(name):
    path = here.path = [*getattr(here, "path", []), name]
    stamp = [threading.get_native_id(), "/".join(path), time.monotonic_ns()]
    with rls.operation(name):
        stamp.append(time.monotonic_ns())
        yield
        stamp.append(time.monotonic_ns())
    stamps.append([*stamp, time.monotonic_ns()])
    here.path = path[:-1]
"""
"""Operations whose begin and end a script brackets by readings of its own."""

BUSY = ("kernel", "memcpy", "peer_memcpy", "memset", "graph")
Operation = tuple[int, int, str]


@dataclass
class Histories:
    """Both, and the spans of time between a boundary of the one and that of the other."""

    recorded: History
    true: History
    disputes: list[Span]


def histories(run: CudaRun, pid: int) -> Histories:
    """The histories of a process that is the only one of its trace."""
    (process,) = run.query("SELECT * FROM process")
    python = (process["python_start_ns"] or 0, process["python_end_ns"] or 0)
    span = (process["start_ns"], process["end_ns"])
    empty = History(pid, span, python, operations={}, calls={}, work=[])
    result = Histories(replace(empty), replace(empty), [])
    _add_calls(run, result)
    _add_work(run, result)
    _add_operations(run, result)
    return result


def _add_calls(run: CudaRun, result: Histories) -> None:
    recorded = run.calls(result.true.main)
    calls: list[dict[int, list[Span]]] = [defaultdict(list), defaultdict(list)]
    for correlation, truth in expected_calls(run, result.true.main).items():
        for row, found in zip((recorded[correlation], truth), calls, strict=True):
            found[row["tid"]].append((row["start_ns"], row["end_ns"]))
        result.disputes += _between(recorded[correlation], truth)
    result.recorded.calls, result.true.calls = calls


def _add_work(run: CudaRun, result: Histories) -> None:
    pairs = [pair for pair in paired_work(run, result.true.main) if pair[1]["kind"] in BUSY]
    for record, truth in pairs:
        result.disputes += _between(record, truth)
    result.recorded.work = [_work(record) for record, _ in pairs]
    result.true.work = [_work(truth) for _, truth in pairs]


def _add_operations(run: CudaRun, result: Histories) -> None:
    recorded = run.query("""
        SELECT os_tid AS tid, path, i.start_ns, i.start_ns + i.duration_ns AS end_ns
        FROM operation_instance i JOIN operation USING (operation_id)
        JOIN thread USING (process_id, thread_id)""")
    stamped = _stamped(run)
    result.recorded.operations = _by_thread(recorded)
    result.true.operations = _by_thread(stamped)
    assert len(recorded) == len(stamped)
    for row, truth in zip(sorted(recorded, key=_order), sorted(stamped, key=_order), strict=True):
        assert (row["tid"], row["path"]) == (truth["tid"], truth["path"])
        for side in ("start_ns", "end_ns"):
            assert abs(row[side] - truth[side]) <= truth["width_ns"] + NS_TOLERATED
        result.disputes += _between(row, truth)


def _stamped(run: CudaRun) -> list[Row]:
    """What the script printed last: operations from amid the readings around their begins to amid
    those around their ends; width_ns is the farthest that either may be from there."""
    lines = run.outcome.out.splitlines()
    stamps = json.loads(lines[-1]) if lines and lines[-1].startswith("[") else []
    return [
        {
            "tid": tid,
            "path": path,
            "start_ns": (before + inside) // 2,
            "end_ns": (leaving + after) // 2,
            "width_ns": max(inside - before, after - leaving),
        }
        for tid, path, before, inside, leaving, after in stamps
    ]


def _by_thread(rows: list[Row]) -> dict[int, list[Operation]]:
    found = defaultdict(list)
    for row in sorted(rows, key=_order):
        found[row["tid"]].append((row["start_ns"], row["end_ns"], row["path"]))
    return found


def _order(row: Row) -> tuple[int, int, int]:
    return (row["tid"], row["start_ns"], -row["end_ns"])


def _work(row: Row) -> tuple[int, int, int]:
    return (row["device"], row["start_ns"], row["end_ns"])


def _between(one: Row, other: Row) -> Iterator[Span]:
    for side in ("start_ns", "end_ns"):
        yield min(one[side], other[side]), max(one[side], other[side])

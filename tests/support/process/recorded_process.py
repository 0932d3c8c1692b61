"""What a recorded child wrote, as the plain values that the brute-force twin computes from."""

from __future__ import annotations

from typing import Any

from ground_truth import brute, compare, swept
from ground_truth.raw import NAMED, Item, Kind, RawProcess, RawThread

from rlscope import _trace
from support.process.recorded_child import Recorded

THREAD_BEGIN, WAIT = 10, 14
RELATIONS = ("breakdown", "breakdown_by_thread", "transition", "native_call", "loss")


def difference(trace: Recorded, process: int = 0) -> str | None:
    """How the sweep of a real trace differs from brute force over its items; None: not at all."""
    from pathlib import Path

    index = trace.process(process)["index"]
    found = swept.read(Path(trace.directory), index)
    return compare.first_difference(found, brute.tables(as_raw(trace, index)), RELATIONS)


def as_raw(trace: Recorded, index: int) -> RawProcess:
    row = trace.reader.processes[index]
    names = trace.reader.names(index)
    texts = dict(zip(map(int, names["id"]), map(str, names["text"]), strict=True))
    return RawProcess(
        start_ns=row["start_ns"],
        end_ns=row["end_ns"],
        python_begin_ns=row["python_begin_ns"],
        python_end_ns=row["python_end_ns"],
        threads=_threads(trace, index, texts),
        function_layers={
            str(text): _trace.LAYERS[int(layer)]
            for text, layer in zip(names["text"], names["layer"], strict=True)
        },
    )


def _threads(trace: Recorded, index: int, texts: dict[int, str]) -> list[RawThread]:
    columns = trace.reader.threads(index)
    os_pid = trace.reader.processes[index]["os_pid"]
    rows = zip(columns["thread"], columns["os_tid"], columns["is_python"], strict=True)
    return [
        RawThread(
            items=_items(trace.reader.items(index, int(number)), texts),
            main=int(os_tid) == os_pid,
            is_python=bool(is_python),
        )
        for number, os_tid, is_python in rows
    ]


def _items(columns: Any, texts: dict[int, str]) -> list[Item]:
    items: list[Item] = []
    operations: list[str] = []
    fields = (columns["time_ns"], columns["kind"], columns["id"], columns["duration_ns"])
    for time, kind, number, duration in zip(*fields, strict=True):
        if kind == WAIT:
            continue
        if kind == THREAD_BEGIN:  # lives from here; to a thread nothing else
            items.append(Item(int(time), Kind.TASK))
            continue
        name = texts.get(int(number), "") if kind in NAMED else ""
        if kind == Kind.ENTER:
            operations.append(name)
        elif kind == Kind.EXIT:  # of the innermost one, it carries no name
            name = operations.pop() if number == 0 else name
        automatic = int(number) if kind == Kind.ITERATION else 0
        items.append(Item(int(time), Kind(kind), name, int(duration), automatic))
    return items

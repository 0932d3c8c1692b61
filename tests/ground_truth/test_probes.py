"""Probes change nothing: a trace has the rows that it has without them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hypothesis import given

from ground_truth.compare import first_difference
from ground_truth.missing import forwards
from ground_truth.profiles import share
from ground_truth.raw import Item, Kind, RawProcess, RawThread, call, enter, leave
from ground_truth.relations import RELATIONS, Rows
from ground_truth.strategies import processes
from ground_truth.swept import sweep

PROBES = (Kind.PROBE_RECORD, Kind.PROBE)


def _without(items: Sequence[Item]) -> list[Item]:
    return [item for item in items if item.kind not in PROBES]


def _with(items: Sequence[Item]) -> Iterator[Item]:
    """A probe behind each item, where that ends."""
    for item, placed in zip(items, forwards(items), strict=True):
        yield item
        if item.kind is not Kind.THREAD_END:
            for kind in PROBES:
                yield Item(placed.end_ns, kind, number=5)


def _probed(thread: RawThread) -> RawThread:
    return replace(thread, items=list(_with(thread.items)))


def _rows(process: RawProcess) -> Rows:
    """All but how many probes there were, and how many times had to be moved: those of probes are
    among them."""
    rows = sweep(process)
    left_out = {"loss": "clamped", "bookkeeping": "probe", "bookkeeping_by_thread": "probe"}
    return {
        **rows,
        **{
            name: [row for row in rows[name] if row.kind != kind]  # type: ignore[attr-defined]
            for name, kind in left_out.items()
        },
    }


@share(0.5)
@given(processes())
def test_rows_are_those_without_probes(process: RawProcess) -> None:
    # What is lost of a thread is counted in items.
    bare = [replace(t, items=_without(t.items), missing=None) for t in process.threads]
    expected = _rows(replace(process, threads=bare))
    found = _rows(replace(process, threads=[_probed(thread) for thread in bare]))
    difference = first_difference(found, expected, RELATIONS)
    assert difference is None, f"with - / + without probes: {difference}"


def test_probes_among_many_calls_change_nothing() -> None:
    """The row of calls that the sweep writes at once ends at a probe and goes on behind it."""
    calls = [call(10 * number, 10 * number + 4, "matmul") for number in range(1, 501)]
    items = [enter(1, "train"), *calls, leave(6000, "train")]
    bare = RawProcess(end_ns=7000, threads=[RawThread(items=items)])
    probed = replace(bare, threads=[_probed(bare.threads[0])])
    found = _rows(probed)
    assert first_difference(found, _rows(bare), RELATIONS) is None
    assert [row.calls for row in found["native_call"]] == [500]

"""The rows of the relations `wait` and `wait_peer`: what for, and in which processes the other end
is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

# Columns of _Row, after the process.
_COLUMNS = ("stage", "thread_id", "kind", "object", "function", "operation", "source", "count",
            "duration_ns", "self_ns")  # fmt: skip

# Columns of _Target.
_TARGET = ("process_id", "kind", "object", "function")

# What has another end, which another thread of the process may use.
_WITH_ENDS = ("pipe", "socket")
_PAIR = "socketpair "
_READING = ("read", "recv", "accept", "poll")


class _Target(NamedTuple):
    """What a process waits for."""

    process: int
    kind: str
    object: str | None
    function: str


class _Row(NamedTuple):
    process: int
    stage: str
    thread_id: int
    kind: str
    object: str | None
    function: str
    operation: str
    source: str | None
    calls: int
    duration_ns: int
    self_ns: int

    @property
    def target(self) -> _Target:
        return _Target(self.process, self.kind, self.object, self.function)


class _Use(NamedTuple):
    """A process that calls functions on an object."""

    process: int
    reads: bool


class Waits:
    """Waits of all processes, gathered until every process is known."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []
        self._hosts: dict[int, int] = {}
        self._pids: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
        self._uses: defaultdict[tuple[int, str, str], set[_Use]] = defaultdict(set)
        self._other_ends: dict[tuple[int, str], str] = {}

    def add(
        self, process: Mapping[str, Any], host: int, names: Sequence[str], rows: Mapping[str, Any]
    ) -> None:
        """`rows`: stage, thread_id, wait, operation (path), source, count, duration_ns, self_ns."""
        index = process["index"]
        self._hosts[index] = host
        self._pids[host, str(process["os_pid"])].append(index)
        for text in names:
            if text.startswith(_PAIR):
                one, _, other = text.removeprefix(_PAIR).partition(" ")
                self._other_ends[host, one] = other
                self._other_ends[host, other] = one
        for row in _rows(index, rows):
            self._rows.append(row)
            if row.object is not None:
                use = _Use(index, _is_reading(row.function))
                self._uses[host, row.kind, row.object].add(use)

    def columns(self) -> dict[str, list[Any]]:
        """The relation `wait`, of all processes."""
        peers = self._peers_by_target()
        found = [(*row, _only(peers[row.target])) for row in self._rows]
        return _columns(("process_id", *_COLUMNS, "peer_process_id"), found)

    def peer_columns(self) -> dict[str, list[Any]]:
        """The relation `wait_peer`, of all processes."""
        peers = self._peers_by_target()
        found = [(*target, peer) for target in peers for peer in peers[target]]
        return _columns((*_TARGET, "peer_process_id"), sorted(found))

    def giving(self) -> set[int]:
        """Processes that another one may get something from: it shares a pipe, a socket or a
        semaphore with them, and they do more than read what it sends."""
        others = {
            target: peers - {target.process}
            for target, peers in self._peers_by_target().items()
            if target.kind != "process"
        }
        senders: defaultdict[int, set[int]] = defaultdict(set)
        for target, peers in others.items():
            if target.kind == "pipe" and _is_reading(target.function):
                senders[target.process] |= peers
        return {
            target.process
            for target, peers in others.items()
            if peers and not _only_reads(target, peers <= senders[target.process])
        }

    def _peers_by_target(self) -> dict[_Target, set[int]]:
        return {target: self._peers(target) for target in {row.target for row in self._rows}}

    def _peers(self, target: _Target) -> set[int]:
        """The others at the other end; the process itself where it alone uses that."""
        found = set(self._at_other_end(target))
        others = found - {target.process}
        return others if others or target.kind not in _WITH_ENDS else found

    def _at_other_end(self, row: _Target) -> Iterator[int]:
        host = self._hosts[row.process]
        if row.object is None:
            return
        if row.kind == "process":
            yield from self._pids[host, row.object]
        elif row.kind == "socket":
            other = self._other_ends.get((host, row.object), "")
            yield from (use.process for use in self._uses.get((host, "socket", other), ()))
        elif row.kind == "pipe":
            reads = _is_reading(row.function)
            uses = self._uses[host, "pipe", row.object]
            yield from (use.process for use in uses if use.reads != reads)
        elif row.kind == "semaphore":
            yield from (use.process for use in self._uses[host, "semaphore", row.object])


def _only(found: set[int]) -> int | None:
    return next(iter(found)) if len(found) == 1 else None


def _columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _rows(process: int, columns: Mapping[str, Any]) -> Iterator[_Row]:
    names = ("stage", "thread_id", "wait", "operation", "source", "count", "duration_ns", "self_ns")
    for stage, thread, text, operation, source, *numbers in zip(
        *(_list(columns[name]) for name in names), strict=True
    ):
        what, _, function = text.partition("|")
        kind, _, found = what.partition(" ")
        yield _Row(
            process, stage, thread, kind, found or None, function, operation, source, *numbers
        )


def _only_reads(target: _Target, is_of_senders: bool) -> bool:
    """Whether a use says no more than that the process reads a pipe. The reader of a queue also
    releases a semaphore, by which those that send know that there is room."""
    if target.kind == "pipe":
        return _is_reading(target.function)
    releases = target.function.rpartition(".")[2] == "release"
    return target.kind == "semaphore" and releases and is_of_senders


def _is_reading(function: str) -> bool:
    name = function.rpartition(".")[2]
    return name.startswith(_READING)


def _list(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)

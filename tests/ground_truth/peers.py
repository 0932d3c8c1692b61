"""The twins of who was waited for (semantics.md, Waits): one looks at each call of each process and
asks of every other call whether it is the other end, the other joins calls in SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import duckdb

from ground_truth.raw import Kind, RawProcess

READS = (
    "posix.read",
    "posix.readv",
    "_io.FileIO.readinto",
    "select.poll.poll",
    "_socket.socket.recv_into",
)
WRITES = ("posix.write", "posix.sendfile", "_io.FileIO.write", "_socket.socket.sendall")
SEMAPHORES = ("_multiprocessing.SemLock.acquire", "_multiprocessing.SemLock.release")


@dataclass(frozen=True)
class PeerRules:
    """As ground_truth.rules: the first value is right."""

    pipe: Literal["the other direction", "any", "the same direction"] = "the other direction"
    socket: Literal["the other of the pair", "the same"] = "the other of the pair"
    semaphore: Literal["any other", "one that releases"] = "any other"
    child: Literal["by its pid", "by any object"] = "by its pid"
    itself: Literal["alone on a pipe or socket", "never", "alone", "always"] = (
        "alone on a pipe or socket"
    )
    several: Literal["all", "none", "the first"] = "all"
    kinds: Literal["apart", "together"] = "apart"
    machines: Literal["apart", "together"] = "apart"


RIGHT = PeerRules()


class Wait(NamedTuple):
    """A wait of a process, given by its place in the run; `object` "" where it has none."""

    process: int
    kind: str
    object: str
    function: str


Peers = dict[Wait, frozenset[int]]


def waits(processes: Sequence[RawProcess]) -> set[Wait]:
    """The waits among all calls of all processes."""
    found = set()
    for place, process in enumerate(processes):
        for thread in process.threads:
            for item in thread.items:
                if item.kind is Kind.CALL:
                    what, function = item.name.split("|")
                    kind, number = what.split(" ") if " " in what else (what, "")
                    found.add(Wait(place, kind, number, function))
    return found


def peers(processes: Sequence[RawProcess], rules: PeerRules = RIGHT) -> Peers:
    """Which processes each wait is for."""
    return {
        wait: frozenset(_counted(wait, set(_others(processes, wait, rules)), rules))
        for wait in waits(processes)
    }


def _counted(wait: Wait, found: set[int], rules: PeerRules) -> set[int]:
    if rules.several == "none" and len(found - {wait.process}) > 1:
        return set()
    if rules.several == "the first":
        found = {min(found - {wait.process} or found)} if found else found
    others = found - {wait.process}
    alone = {"never": (), "alone": (wait.kind,)}.get(rules.itself, ("pipe", "socket"))
    if rules.itself == "always" or (not others and wait.kind in alone):
        return found
    return others


def _others(processes: Sequence[RawProcess], wait: Wait, rules: PeerRules) -> Iterator[int]:
    """Processes at the other end of what is waited for."""
    near = [
        place
        for place, process in enumerate(processes)
        if process.host == processes[wait.process].host or rules.machines == "together"
    ]
    if wait.kind == "process" or (rules.child == "by any object" and wait.object):
        yield from (place for place in near if processes[place].os_pid == int(wait.object))
    pairs = [pair for place in near for pair in processes[place].socket_pairs]
    for other in waits(processes):
        if other.process in near and _is_other_end(wait, other, pairs, rules):
            yield other.process


def _is_other_end(
    wait: Wait, other: Wait, pairs: Sequence[tuple[int, int]], rules: PeerRules
) -> bool:
    if wait.kind != other.kind and (rules.kinds == "apart" or "" in (wait.object, other.object)):
        return False
    if wait.kind == "pipe":
        is_opposite = (wait.function in READS) != (other.function in READS)
        wanted = {"the other direction": [True], "the same direction": [False]}
        return wait.object == other.object and is_opposite in wanted.get(rules.pipe, [True, False])
    if wait.kind == "socket":
        if rules.socket == "the same":
            return wait.object == other.object
        ends = {(str(one), str(two)) for one, two in pairs}
        return not ends.isdisjoint({(wait.object, other.object), (other.object, wait.object)})
    if wait.kind == "semaphore":
        releases = other.function.endswith("release") or rules.semaphore == "any other"
        return wait.object == other.object and releases
    return False


_PEERS = """
WITH one_end AS (
    SELECT host, one, two FROM pair UNION SELECT host, two, one FROM pair
), other_end AS (
    SELECT w.*, o.process AS peer FROM wait AS w JOIN wait AS o
        ON o.host = w.host AND o.kind = w.kind AND o.object = w.object
    WHERE w.kind = 'semaphore' OR (w.kind = 'pipe' AND o.reads <> w.reads)
    UNION
    SELECT w.*, o.process FROM wait AS w JOIN one_end AS e ON e.host = w.host AND e.one = w.object
        JOIN wait AS o ON o.host = w.host AND o.kind = 'socket' AND o.object = e.two
    WHERE w.kind = 'socket'
    UNION
    SELECT w.*, p.process FROM wait AS w
        JOIN process AS p ON p.host = w.host AND p.pid = w.object
    WHERE w.kind = 'process'
)
SELECT w.process, w.kind, w.object, w.function,
    COALESCE(
        LIST(DISTINCT peer) FILTER (peer <> w.process),
        LIST(DISTINCT peer) FILTER (w.kind IN ('pipe', 'socket') AND peer IS NOT NULL),
        [])
FROM wait AS w LEFT JOIN other_end USING (process, kind, object, function)
GROUP BY ALL
"""


def in_sql(processes: Sequence[RawProcess]) -> Peers:
    rows = [
        (*wait, processes[wait.process].host, wait.function in READS) for wait in waits(processes)
    ]
    pairs = [
        (process.host, str(one), str(two))
        for process in processes
        for one, two in process.socket_pairs
    ]
    known = [(place, each.host, str(each.os_pid)) for place, each in enumerate(processes)]
    tables = {
        "wait (process INT, kind TEXT, object TEXT, function TEXT, host TEXT, reads BOOL)": rows,
        "pair (host TEXT, one TEXT, two TEXT)": pairs,
        "process (process INT, host TEXT, pid TEXT)": known,
    }
    with duckdb.connect(":memory:") as connection:
        for table, members in tables.items():
            connection.execute(f"CREATE TABLE {table}")
            if members:
                marks = ", ".join("?" * len(members[0]))
                name = table.partition(" ")[0]
                connection.executemany(f"INSERT INTO {name} VALUES ({marks})", members)
        found = connection.execute(_PEERS).fetchall()
    return {Wait(*row[:4]): frozenset(row[4]) for row in found}

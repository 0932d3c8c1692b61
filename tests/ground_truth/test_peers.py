"""Which process a wait is for: the relation `wait` and its twins agree."""

from __future__ import annotations

import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground_truth import peers
from ground_truth.mutants import Inputs
from ground_truth.peers import READS, RIGHT, SEMAPHORES, WRITES, PeerRules, Peers, Wait
from ground_truth.profiles import numbered, share
from ground_truth.raw import RawProcess, RawThread, call, enter, leave
from ground_truth.written import ORIGIN_NS, write
from rlscope.opening import load

NUMBERS = range(7, 11)  # of pids and of inodes, which may be the same
FUNCTIONS = {
    "pipe": [*READS, *WRITES],
    "socket": [*READS, *WRITES],
    "semaphore": SEMAPHORES,
    "process": ["posix.waitpid"],
}
OTHERS = ["lock|_thread.lock.acquire", "socket|_socket.socket.sendall"]
LAYERS = dict.fromkeys(
    [
        *OTHERS,
        *(
            f"{kind} {number}|{function}"
            for kind, functions in FUNCTIONS.items()
            for number in NUMBERS
            for function in functions
        ),
    ],
    "wait",
)

HOSTS = ["host", "far"]

Pair = tuple[int, int]
# An inode is one end of one pair.
pairings = st.permutations(NUMBERS).map(lambda ends: [(ends[0], ends[1]), (ends[2], ends[3])])


@st.composite
def palettes(draw: st.DrawFn) -> list[str]:
    """Calls on few objects, so that several processes have the same."""
    kinds = st.sampled_from([*FUNCTIONS])
    objects = draw(st.lists(st.tuples(kinds, st.sampled_from(NUMBERS)), min_size=1, max_size=3))
    if any(kind == "socket" for kind, _ in objects):
        objects += [("socket", number) for number in NUMBERS]  # both ends of pairs
    names = [f"{kind} {n}|{function}" for kind, n in objects for function in FUNCTIONS[kind]]
    return [*names, draw(st.sampled_from(OTHERS))]


def thread(start_ns: int, names: list[str], *, main: bool) -> RawThread:
    calls = [call(start_ns + 10 * n, start_ns + 10 * n + 7, name) for n, name in enumerate(names)]
    return RawThread([enter(start_ns, "work"), *calls, leave(start_ns + 80, "work")], main=main)


@st.composite
def runs(draw: st.DrawFn) -> list[RawProcess]:
    """Up to four processes. One of them may be a later image of the pid before it."""
    names = st.sampled_from(draw(palettes()))
    pairs: dict[str, list[Pair]] = {host: draw(pairings) for host in HOSTS}
    found: list[RawProcess] = []
    for place in range(draw(st.integers(1, 4))):
        before = found[-1] if found and draw(st.integers(0, 4)) == 0 else None
        host = before.host if before else draw(st.sampled_from(["host", *HOSTS]))
        start_ns = 100 * place
        found.append(
            RawProcess(
                start_ns=start_ns,
                end_ns=start_ns + 90,
                python_begin_ns=start_ns,
                os_pid=before.os_pid if before else NUMBERS[place],
                host=host,
                threads=[
                    thread(start_ns, draw(st.lists(names, max_size=5)), main=True),
                    thread(start_ns, draw(st.lists(names, max_size=2)), main=False),
                ],
                socket_pairs=draw(st.lists(st.sampled_from(pairs[host]), max_size=2)),
                function_layers=LAYERS,
            )
        )
    return found


def found(processes: list[RawProcess]) -> Peers:
    """What the trace says."""
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        write(processes, Path(folder) / "trace")
        with load(Path(folder) / "trace") as trace:
            starts = dict(trace.sql("SELECT process_id, start_ns FROM process"))
            rows = trace.table("wait").to_dicts()
            pairs = trace.table("wait_peer").to_dicts()
    places = {each.start_ns + ORIGIN_NS: place for place, each in enumerate(processes)}
    place_of = {each: places[start_ns] for each, start_ns in starts.items()}

    def wait_of(row: dict[str, Any]) -> Wait:
        place = place_of[row["process_id"]]
        return Wait(place, row["kind"], row["object"] or "", row["function"])

    told: dict[Wait, set[int]] = {wait_of(row): set() for row in rows}
    for row in pairs:
        told[wait_of(row)].add(place_of[row["peer_process_id"]])
    assert len(pairs) == sum(map(len, told.values()))
    for row in rows:  # the same for every thread and operation
        of_wait, peer = told[wait_of(row)], row["peer_process_id"]
        alone = of_wait if len(of_wait) == 1 else set()
        assert alone == (set() if peer is None else {place_of[peer]})
    return {wait: frozenset(each) for wait, each in told.items()}


@share(0.1)
@given(runs())
def test_who_was_waited_for_equals_brute_force(processes: list[RawProcess]) -> None:
    assert found(processes) == peers.peers(processes)


@share(0.2)
@given(runs())
def test_sql_equals_brute_force(processes: list[RawProcess]) -> None:
    assert peers.in_sql(processes) == peers.peers(processes)


NOTICING = (12, 6)
# How many the right rules are compared on: every case is among them.
AGREEING = 24
RUNS: Inputs[list[RawProcess], Peers] = Inputs(numbered(runs()), found, NOTICING, most=200)


def broken_rules() -> list[tuple[str, str]]:
    hints = get_type_hints(PeerRules)
    return [
        (field.name, value)
        for field in fields(PeerRules)
        for value in get_args(hints[field.name])
        if value != field.default
    ]


@pytest.mark.parametrize(("rule", "wrong"), broken_rules(), ids=str)
def test_a_broken_rule_is_noticed(rule: str, wrong: str) -> None:
    broken = PeerRules(**{rule: wrong})  # type: ignore[arg-type]
    assert RUNS.notice(lambda processes, right: peers.peers(processes, broken) == right)


def test_every_case_is_drawn() -> None:
    """The right rules agree on the same traces: each kind of object has a peer there, and none."""
    known = [*RUNS.pairs(AGREEING)]
    assert all(peers.peers(processes, RIGHT) == right for processes, right in known)
    answers = [(wait, each) for _, right in known for wait, each in right.items()]
    cases = {(wait.kind, bool(each)) for wait, each in answers}
    assert cases >= {(kind, has_peer) for kind in FUNCTIONS for has_peer in (True, False)}
    assert any(len(each) > 1 for _, each in answers)
    assert any(wait.process in each for wait, each in answers)

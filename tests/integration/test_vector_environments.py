"""Vectors of environments whose workers take known times: how long they step, pickle and are waited
for, and who is last.

The program and its workers read the clock around the same calls, and it is one clock for all. So
their readings are the truth, however busy the machine was. The two differ only where it takes the
core away between a reading of the program and the recorder's own: of each quantity the steps that
differ the most, one in 20, are left out.
"""

from __future__ import annotations

import itertools
import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.process.traced_python import TracedPython

import rlscope as rls
from rlscope.analysis import waits
from rlscope.opening import Trace
from rlscope.report import headline

pytestmark = pytest.mark.usefixtures("clean_environment")

WORKERS = 3
WORKER_NAMES = [f"env worker {number}" for number in range(WORKERS)]  # the last is the straggler
STEPS = {0.1: 400, 1: 150, 10: 40}  # by the milliseconds that a step takes
WARM_UP = 5  # steps that are not looked at
ALLOWED = 0.03
LEFT_OUT = 20  # one step in so many
SHORTEST_NS = 5000  # of a wait

PROGRAM = f"""
import json, pickle, sys, time
from multiprocessing import connection
import gymnasium, numpy

WORKERS, SHORTEST_NS = {WORKERS}, {SHORTEST_NS}
kind, seconds, STEPS = sys.argv[1], float(sys.argv[2]) / 1000, int(sys.argv[3])
now = time.perf_counter_ns
waited = []  # start and end of each read or write of a connection that took this long
pickled = []  # the same of each serialization

def timed(function):
    def call(*arguments):
        start = now()
        found = function(*arguments)
        end = now()
        if end - start >= SHORTEST_NS:
            waited.append((start, end))
        return found
    return call

class Pickler(connection._ForkingPickler):
    def dump(self, content):
        start = now()
        super().dump(content)
        pickled.append((start, now()))

    @staticmethod
    def loads(content):
        start = now()
        found = pickle.loads(content)
        pickled.append((start, now()))
        return found

connection._ForkingPickler = Pickler

def receive(self, size, read=timed(connection.os.read)):
    return receive_with(self, size, read)

def send(self, buffer, write=timed(connection.os.write)):
    return send_with(self, buffer, write)

receive_with, send_with = connection.Connection._recv, connection.Connection._send
connection.Connection._recv, connection.Connection._send = receive, send

class Timed(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (64,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, number):
        self.number, self.stepped, self.reset_took = number, [], None

    def reset(self, *, seed=None, options=None):
        start = now()
        found = numpy.zeros(64, numpy.float32), {{}}
        self.reset_took = start, now()
        return found

    def step(self, action):
        start = now()
        if self.number == 1:
            while now() - start < seconds * 1e9:
                pass
        else:
            time.sleep(seconds * (3 if self.number == WORKERS - 1 else 1))  # the last is slowest
        found = numpy.zeros(64, numpy.float32), 0.0, False, False, {{"past": tuple(range(40000))}}
        self.stepped.append((start, now()))
        if len(self.stepped) == STEPS:
            with open(f"env{{self.number}}.json", "w") as file:
                json.dump([self.reset_took, self.stepped, waited, pickled], file)
        return found

if __name__ == "__main__":
    makers = [lambda number=number: Timed(number) for number in range(WORKERS)]
    if kind == "gymnasium":
        envs = gymnasium.vector.AsyncVectorEnv(makers, context="fork")
    else:
        from stable_baselines3.common.vec_env import SubprocVecEnv
        envs = SubprocVecEnv(makers, start_method="fork")
    start = now()
    envs.reset()
    reset_took = start, now()
    actions, stepped = numpy.zeros(WORKERS, int), []
    for _ in range(STEPS):
        start = now()
        found = envs.step(actions)
        stepped.append((start, now()))
        del found
    with open("program.json", "w") as file:
        json.dump([reset_took, stepped, waited, pickled], file)
    envs.close()
"""

Span = tuple[int, int]


@dataclass(frozen=True)
class Times:
    """What one process did: its reset, the steps after it, its waits for another process, and what
    it serialized."""

    reset: Span
    steps: list[Span]
    waits: list[Span]
    pickled: list[Span]

    @property
    def calls(self) -> list[Span]:
        return [self.reset, *self.steps]


@dataclass(frozen=True)
class Run:
    trace: Trace
    read: dict[str, Times]
    """What each process read from the clock, by name."""
    recorded: dict[str, Times]
    """The same in the trace."""


def _run(traced: TracedPython, folder: Path, library: str, milliseconds: float) -> Iterator[Run]:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    arguments = (library, str(milliseconds), str(STEPS[milliseconds]))
    done = traced.run("-o", "run", traced.python, str(program), *arguments, cwd=folder, timeout=120)
    assert done.returncode == 0, done.stderr
    files = {"program.py": "program"}
    files |= {name: f"env{number}" for number, name in enumerate(WORKER_NAMES)}
    read = {}
    for name, file in files.items():
        reset, *spans = json.loads((folder / f"{file}.json").read_text())
        read[name] = Times(tuple(reset), *([(start, end) for start, end in each] for each in spans))
    with rls.load(folder / "run") as trace:
        recorded = {name: _recorded(trace, name) for name in files}
        yield Run(trace, read, recorded)


@pytest.fixture(
    scope="module",
    params=[
        *(pytest.param(("gymnasium", length), id=f"gymnasium-{length}ms") for length in STEPS),
        pytest.param(("stable_baselines3", 1), id="stable_baselines3-1ms"),
        *(
            pytest.param(
                ("stable_baselines3", length),
                id=f"stable_baselines3-{length}ms",
                marks=pytest.mark.slow,
            )
            for length in (0.1, 10)
        ),
    ],
)
def run(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    traced: TracedPython,
) -> Iterator[Run]:
    library, milliseconds = request.param
    pytest.importorskip(library)
    yield from _run(traced, tmp_path_factory.mktemp(library), library, milliseconds)


def _spans(trace: Trace, statement: str, name: str) -> list[Span]:
    return [(start, start + length) for start, length in trace.sql(statement, {"name": name})]


def _recorded(trace: Trace, name: str) -> Times:
    reset, *steps = _spans(
        trace,
        "SELECT operation_instance.start_ns, duration_ns FROM operation_instance"
        " JOIN process USING (process_id) JOIN operation USING (operation_id)"
        " WHERE process.name = $name AND path = 'simulation' ORDER BY ALL",
        name,
    )
    waited = _spans(
        trace,
        "SELECT event.start_ns, duration_ns FROM event JOIN process USING (process_id)"
        " WHERE process.name = $name AND event.kind = 'wait' ORDER BY ALL",
        name,
    )
    pickled = _spans(
        trace,
        "SELECT event.start_ns, duration_ns FROM event JOIN process USING (process_id)"
        " WHERE process.name = $name AND event.kind = 'call' AND layer = 'python' ORDER BY ALL",
        name,
    )
    return Times(reset, steps, waited, pickled)


def _inside(spans: Sequence[Span], start: int, end: int) -> int:
    """How much of the union of these spans lies between two times."""
    until, found = start, 0
    for first, last in sorted(spans):
        found += max(0, min(last, end) - max(first, until))
        until = max(until, last)
    return found


def _lengths(spans: Sequence[Span]) -> list[int]:
    return [end - start for start, end in spans]


# For each call of the program, its reset first:


def _waiting(times: dict[str, Times]) -> list[int]:
    """How long the program waited."""
    own = times["program.py"]
    return [_inside(own.waits, *span) for span in own.calls]


def _any(times: dict[str, Times]) -> list[int]:
    """How long at least one worker stepped."""
    every = zip(*(times[worker].calls for worker in WORKER_NAMES), strict=True)
    return [
        _inside(spans, *span) for span, spans in zip(times["program.py"].calls, every, strict=True)
    ]


def _late(times: dict[str, Times], worker: str) -> list[int]:
    """If this worker was the last one to end, by how long after the one before; else 0."""
    late = []
    for spans in zip(*(times[each].calls for each in WORKER_NAMES), strict=True):
        ends = [(end, name) for (_, end), name in zip(spans, WORKER_NAMES, strict=True)]
        *_, before, last = sorted(ends)
        late.append(last[0] - before[0] if last[1] == worker else 0)
    return late


def _beside_steps(times: Times) -> list[int]:
    """A worker's times from the end of each call to the start of the next, without its waits."""
    return [
        start - end - _inside(times.waits, end, start)
        for (_, end), (start, _) in itertools.pairwise(times.calls)
    ]


def _check(recorded: list[int], read: list[int], cost: float = 0) -> None:
    """The sums are within 3 % of each other, once the cost of records is taken out."""
    pairs = list(zip(recorded, read, strict=True))[WARM_UP:]
    pairs.sort(key=lambda pair: abs(pair[0] - pair[1]))
    del pairs[-len(pairs) // LEFT_OUT :]
    found, right = (sum(values) for values in zip(*pairs, strict=True))
    assert abs(found - cost * len(pairs) - right) <= ALLOWED * right


def test_steps_of_the_vector_and_waiting_in_them(run: Run) -> None:
    one, other = (_lengths(times["program.py"].steps) for times in (run.recorded, run.read))
    _check(one, other)
    _check(_waiting(run.recorded), _waiting(run.read))


def test_stepping_of_workers(run: Run) -> None:
    for worker in WORKER_NAMES:
        one, other = (_lengths(times[worker].steps) for times in (run.recorded, run.read))
        _check(one, other)
    _check(_any(run.recorded), _any(run.read))


def test_how_late_the_straggler_is(run: Run) -> None:
    _check(_late(run.recorded, WORKER_NAMES[-1]), _late(run.read, WORKER_NAMES[-1]))


def test_pickling_of_workers(run: Run) -> None:
    """In Python beside steps, in which a worker does little else."""
    statement = (
        "SELECT SUM(duration_ns), CAST(SUM(overhead_ns) AS DOUBLE) FROM breakdown"
        " JOIN process USING (process_id)"
        " WHERE name = $name AND stage = 'loop' AND operation = '(none)' AND layer = 'python'"
    )
    for worker in WORKER_NAMES:
        recorded, read = (_beside_steps(times[worker]) for times in (run.recorded, run.read))
        ((whole, cost),) = run.trace.sql(statement, {"name": worker})
        assert whole == sum(recorded)
        _check(recorded, read, cost / len(recorded))


def _pickling(times: Times) -> list[int]:
    """How long a process serialized from each of its calls to the next one."""
    edges = itertools.pairwise(start for start, _ in times.calls)
    return [_inside(times.pickled, *edge) for edge in edges]


def test_serialization(run: Run) -> None:
    for name in ("program.py", *WORKER_NAMES):
        one, other = (_pickling(times[name]) for times in (run.recorded, run.read))
        _check(one, other)


def test_the_report_adds_up_what_is_recorded(run: Run) -> None:
    recorded = run.recorded
    rows = waits.worker_steps(run.trace).to_dicts()
    assert {row["worker"] for row in rows} == set(WORKER_NAMES)
    for row in rows:
        own = recorded[row["worker"]]
        late = _late(recorded, row["worker"])
        expected = {
            "process": "program.py",
            "operation_ns": sum(_lengths(recorded["program.py"].calls)),
            "any_ns": sum(_any(recorded)),
            "stepped_ns": sum(_lengths(own.calls)),
            "late_ns": sum(late),
            "last": sum(ns > 0 for ns in late),
        }
        assert {name: row[name] for name in expected} == expected
    waited = waits.waited_for(run.trace).to_dicts()
    in_steps = sum(row["self_ns"] for row in waited if row["operation"] == "simulation")
    assert in_steps == sum(_waiting(recorded))


def test_the_sentences_name_the_straggler_and_for_whom_the_program_waits(run: Run) -> None:
    read = headline.read(run.trace)
    assert read.sentence.startswith("Simulation takes ")
    assert " of the training loop: " in read.sentence
    # On a busy machine the program may take longer to unpickle results than it waits for them.
    waiting = sum(_waiting(run.recorded)) / sum(_lengths(run.recorded["program.py"].calls))
    says = "waiting, mostly for 3 environment workers." in read.sentence
    assert says == (waiting > 0.5) or abs(waiting - 0.5) < 0.01
    texts = [each.text for each in read.details]
    (workers,) = (text for text in texts if text.startswith("program.py spends "))
    assert " in simulation. " in workers
    assert "at least one of its 3 environment workers steps" in workers
    stepped = {name: sum(_lengths(run.read[name].calls)) for name in WORKER_NAMES}
    *others, slowest = sorted(WORKER_NAMES, key=lambda name: stepped[name])
    excess = stepped[slowest] - statistics.median(stepped[name] for name in others)
    # Where pipes and waking up take nearly all of the time, a slow worker is no straggler.
    if excess > 0.1 * sum(_lengths(run.read["program.py"].calls)):
        assert any(text.startswith(f"{slowest} is the straggler: it steps for ") for text in texts)
    else:
        assert any("straggler" in text or "ends last" in text for text in texts)
    assert any(text.startswith("Shares leave out 3 environment workers;") for text in texts)

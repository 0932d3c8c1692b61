"""The bias of operations, from blocks and rows of a trace whose truth is known."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from rlscope.analysis import statement
from rlscope.calibration import operation_bias, validation
from rlscope.calibration.operation_bias import OperationBias, OperationsOfRun
from rlscope.calibration.validation import Round, judge_operations
from rlscope.rundir.stopwatch_file import OperationTime, RecordedBlock, TimedBlock
from rlscope.table import Table

PROCESS = 70
LENGTH = 2
ROUNDS = range(12)


class Trace:
    """Has recorded blocks of LENGTH iterations: those of block n end at 100 n + 20, ...

    `times` are nanoseconds of an entry, `entries` how many an iteration has.
    """

    def __init__(self, times: dict[str, int], entries: int = 1, removed: float = 0) -> None:
        keys = [(number, 100 * (number // LENGTH) + 20 + number % LENGTH) for number in range(24)]
        iterations = [
            {"os_pid": PROCESS, "process_id": 3, "iteration": number, "end_ns": end_ns}
            for number, end_ns in keys
        ]
        of = [(number, path) for number, _ in keys for path in times]
        common = [{"process_id": 3, "iteration": i, "operation": path} for i, path in of]
        self._rows = {
            "iteration_end": iterations,
            "iteration_time": [
                each | {"ns": times[each["operation"]] * entries} for each in common
            ],
            "iteration_entry": [each | {"entries": entries} for each in common],
            "removed_by_operation": [
                {"operation": path, "mean": removed, "low": removed / 2, "high": removed * 2}
                for path in times
            ],
        }

    def sql(self, query: str, parameters: Mapping[str, Any]) -> Table:
        assert parameters in ({}, {"os_pids": [PROCESS]})
        (rows,) = (rows for name, rows in self._rows.items() if statement.text(name) == query)
        return Table({key: [row[key] for row in rows] for key in (rows[0] if rows else ())})


def recorded() -> list[RecordedBlock]:
    return [RecordedBlock(PROCESS, n, LENGTH, 100 * n + 10, 100 * n + 50) for n in ROUNDS]


def timed(*times: OperationTime, rounds: range = ROUNDS, half_ns: float = 0) -> list[TimedBlock]:
    return [TimedBlock(PROCESS, n, 10_000, half_ns, times) for n in rounds]


def spent(name: str, ns: float, entries: int = LENGTH, *, of_loop: bool = True) -> OperationTime:
    return OperationTime(of_loop, (name,), ns, entries, 2 * entries)


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch) -> Any:
    def compare(
        trace: Trace, timed: list[TimedBlock], found: list[RecordedBlock] | None = None
    ) -> OperationsOfRun:
        @contextlib.contextmanager
        def load(directory: str) -> Iterator[Trace]:
            yield trace

        monkeypatch.setattr(operation_bias, "load", load)
        return operation_bias.compare("run", timed, recorded() if found is None else found)

    return compare


def test_an_entry_is_compared_with_an_entry(compare: Any) -> None:
    """130 ns in the trace, 100 without; the correction takes 20 of them."""
    trace = Trace({"a": 130}, removed=20)
    found = compare(trace, timed(spent("a", 200)))
    assert found.biases == {"a": OperationBias(*map(pytest.approx, (0.3, 0.2, 0.1, 0.4)), None)}
    assert (found.left_out, found.absent) == (frozenset(), None)
    more_often = compare(Trace({"a": 130}, entries=7, removed=20), timed(spent("a", 200)))
    assert more_often.biases == found.biases


def test_the_stopwatch_is_taken_out_of_what_it_says(compare: Any) -> None:
    found = compare(Trace({"a": 100}), timed(spent("a", 240), half_ns=10))
    assert found.biases["a"].added == pytest.approx(0)


def test_one_block_does_not_say_what_the_stopwatch_costs(compare: Any) -> None:
    """The median of the run does."""
    blocks = timed(spent("a", 240), half_ns=10)
    odd = TimedBlock(PROCESS, 0, 10_000, 1e6, blocks[0].times)
    assert compare(Trace({"a": 100}), [odd, *blocks[1:]]).biases["a"].added == pytest.approx(0)


def test_the_longest_is_first(compare: Any) -> None:
    trace = Trace({"a": 100, "b": 100})
    assert [*compare(trace, timed(spent("a", 200), spent("b", 300))).biases] == ["b", "a"]
    assert [*compare(trace, timed(spent("a", 300), spent("b", 200))).biases] == ["a", "b"]


def test_what_says_too_little_is_left_out_and_counted(compare: Any) -> None:
    brief = spent("brief", 9)  # of 10,000
    beside = spent("beside", 200, of_loop=False)
    trace = Trace({"a": 100, "brief": 4, "beside": 100, "seldom": 100})
    blocks = timed(spent("a", 200), brief, beside)
    blocks[:9] = timed(spent("a", 200), spent("seldom", 200), rounds=range(9))
    found = compare(trace, blocks)
    assert [*found.biases] == ["a"]
    assert found.left_out == {"brief", "beside", "seldom"}


def test_a_block_whose_iterations_are_not_in_the_trace_is_none(compare: Any) -> None:
    blocks = recorded()
    blocks[0] = RecordedBlock(PROCESS, 0, LENGTH + 1, blocks[0].start_ns, blocks[0].end_ns)
    trace = Trace({"a": 100})
    assert [*compare(trace, timed(spent("a", 200)), blocks).biases] == ["a"]
    found = compare(trace, timed(spent("a", 200)), blocks[:10])
    assert (found.biases, found.left_out) == ({}, {"a"})


def test_a_block_has_the_iterations_that_end_in_it(compare: Any) -> None:
    """One that ends as it begins is of the block before; one that ends with it is its own."""
    blocks = [RecordedBlock(PROCESS, n, 1, 100 * n + 20, 100 * n + 21) for n in ROUNDS]
    assert [*compare(Trace({"a": 100}), timed(spent("a", 200)), blocks).biases] == ["a"]


def test_why_there_are_none(compare: Any) -> None:
    trace = Trace({})
    assert compare(trace, timed()).absent == operation_bias.NO_OPERATIONS
    assert compare(trace, []).absent == operation_bias.NO_OPERATIONS
    tasks = [TimedBlock(PROCESS, n, 10_000, 0, None) for n in ROUNDS]
    assert compare(trace, tasks).absent == operation_bias.NOT_FOLLOWED


def test_the_control_compares_an_operation_with_itself(compare: Any) -> None:
    """Every other timed block takes a fifth longer: 120 ns against 100 ns, of one process."""
    trace = Trace({"a": 130})

    def blocks(process: int, count: int) -> list[TimedBlock]:
        return [
            TimedBlock(process, n, 10_000, 10, (spent("a", 240 + 40 * (n % 2 == 0)),))
            for n in range(count)
        ]

    assert compare(trace, blocks(PROCESS, 20)).biases["a"].control == pytest.approx(0.2)
    assert compare(trace, blocks(PROCESS, 19)).biases["a"].control is None
    # The last block of one process and the first one of another are no pair.
    for own, control in ((10, pytest.approx(0.2)), (11, None)):
        both = [*blocks(PROCESS, own), *blocks(PROCESS + 1, 20 - own)]
        assert operation_bias._control("a", operation_bias._by_stopwatch(both)) == control


def rounds(*operations: OperationsOfRun) -> list[Round]:
    return [Round(0, 0, 0, 0, None, "probes", each) for each in operations]


def run_of(*, left_out: str = "", control: float | None = None, **added: float) -> OperationsOfRun:
    biases = {path: OperationBias(each, 0.01, 0.0, 0.02, control) for path, each in added.items()}
    return OperationsOfRun(biases, frozenset(left_out))


def test_an_operation_is_judged_as_the_whole_is() -> None:
    found = judge_operations(
        rounds(run_of(good=0.011, bad=0.06), run_of(good=0.01, bad=0.061), run_of(good=0.009))
    )
    assert {path: each.word for path, each in found.verdicts.items()} == {
        "good": validation.INSIDE,
        "bad": validation.OUTSIDE,
    }
    good = found.verdicts["good"]
    assert (good.rounds, found.verdicts["bad"].rounds) == (3, 2)
    assert (good.added.mean, good.bias.mean) == pytest.approx((0.01, 0.0))
    assert good.claimed == pytest.approx((-0.01, 0.01))
    assert (found.left_out, found.absent) == (0, None)


def test_an_operation_has_a_control(compare: Any) -> None:
    found = judge_operations(rounds(*(run_of(control=each, a=0.01) for each in (0.01, 0.02, None))))
    control = found.verdicts["a"].control
    assert control is not None and control.mean == pytest.approx(0.015)
    found = judge_operations(rounds(*(run_of(control=each, a=0.01) for each in (0.01, None))))
    assert found.verdicts["a"].control is None


def test_one_round_of_an_operation_is_no_verdict() -> None:
    found = judge_operations(rounds(run_of(a=0.0, left_out="bc"), run_of(b=0.0, left_out="c")))
    assert found.verdicts == {}
    assert found.left_out == 3


def test_a_reason_is_given_only_where_there_is_no_operation() -> None:
    none = OperationsOfRun(absent="why")
    assert judge_operations(rounds(none, none)).absent == "why"
    assert judge_operations(rounds(run_of(left_out="a"), none)).absent is None

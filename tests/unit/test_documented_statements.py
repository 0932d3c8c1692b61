"""Statements that documents show have the page's numbers: of an annotated program, of one that is
not, and of one with many processes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import cookbook
import pytest
from ground_truth.raw import (
    Auto,
    Item,
    RawProcess,
    RawThread,
    call,
    compiled,
    enter,
    iteration,
    leave,
    segment,
)
from ground_truth.written import write
from support.files import documented, example_run

from rlscope import _trace, registry
from rlscope.opening import Trace, load, load_many
from rlscope.table import Table

US = 1_000
NS_OF = {
    "ms": 1e6,
    "mean_ms": 1e6,
    "busy_ms": 1e6,
    "idle_ms": 1e6,
    "seconds": 1e9,
    "ns": 1,
    "duration_ns": 1,
    "sum(duration_ns)": 1,
}
NS_OF |= dict.fromkeys(_trace.LAYERS, 1e6)
RECIPES = [query for query, _ in cookbook.recipes(cookbook.PAGE.read_text())]
STATEMENTS = [
    *documented.of_queries(),
    *documented.of_pages(),
    *documented.of_notebook(),
    *RECIPES,
]
OF_THE_LOOP = sorted({each for each in STATEMENTS if "FROM training_loop" in each})
TIMES_OF_OPERATIONS = [
    each for each in OF_THE_LOOP if "SELECT operation" in each and "FROM transition" not in each
]
OF_ANY_PROGRAM = [
    query
    for query, _ in cookbook.recipes(cookbook.PAGE.read_text().split("program that says more")[0])
]


def automatic() -> RawProcess:
    """A program without annotations: three steps and an update in each of 30 iterations."""
    items: list[Item] = [compiled(5 * US, "import"), segment(900 * US, Auto.NOTHING)]
    now = 1_000
    for number in range(30):
        items.append(iteration(now * US, automatic=True))
        for _ in range(3):
            items += [segment(now * US, Auto.SIMULATION)]
            items += [call((now + 5) * US, (now + 45) * US, "env.step")]
            items += [segment((now + 50) * US, Auto.NOTHING)]
            items += [segment((now + 55 + number) * US, Auto.INFERENCE)]
            items += [call((now + 60 + number) * US, (now + 95 + number) * US, "matmul")]
            items += [segment((now + 100 + number) * US, Auto.NOTHING)]
            now += 110 + number
        items += [segment(now * US, Auto.BACKPROP), segment((now + 400) * US, Auto.NOTHING)]
        items += [call((now + 410) * US, (now + 430) * US, "pipe 7|posix.read")]
        now += 450
    return RawProcess(end_ns=(now + 700) * US, threads=[RawThread(items)])


def rank(number: int) -> RawProcess:
    """One that waits for the other one as long as it is faster."""
    items: list[Item] = []
    now = 800 + 100 * number
    for _ in range(25):
        items += [iteration(now * US), enter(now * US, "simulation")]
        items += [call((now + 10) * US, (now + 90 + 40 * number) * US, "env.step")]
        items += [leave((now + 100 + 50 * number) * US, "simulation")]
        items += [call((now + 160) * US, (now + 200 - 10 * number) * US, "pipe 7|posix.read")]
        items += [enter((now + 205) * US, "backprop"), leave((now + 300) * US, "backprop")]
        now += 310
    return RawProcess(
        end_ns=(now + 500) * US,
        threads=[RawThread(items)],
        os_pid=5_000 + number,
        parent_pid=4_999,
        metadata={"rlscope.rank": json.dumps({"rank": number})},
        program="python train.py",
    )


def many() -> list[RawProcess]:
    """A launcher that calls nothing, two ranks, and an environment worker of the first one."""
    worker = [enter(1_000 * US, "simulation"), leave(9_000 * US, "simulation")]
    return [
        RawProcess(end_ns=12_000 * US, os_pid=4_999, program="torchrun train.py"),
        rank(0),
        rank(1),
        RawProcess(
            start_ns=500 * US,
            end_ns=10_000 * US,
            threads=[RawThread(worker)],
            os_pid=5_002,
            parent_pid=5_000,
            metadata={"rlscope.role": json.dumps(example_run.ENVIRONMENT_WORKER)},
        ),
    ]


@pytest.fixture(scope="module", params=["annotated", "automatic", "many processes"])
def trace(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Trace]:
    root = tmp_path_factory.mktemp("documented") / "run"
    if request.param == "annotated":
        root.mkdir()
        example_run.write(root, serves=True)
    else:
        write([automatic()] if request.param == "automatic" else many(), root)
    with load(root) as opened:
        yield opened


def ask(trace: Trace, statement: str) -> Table:
    if "run_id" not in statement:
        return trace.sql(statement)
    with load_many([trace.path]) as runs:
        return runs.sql(statement)


def own_times(trace: Trace) -> dict[str, int]:
    """The column "own" of the page's table of operations, in ns."""
    page = json.loads(registry.load(registry.RENDERERS, "json")(trace))
    tree = page["panels"]["operations"]["operation_tree"]
    return {
        row["operation"]: row["self_ns"]
        for row in tree
        if row["whole_ns"] is not None and row["self_ns"]
    }


@pytest.mark.parametrize(
    "statement", sorted({*STATEMENTS} - {*TIMES_OF_OPERATIONS, *OF_ANY_PROGRAM})
)
def test_any_other_statement_runs(trace: Trace, statement: str) -> None:
    ask(trace, statement)


@pytest.mark.parametrize("statement", TIMES_OF_OPERATIONS)
def test_times_of_operations_are_those_of_the_page(trace: Trace, statement: str) -> None:
    rows = ask(trace, statement).to_dicts()
    found: dict[str, float] = {}
    for row in rows:
        ns = sum((row[name] or 0) * unit for name, unit in NS_OF.items() if name in row)
        found[row["operation"]] = found.get(row["operation"], 0) + ns
    digits = 200_000  # half of the last one of "0.1 ms", in a few layers
    if any(name in row for row in rows for name in ("ns", "duration_ns", "sum(duration_ns)")):
        digits = 0
    if "seconds" in rows[0]:
        digits = 1_000_000
    shown = own_times(trace)
    if "LIMIT" in statement:
        shown = {name: ns for name, ns in shown.items() if name in found}
    assert found
    assert found == pytest.approx(shown, abs=digits)


def test_documents_show_times_of_the_loop() -> None:
    places = [documented.of_pages(), documented.of_queries(), documented.of_notebook(), RECIPES]
    assert all(any(each in OF_THE_LOOP for each in place) for place in places)


@pytest.mark.parametrize("statement", OF_ANY_PROGRAM)
def test_a_question_to_any_program_has_an_answer(trace: Trace, statement: str) -> None:
    rows = ask(trace, statement).to_dicts()
    assert rows
    assert any(value is not None for row in rows for value in row.values())


def test_calls_a_second_are_the_environments_own(trace: Trace) -> None:
    (statement,) = [each for each in RECIPES if "calls_per_second" in each]
    rows = ask(trace, statement).to_dicts()
    entries = trace.sql(
        "SELECT count(*) FROM operation_instance JOIN operation USING (operation_id)"
        " WHERE name = 'simulation'"
    )
    assert sum(row["calls"] for row in rows) == next(iter(entries))[0]

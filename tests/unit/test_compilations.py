"""What compilers compiled: counted in the process, in its relation, and in sentences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ground_truth.raw import RawProcess, RawThread, compiled, enter, leave
from ground_truth.written import write
from support.files.facts import assert_says

from rlscope.analysis import compilations
from rlscope.auto import compilations as counted
from rlscope.opening import load
from rlscope.relations.rows import compilations as rows
from rlscope.report import compilation_sentences

MS = 1_000_000


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets; and nothing counted before."""
    now = [0]
    monkeypatch.setattr(counted.time, "perf_counter_ns", lambda: now[0])
    monkeypatch.setattr(counted, "_found", {})
    monkeypatch.setattr(counted.runtime, "metadata", lambda *_: None)
    return now


def test_what_is_compiled_for_another_function_is_not_counted_twice(clock):
    counted.begin()
    clock[0] = 10
    counted.begin()
    clock[0] = 40
    counted.end("Numba", "inner")
    clock[0] = 100
    counted.end("Numba", "outer")
    counts = {function: numbers for (_, function, *_), numbers in counted._found.items()}
    assert counts == {"inner": [1, 30, 1, 30], "outer": [1, 70, 1, 70]}


def test_what_was_compiled_before_the_first_update_is_early(clock, monkeypatch):
    for has_learned, took in ((False, 5), (True, 7), (True, 9)):
        monkeypatch.setattr(counted.runtime, "has_learned", lambda value=has_learned: value)
        counted.begin()
        clock[0] += took
        counted.end("JAX", "step")
    ((_, numbers),) = counted._found.items()
    assert numbers == [3, 21, 1, 5]


def test_the_line_is_that_of_the_program_which_asked(clock):
    counted.begin()
    counted.end("JAX", "step")
    ((_, _, file, line),) = counted._found
    assert (file, Path(__file__).read_text().splitlines()[line - 1].strip()) == (
        __file__,
        'counted.end("JAX", "step")',
    )


def test_the_parts_of_a_compilation_are_one(clock):
    for count in (0, 0, 1):
        counted.begin()
        clock[0] += 5
        counted.end("JAX", "step", count=count)
    ((_, numbers),) = counted._found.items()
    assert numbers == [1, 15, 1, 15]


def test_a_damaged_note_costs_its_damaged_rows_only():
    good = ["JAX", "f", "a.py", 3, 2, 10]
    damaged = [good, ["JAX"], ["JAX", "f", "a.py", 3, 2, "10"], ["JAX", 1, "a.py", 3, 2, 10], 7]
    assert rows.columns(json.dumps(damaged))["function"] == ["f"]
    for note in (None, "", "{", "{}", "[" * 100_000):
        assert rows.columns(note)["function"] == []


def trace_of(folder: Path, other_ns: int):
    """100 ms of `train`, which JAX compiled, and some of another operation, in a life of 1 s."""
    end = 200 * MS + other_ns
    thread = RawThread(
        items=[
            compiled(100 * MS, "compiled:train"),
            enter(200 * MS, "other"),
            leave(end, "other"),
        ]
    )
    note = [
        ["JAX", "train", "/x/train.py", 7, 2, 100 * MS, 1, 60 * MS],
        ["JAX", "sin", "", 0, 1, 20 * MS],  # of an old run
    ]
    metadata = {rows.NOTE: json.dumps(note)}
    write([RawProcess(end_ns=1000 * MS, threads=[thread], metadata=metadata)], folder / "run")
    return load(folder / "run")


def test_the_relation_has_the_functions_of_each_process(tmp_path):
    assert list(trace_of(tmp_path, MS).sql("FROM compilation ORDER BY total_ns")) == [
        (0, "JAX", "sin", None, None, 1, 20 * MS, 0, 0),
        (0, "JAX", "train", "/x/train.py", 7, 2, 100 * MS, 1, 60 * MS),
    ]


def test_much_compiling_is_said_with_its_functions_and_lines(tmp_path):
    found = compilations.compilations(trace_of(tmp_path, MS), rows=10).to_dicts()
    (said,) = compilation_sentences.compilations(found)
    train = ("train 100 ms", "2 times", "train.py line 7")
    assert_says(said, "120 ms of 1.00 s", *train, "sin 20.0 ms")
    assert not list(compilation_sentences.compilations([{**found[0], "all_ns": 99 * MS}]))
    assert not list(compilation_sentences.compilations([]))


@pytest.mark.parametrize(("other_ns", "is_opaque"), [(10 * MS, True), (20 * MS, False)])
def test_a_loop_that_is_one_compiled_call_says_what_looks_inside(tmp_path, other_ns, is_opaque):
    found = compilations.compiled_call(trace_of(tmp_path, other_ns)).to_dicts()
    said = list(compilation_sentences.opaque(found))
    assert len(said) == is_opaque
    for each in said:
        assert_says(each, "train", "90.9 %", "XProf (jax.profiler)")


@pytest.mark.parametrize(("other_ns", "is_opaque"), [(10 * MS, True), (20 * MS, False)])
def test_nobody_may_wait_for_a_loop_that_is_one_call_of_jax(tmp_path, other_ns, is_opaque):
    found = compilations.compiled_call(trace_of(tmp_path, other_ns)).to_dicts()
    said = compilation_sentences.unawaited(found)
    assert bool(said) == is_opaque
    if is_opaque:
        assert_says(said, "train", "in the background", "jax.block_until_ready")
    assert not compilation_sentences.unawaited([row | {"compiler": "TensorFlow"} for row in found])

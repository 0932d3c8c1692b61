"""Iterations count from 0; wherever one is asked for, it is said which step of the tool it is."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from support.files.kineto_files import annotation, at_real, write
from support.process.command_line import assert_states_failure, rlscope

from rlscope.importing.directory import import_files
from rlscope.opening import load
from rlscope.relations import step_numbers

JAX = Path(__file__).parents[1] / "golden" / "xprof" / "jax_cpu.trace.json.gz"


def import_steps(folder, numbers, tid=7):
    rows = [
        annotation(f"ProfilerStep#{number}", at_real(10 * place), 9, tid)
        for place, number in enumerate(numbers)
    ]
    file = write(folder / "steps.json", rows)
    return rlscope("import", file, "-o", folder / "run")


def test_the_import_says_which_iteration_is_which_step(tmp_path):
    done = import_steps(tmp_path, [5, 6, 7, 12, 13, 20])
    assert done.stderr.splitlines()[-1] == (
        "iterations 0-2 are ProfilerStep#5-7, iterations 3-4 are ProfilerStep#12-13, "
        "iteration 5 is ProfilerStep#20"
    )


def test_nothing_is_said_where_the_numbers_are_the_same(tmp_path):
    assert "ProfilerStep" not in import_steps(tmp_path, [0, 1, 2]).stderr


def test_an_export_of_a_step_is_told_the_iteration(tmp_path):
    import_steps(tmp_path, [5, 6, 7])
    done = rlscope("export", tmp_path / "run", "--iteration", 7, "-o", tmp_path / "a.pftrace")
    assert_states_failure(
        done, "the run has iterations 0 to 3; iterations 0-2 are ProfilerStep#5-7"
    )
    done = rlscope("export", tmp_path / "run", "--iteration", 2, "-o", tmp_path / "a.pftrace")
    assert done.returncode == 0


def test_the_summary_says_it_beside_the_iterations_lengths(tmp_path):
    import_steps(tmp_path, [5, 6, 7])
    told = rlscope("summary", tmp_path / "run").stdout.replace("\n  ", " ")
    assert " Iterations 0-2 are ProfilerStep#5-7." in told


def test_steps_are_those_of_the_thread_whose_iterations_count(tmp_path):
    """In order of time, wherever they stand."""
    rows = [
        annotation("ProfilerStep#9", at_real(30), 9),
        annotation("ProfilerStep#8", at_real(20), 9),
        annotation("ProfilerStep#3", at_real(22), 9, tid=8),
    ]
    import_files([str(write(tmp_path / "steps.json", rows))], str(tmp_path / "run"))
    with load(tmp_path / "run") as trace:
        ((value,),) = trace.sql(f"SELECT value FROM metadata WHERE key = '{step_numbers.NOTE}'")
        assert list(trace.sql("SELECT iteration FROM iteration WHERE complete")) == [(0,), (1,)]
    assert json.loads(value)["runs"] == [[8, 9]]


def test_steps_of_xprof_and_of_tables_are_said_too(tmp_path):
    content = json.loads(gzip.decompress(JAX.read_bytes()))
    for row in content["traceEvents"]:
        if "step_num" in row.get("args", {}):
            row["args"]["step_num"] = str(int(row["args"]["step_num"]) + 40)
    file = tmp_path / "box.trace.json"
    file.write_text(json.dumps(content))
    assert (
        "iterations 0-2 are step_num 45-47" in rlscope("import", file, "-o", tmp_path / "x").stderr
    )
    file = tmp_path / "events.csv"
    file.write_text(
        "kind,name,start_ns,duration_ns,iteration\noperation,a,5,2,3\noperation,a,9,2,4\n"
    )
    assert (
        "iterations 0-1 are iteration 3-4" in rlscope("import", file, "-o", tmp_path / "y").stderr
    )


def test_of_many_stretches_the_first_are_said():
    noted = step_numbers.note("#", list(range(0, 1000, 2)))
    assert len(json.dumps(noted)) < 10_000
    assert step_numbers.sentence([noted[step_numbers.NOTE]]).endswith(
        "iteration 3 is #6, and so on"
    )


@pytest.mark.parametrize(
    "value", [None, "", "3", "[]", "{}", '{"of": 1, "runs": [["a", 2]], "cut": 0}', '{"of"']
)
def test_what_is_no_note_says_nothing(value):
    assert not step_numbers.sentence([value])

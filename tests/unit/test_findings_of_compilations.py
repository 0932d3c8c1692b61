"""Advice on functions that are compiled once, or again and again."""

from __future__ import annotations

from typing import Any

import pytest
from support.files.loop_rows import FILE, found, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis.findings import compilation, recompilation


def compiled(
    count: int,
    early: int = 0,
    function: str = "forward",
    compiler: str = "torch.compile",
    **more: Any,
):
    row = {"process_id": 0, "compiler": compiler, "function": function, "count": count}
    times = {"total_ns": 4 * SECOND, "early_count": early, "early_ns": early * SECOND // 20}
    text = "def update(w):\n    return w / 2\n"
    return loop_rows(text=text, compilation=[{**row, **times, "file": FILE, "line": 9}], **more)


def test_a_function_that_is_compiled_again_and_again_is_named():
    (finding,) = found(recompilation.RULE, compiled(40))
    assert (finding.file, finding.line) == (FILE, 9)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(4 * SECOND * 39 / 40)


def test_what_was_compiled_before_the_loop_is_not_again():
    """As for each shape of the weights that a program makes."""
    assert found(recompilation.RULE, compiled(20, early=20)) == []
    assert found(recompilation.RULE, compiled(20, early=18)) == []
    (finding,) = found(recompilation.RULE, compiled(20, early=10))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(3.5 * SECOND)


def test_the_first_call_of_what_was_compiled_takes_longer_than_others():
    """Other calls take 2 ms, and the one after a compilation 12 ms."""
    paths = ["compilation", "inference", "inference", "inference"] * 40
    operations = {"compilation": 0, "inference": 1}
    instances = [
        {
            "process_id": 0,
            "thread_id": 0,
            "operation_id": operations[path],
            "start_ns": place,
            "self_ns": 12_000_000 if paths[place - 1] == "compilation" else 2_000_000,
        }
        for place, path in enumerate(paths)
    ]
    rows = [
        {"operation_id": number, "path": path, "source": "automatic"}
        for path, number in operations.items()
    ]
    trace = compiled(40, operation=rows, operation_instance=instances)
    (finding,) = found(recompilation.RULE, trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx((4 * SECOND + 40 * 10_000_000) * 39 / 40)


@pytest.mark.parametrize(
    ("compiler", "words"),
    [
        ("TensorFlow", "tensors for numbers"),
        ("torch.compile", "dynamic=True"),
        ("JAX", "static argument"),
    ],
)
def test_the_fix_of_compiling_again_is_that_of_the_compiler(compiler, words):
    (finding,) = found(recompilation.RULE, compiled(40, compiler=compiler, function="update"))
    assert words in finding.fix


@pytest.mark.parametrize(
    ("text", "is_anew"),
    [
        ("def learn(w):\n    step = jax.jit(lambda w: w)\n    return step(w)\n", True),
        ("step = jax.jit(f)\ndef learn(w):\n    return step(w)\n", False),
        ("def learn(w):\n    re.compile(x)\n    return step(w)\n", False),
    ],
)
def test_a_function_that_is_made_anew_each_time_is_told(text, is_anew):
    row = {"process_id": 0, "compiler": "JAX", "function": "<lambda>", "count": 40}
    times = {"total_ns": 4 * SECOND, "early_count": 0, "early_ns": 0, "file": FILE, "line": 3}
    trace = loop_rows(text=text + "f = lambda w: w\n", compilation=[row | times])
    (finding,) = found(recompilation.RULE, trace)
    assert ("before the loop" in finding.fix) == is_anew
    assert ("all shapes" in finding.no_effect) != is_anew


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_function_that_is_compiled_once_or_for_two_shapes_is_not(count):
    assert found(recompilation.RULE, compiled(count)) == []


def test_what_tensorflow_compiles_for_each_data_set_is_no_function_of_the_program():
    assert found(recompilation.RULE, compiled(40, function="Dataset_map_grab_batch")) == []


@pytest.mark.parametrize(("function", "names"), [("update", 1), ("true_divide", 0)])
def test_functions_of_jax_itself_are_no_functions_of_the_program(function, names):
    trace = compiled(40, function=function, compiler="JAX")
    assert len(found(recompilation.RULE, trace)) == names


def test_what_is_compiled_again_and_again_is_not_paid_once():
    (finding,) = found(compilation.RULE, compiled(2))
    assert (finding.once_ns, finding.line) == (4 * SECOND, 9)
    assert found(compilation.RULE, compiled(40)) == []

"""Advice on what is paid once: the longest entry, compilations, imports, lines before the loop."""

from __future__ import annotations

from typing import Any

import pytest
from support.files.finding_rows import FILE, LOOP_NS, line, trace
from support.files.loop_rows import found_by as found
from support.files.relation_rows import SECOND, Relations, process, share

MS = 1_000_000


def entries(*lengths: int) -> Relations:
    return trace(
        operation=[{"operation_id": 0, "path": "update", "source": "automatic"}],
        operation_instance=[
            {"process_id": 0, "operation_id": 0, "start_ns": place, "self_ns": each}
            for place, each in enumerate(lengths)
        ],
        source_line=[line(3, 2 * SECOND, operation="update")],
    )


def test_one_entry_that_is_unlike_all_others():
    (finding,) = found("outlier_call", entries(2 * SECOND, *[10 * MS] * 20))
    assert finding.price is None
    assert finding.once_ns == 2 * SECOND - 10 * MS
    assert (finding.file, finding.line) == (FILE, 3)


def test_the_line_of_a_small_part_of_an_operation_is_not_known():
    (finding,) = found("outlier_call", entries(2100 * MS, *[100 * MS] * 30))
    assert finding.line is None


def test_the_place_of_the_longest_entry_is_said():
    (finding,) = found("outlier_call", entries(*[10 * MS] * 19, 2 * SECOND, 10 * MS))
    assert "number 20" in finding.evidence


@pytest.mark.parametrize("usual", [[SECOND // 10] * 20, [2 * SECOND, *[10 * MS] * 8]])
def test_entries_that_differ_little_or_are_few(usual):
    assert found("outlier_call", entries(*usual)) == []


def test_what_comes_again_is_not_paid_once():
    """As the resets of an environment among its steps."""
    assert found("outlier_call", entries(*[10 * MS] * 19, 2 * SECOND, 10 * MS, 1500 * MS)) == []


def test_what_a_library_compiled():
    row = {"process_id": 0, "compiler": "Numba", "count": 1, "file": FILE}
    rows = trace(
        compilation=[
            {**row, "function": "step", "line": 4, "total_ns": 3 * SECOND},
            {**row, "function": "reset", "line": 9, "total_ns": SECOND},
            {**row, "function": "traced", "line": 11, "total_ns": 8 * SECOND, "count": 0},
        ]
    )
    (finding,) = found("compilation", rows)
    assert (finding.once_ns, finding.line) == (4 * SECOND, 4)


def imported(
    module: str, start: int, self_s: int, total_s: int, asked_by: str, by: str | None = None
) -> dict[str, object]:
    """A row of `import`: what itself takes, and with what it imports."""
    row = {"process_id": 0, "module": module, "imported_by": by, "start_ns": start * SECOND}
    times = {"self_ns": self_s * SECOND, "total_ns": total_s * SECOND}
    return row | times | {"asked_by": asked_by, "is_own": "/" not in asked_by[1:]}


def imports_of_a_program():
    """One whose own package imports torch and pandas, and pandas imports numpy."""
    return [
        imported("agent", 1, 2, 8, "/train.py:2"),
        imported("torch", 1, 2, 3, "/agent.py:3", "agent"),
        imported("torch.nn", 2, 1, 1, "/lib/torch.py:5", "torch"),
        imported("pandas", 4, 2, 5, "/agent.py:4", "agent"),
        imported("numpy", 5, 1, 1, "/lib/pandas.py:7", "pandas"),
        imported("pandas.core", 8, 1, 1, "/lib/pandas.py:8", "pandas"),
        imported("gymnasium", 10, 2, 2, "/train.py:3"),
    ]


def called(*libraries: str):
    return [{"process_id": 0, "function": f"{name}:f"} for name in libraries]


def running(*libraries: str) -> dict[str, Any]:
    """Stacks of the loop: the program calls each of these libraries."""
    common = {"process_id": 0, "function": "f", "line": 1}
    files = [FILE, *(f"/lib/site-packages/{name}/core.py" for name in libraries)]
    stacks = [
        {**common, "stack_id": n, "parent_id": n - 1 if n > 1 else None, "file": file}
        for n, file in enumerate(files, 1)
    ]
    time = {"process_id": 0, "stage": "loop", "operation": "update", "layer": "python"}
    return {"stack": stacks, "stack_time": [{**time, "stack_id": len(files), "self_ns": SECOND}]}


def imports_found(rows: list[dict[str, object]], calls: list[dict[str, object]], *used: str):
    return found("imports", trace(**{"import": rows, "native_call": calls}, **running(*used)))


def test_imports_with_the_line_that_asks_for_the_longest_library():
    """5 s without torch, NumPy, and the program's own module; pandas has 3 of them."""
    (finding,) = imports_found(imports_of_a_program(), called("torch.nn", "jaxlib"))
    assert (finding.once_ns, finding.file, finding.line) == (5 * SECOND, "/agent.py", 4)
    assert "pandas for 3.00 s" in finding.title


def test_what_a_library_imports_belongs_to_it():
    """As torch, which stable_baselines3 imports, and jax, whose native code is jaxlib's."""
    rows = [
        imported("stable_baselines3", 1, 1, 8, "/train.py:1"),
        imported("torch", 2, 7, 7, "/lib/stable_baselines3.py:1", "stable_baselines3"),
        imported("jax", 9, 3, 4, "/train.py:2"),
        imported("scipy", 12, 1, 1, "/lib/jax.py:2", "jax"),
    ]
    calls = called("torch._C", "jaxlib.xla_extension")
    (finding,) = imports_found(rows, calls)
    assert finding.once_ns == SECOND
    assert not imports_found(rows, calls, "stable_baselines3")


def test_imports_of_what_the_loop_uses_are_needed():
    assert not imports_found(imports_of_a_program(), called("torch", "pandas"), "gymnasium")


@pytest.mark.parametrize(
    ("operation", "is_own", "is_needed"),
    [("(none)", True, True), ("(none)", False, False), ("import", True, False)],
)
def test_what_the_program_calls_after_its_loop_is_needed(
    operation: str, is_own: bool, is_needed: bool
) -> None:
    """As for a plot. What an import runs, and what runs at exit, is no call of the program's."""
    rows = [imported("torch", 1, 2, 2, "/train.py:2"), imported("plots", 3, 4, 4, "/train.py:3")]
    known = running("torch")
    frame = {"process_id": 0, "function": "f", "line": 1}
    known["stack"] += [
        {**frame, "stack_id": 11, "parent_id": None, "file": FILE, "is_own": is_own},
        {**frame, "stack_id": 12, "parent_id": 11, "file": "/lib/site-packages/plots/a.py"},
        {**frame, "stack_id": 13, "parent_id": 12, "file": "/lib/site-packages/plots/b.py"},
    ]
    time = {"process_id": 0, "stage": "end", "operation": operation, "layer": "python"}
    known["stack_time"].append({**time, "stack_id": 13, "self_ns": 1})
    findings = found("imports", trace(**{"import": rows}, **known))
    assert bool(findings) is not is_needed


def test_without_stacks_nobody_knows_what_the_loop_uses():
    assert not found("imports", trace(**{"import": imports_of_a_program()}))


def test_a_line_before_the_loop():
    rows = trace(
        source_line=[
            line(92, 10 * SECOND, stage="start-up"),
            line(12, 20 * SECOND, stage="start-up", operation="import"),
            line(40, 20 * SECOND),
        ]
    )
    (finding,) = found("set_up", rows)
    assert (finding.line, finding.once_ns) == (92, 9 * SECOND)


@pytest.mark.parametrize(("seconds", "is_of_loop"), [(11, True), (9, False)])
def test_a_line_that_takes_longer_in_the_loop_prepares_nothing(seconds, is_of_loop):
    """Its first passes came before the loop was known."""
    times = [line(92, 10 * SECOND, stage="start-up"), line(92, 0, total_ns=seconds * SECOND)]
    assert (found("set_up", trace(source_line=times)) == []) == is_of_loop


@pytest.mark.parametrize(("longer_s", "is_training"), [(6, True), (4, False)])
def test_a_line_in_which_other_processes_train_prepares_nothing(longer_s, is_training):
    """As of a pool that evaluates a population; then the program shows the best one."""
    rows = trace(
        iterations=3,
        process=[process(n, 0, 40 * SECOND) for n in (0, 1)],
        breakdown=[
            share(0, "update", "python", LOOP_NS),
            share(1, "update", "python", LOOP_NS + longer_s * SECOND),
        ],
        source_line=[line(92, 10 * SECOND, stage="start-up")],
    )
    assert (found("set_up", rows) == []) == is_training


@pytest.mark.parametrize(("seconds", "is_import"), [(6, True), (4, False)])
def test_a_line_that_mostly_imports_is_none(seconds, is_import):
    """As the first optimizer of PyTorch, which imports what compiles."""
    rows = {"import": [imported("torch._dynamo", 1, seconds, seconds, f"{FILE}:92")]}
    times = [line(92, 10 * SECOND, stage="start-up")]
    assert (found("set_up", trace(source_line=times, **rows)) == []) == is_import


@pytest.mark.parametrize(
    ("text", "is_import"),
    [("import gymnasium", True), ("    from a import b", True), ("imports = read()", False)],
)
def test_a_statement_that_imports_is_none(text, is_import):
    """Whatever the imports of rlscope's own libraries hide of it."""
    texts = [{"file": FILE, "line": 92, "text": text}]
    times = [line(92, 10 * SECOND, stage="start-up")]
    assert (found("set_up", trace(source_line=times, source_text=texts)) == []) == is_import


@pytest.mark.parametrize(("layer", "is_import"), [("wait", True), ("python", False)])
def test_a_line_that_waits_for_imports_of_children(layer, is_import):
    """As for the first answer of workers that import what their environments need."""
    modules = [
        imported("env", 1, 2, 9, "/train.py:2"),
        imported("seaborn", 2, 7, 7, "/env.py:3", "env"),
    ]
    rows = trace(
        source_line=[line(92, 10 * SECOND, stage="start-up", layer=layer)],
        process=[process(0, 0, 40 * SECOND, host_id=0)]
        + [process(n, 0, 40 * SECOND, parent_process_id=0) for n in (1, 2)],
        **{
            "import": [
                row | {"process_id": n, "self_ns": 4 * SECOND} for n in (1, 2) for row in modules
            ]
        },
    )
    (finding,) = found("set_up", rows)
    assert ("2 processes" in finding.evidence and "seaborn" in finding.evidence) == is_import
    assert finding.fix.startswith("Import that before") == is_import

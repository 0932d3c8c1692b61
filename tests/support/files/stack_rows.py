"""Stacks of a made-up program, as relations: `stack_relations(...)`.

Each process has a main function in one of three own files. It calls lines of all three, and every
second of these calls a library, which calls itself. The rows of `source_line` are counted from the
stacks one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

LIBRARY = "/venv/lib/python3.11/site-packages/torch/nn/modules/module.py"
OWN = ("train.py", "agent/ppo.py", "agent/buffer.py")

State = tuple[str, str, str]  # stage, operation, layer
Row = dict[str, Any]


def stack_relations(
    times: Mapping[tuple[int, State], int], name: str, *, stacks: int = 200, file_lines: int = 400
) -> dict[str, list[Row]]:
    """Rows of `stack`, `stack_time`, `source_line` and `source_text`.

    Args:
        times: exact time of each state of each process, which is divided over its stacks.
        stacks: how many stacks each process has, at least 6.
        file_lines: how many lines each of the own files has.
    """
    files = [f"/home/me/{name}/{file}" for file in OWN]
    ids = sorted({process_id for process_id, _ in times})
    tree = _tree(files, name, stacks, file_lines)
    stack_times = [*_stack_times(times, tree), *_launches(times, tree)]
    return {
        "stack": [{"process_id": i, **row} for i in ids for row in tree],
        "stack_time": stack_times,
        "source_line": source_lines(tree, stack_times),
        "source_text": [
            {"file": file, "line": line, "text": f"    {name} = step({line})  # of {file}"}
            for file in files
            for line in range(1, file_lines + 1)
        ],
    }


def _tree(files: list[str], name: str, stacks: int, file_lines: int) -> list[Row]:
    rows: list[Row] = []

    def add(parent_id: int | None, function: str, file: str, line: int) -> int:
        rows.append(
            {
                "stack_id": len(rows) + 1,
                "parent_id": parent_id,
                "function": function,
                "file": file,
                "line": line,
                "first_line": max(line - 5, 1),
                "is_own": file != LIBRARY,
            }
        )
        return len(rows)

    main = add(None, "<module>", files[0], 9)
    while len(rows) < stacks:
        number = len(rows)
        called = add(main, f"{name}.update", files[number % 3], 1 + number * 7 % file_lines)
        if number % 2:
            inner = add(called, "Module._call_impl", LIBRARY, 1500 + number % 5)
            add(inner, "Module._call_impl", LIBRARY, 1500 + number % 7)
    return rows


def _stack_times(times: Mapping[tuple[int, State], int], tree: list[Row]) -> Iterator[Row]:
    """The first quarter of a state's time is in no known stack, the rest in every fifth one, or in
    forty of many."""
    step = max(5, len(tree) // 40)
    for place, ((process_id, state), ns) in enumerate(times.items()):
        chosen = [row["stack_id"] for row in tree[place % step + 1 :: step]]
        unknown = ns // 4
        yield _time(process_id, None, state, unknown, 1)
        # The later ones have more: the ends of their parts grow like squares.
        ends = [(ns - unknown) * each * each // len(chosen) ** 2 for each in range(len(chosen) + 1)]
        for number, stack_id in enumerate(chosen, 1):
            yield _time(process_id, stack_id, state, ends[number] - ends[number - 1], number)


def _launches(times: Mapping[tuple[int, State], int], tree: list[Row]) -> Iterator[Row]:
    """CUDA calls of each operation that has some: of no known stack, and of every eleventh one."""
    for process_id, (stage, operation, layer) in times:
        if layer == "cuda_api":
            state = (stage, operation, "gpu")
            for stack_id in (None, *(row["stack_id"] for row in tree[4::11])):
                row = _time(process_id, stack_id, state, 0, 0)
                yield {**row, "calls": 2, "gpu_ns": 1000 * (stack_id or 7)}


def _time(process_id: int, stack_id: int | None, state: State, ns: int, readings: int) -> Row:
    stage, operation, layer = state
    ends = {"self_low_ns": ns * 9 // 10, "self_high_ns": ns * 11 // 10}
    where = {"process_id": process_id, "stack_id": stack_id, "stage": stage}
    return {**where, "operation": operation, "layer": layer, "readings": readings,
            "self_ns": ns, **ends, "calls": 0, "gpu_ns": 0}  # fmt: skip


def callers(tree: list[Row], stack_id: int) -> list[Row]:
    """The stack itself, and those that it was called from."""
    found = [tree[stack_id - 1]]
    while found[-1]["parent_id"] is not None:
        found.append(tree[found[-1]["parent_id"] - 1])
    return found


def source_lines(tree: list[Row], times: Iterable[Row]) -> list[Row]:
    """The rows of `source_line`."""
    found: dict[tuple[Any, ...], Row] = {}
    for time in times:
        if time["stack_id"] is None:
            continue
        chain = callers(tree, time["stack_id"])
        own = next((row for row in chain if row["is_own"]), None)
        lines = {(row["file"], row["line"], row["function"], row["is_own"]): row for row in chain}
        for line, row in lines.items():
            state = (time["process_id"], time["stage"], time["operation"], time["layer"])
            entry = found.get((*line, *state))
            if entry is None:
                entry = found[(*line, *state)] = _line(line, state)
            entry["readings"] += time["readings"]
            entry["total_ns"] += time["self_ns"]
            entry["total_gpu_ns"] += time["gpu_ns"]
            if row is chain[0]:
                entry["self_ns"] += time["self_ns"]
            if row is own:
                entry["own_ns"] += time["self_ns"]
                entry["own_low_ns"] += time["self_low_ns"]
                entry["own_high_ns"] += time["self_high_ns"]
                entry["calls"] += time["calls"]
                entry["gpu_ns"] += time["gpu_ns"]
    return list(found.values())


def _line(line: tuple[Any, ...], state: tuple[Any, ...]) -> Row:
    names = ("file", "line", "function", "is_own", "process_id", "stage", "operation", "layer")
    sums = ("readings", "self_ns", "own_ns", "own_low_ns", "own_high_ns", "total_ns", "calls",
            "gpu_ns", "total_gpu_ns")  # fmt: skip
    return {**dict(zip(names, (*line, *state), strict=True)), **dict.fromkeys(sums, 0)}

"""The relations of source lines: `stack`, `stack_time`, `source_line`, `source_text`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from ground_truth.raw import Node, RawProcess, RawThread, enter, leave
from ground_truth.written import write
from hypothesis import given, settings
from hypothesis import strategies as st

from rlscope import _trace
from rlscope.opening import load
from rlscope.relations.rows import blocked, run_facts, stacks
from rlscope.rundir import own_code, source_files

MS = 1_000_000
MAIN = 1
NODES = [Node(0, "main", 3), Node(1, "helper", 7), Node(2, "main", 3), Node(1, "other", 0)]


def trace_of(folder: Path, nodes: dict[int, int], **facts: Any):
    """10 ms of start-up, 40 ms of `act`, 10 ms of nothing; `nodes` by millisecond of a reading."""
    items = [enter(10 * MS, "act"), leave(50 * MS, "act")]
    process = RawProcess(
        end_ns=60 * MS,
        threads=[RawThread(items=items)],
        states=[(at * MS, frozenset({MAIN})) for at in nodes],
        nodes=NODES,
        stacks={at * MS: {MAIN: node} for at, node in nodes.items()},
    )
    write([process], folder / "run")
    (folder / "run" / "run.json").write_text(json.dumps(facts))
    return load(folder / "run")


def test_the_time_of_a_state_is_divided_over_its_stacks(tmp_path):
    trace = trace_of(tmp_path, {20: 2, 25: 2, 30: 3, 40: 9, 55: 1})
    rows = trace.sql("SELECT operation, stack_id, readings, self_ns FROM stack_time ORDER BY ALL")
    assert list(rows) == [
        ("(none)", 1, 1, 10 * MS),  # the end
        ("(none)", None, 0, 10 * MS),  # no reading fell into the start-up
        ("act", 2, 2, 20 * MS),
        ("act", 3, 1, 10 * MS),
        ("act", None, 1, 10 * MS),  # of a stack that is not in the trace
    ]
    (low_high,) = trace.sql("SELECT self_low_ns, self_high_ns FROM stack_time WHERE readings = 2")
    assert 0 < low_high[0] < 20 * MS < low_high[1] < 40 * MS


def test_only_stacks_of_readings_and_their_callers_are_rows(tmp_path):
    trace = trace_of(tmp_path, {20: 2})
    rows = trace.sql("SELECT stack_id, parent_id, function, file, line, is_own FROM stack")
    assert list(rows) == [(1, None, "main", "a.py", 3, True), (2, 1, "helper", "a.py", 7, True)]


def test_a_line_that_calls_itself_has_its_time_once(tmp_path):
    trace = trace_of(tmp_path, {20: 3, 30: 2, 40: 1, 45: 3})
    rows = trace.sql(
        "SELECT line, readings, self_ns, own_ns, total_ns FROM source_line"
        " WHERE operation = 'act' ORDER BY line"
    )
    assert list(rows) == [
        (3, 4, 30 * MS, 30 * MS, 40 * MS),
        (7, 3, 10 * MS, 10 * MS, 30 * MS),
    ]


def test_a_line_that_is_not_known_is_null(tmp_path):
    trace = trace_of(tmp_path, {20: 4})
    assert list(trace.sql("SELECT line FROM source_line WHERE function = 'other'")) == [(None,)]


def test_a_process_without_stacks_has_no_rows_and_a_reason(tmp_path):
    trace = trace_of(tmp_path, {})
    names = ("stack", "stack_time", "source_line", "source_text")
    for name in names:
        assert list(trace.table(name)) == []
        absent = trace.sql("SELECT reason FROM absent WHERE relation = $name", {"name": name})
        assert len(absent) == 1


GPU, WAIT = _trace.LAYERS.index("gpu"), _trace.LAYERS.index("wait")
LIBRARY, OWN = "/usr/lib/python3.11/site-packages/torch/nn.py", "/home/me/train.py"


def swept(counts: dict[int, int], nodes: list[tuple[int, str, int]]) -> dict[str, Any]:
    """A sweep of one state: readings by stack, and nodes (parent, file, line)."""
    parents, files, lines = ([node[place] for node in nodes] for place in range(3))
    state = {"stage": "loop", "operation": 0, "layer": 2}
    return {
        "breakdown": {name: [value] for name, value in state.items()} | {"duration_ns": [1000]},
        "state_reading": {name: [value] * len(counts) for name, value in state.items()}
        | {"stack": [*counts], "readings": [*counts.values()]},
        "stack": {
            "stack": [*range(1, len(nodes) + 1)],
            "parent": parents,
            "file": files,
            "line": lines,
            "function": ["f"] * len(nodes),
            "first_line": [1] * len(nodes),
        },
    }


def test_time_in_a_library_belongs_to_the_line_that_called_it():
    nodes = [(0, OWN, 5), (1, LIBRARY, 80), (2, LIBRARY, 90), (0, LIBRARY, 10)]
    found = stacks.relations(swept({3: 3, 1: 1, 4: 1}, nodes))["source_line"]
    times = dict(
        zip(
            found["line"],
            zip(found["self_ns"], found["own_ns"], found["total_ns"], strict=True),
            strict=True,
        )
    )
    assert times == {5: (200, 800, 800), 80: (0, 0, 600), 90: (600, 0, 600), 10: (200, 0, 200)}
    widened = stacks.relations(swept({3: 3}, nodes), ["/usr/lib/python3.11/site-packages/torch"])
    assert max(widened["source_line"]["own_ns"]) == 1000
    owner = widened["source_line"]["own_ns"].index(1000)
    assert widened["source_line"]["line"][owner] == 90


@st.composite
def trees(draw: st.DrawFn) -> tuple[dict[int, int], list[tuple[int, str, int]]]:
    files = st.sampled_from((OWN, LIBRARY))
    count = draw(st.integers(1, 9))
    nodes = [
        (draw(st.integers(0, number)), draw(files), draw(st.integers(1, 2)))
        for number in range(count)
    ]
    counts = draw(st.dictionaries(st.integers(0, count), st.integers(1, 5), min_size=1))
    return counts, nodes


def chain_of(nodes: list[tuple[int, str, int]], number: int) -> list[tuple[str, int]]:
    """The lines of a stack, the innermost first."""
    if number == 0:
        return []
    parent, file, line = nodes[number - 1]
    return [(file, line), *chain_of(nodes, parent)]


FIRST_SITE = 1 << 24


def sites(nodes: list[tuple[int, str, int]]) -> dict[str, Any]:
    """The same nodes as stacks of CUDA calls, which have numbers of their own."""
    table = swept({}, nodes)["stack"]
    numbered = {
        name: [value + FIRST_SITE if value else 0 for value in table[name]]
        for name in ("stack", "parent")
    }
    return {**table, **numbered}


def test_the_same_stack_of_a_reading_and_of_a_call_is_one():
    nodes = [(0, OWN, 5), (1, LIBRARY, 80)]
    found = stacks.relations(
        swept({1: 1}, nodes[:1]), (), sites(nodes), [(FIRST_SITE + 2, "loop", 0, 1, 7)]
    )
    assert found["stack"]["stack_id"] == [1, FIRST_SITE + 2]
    assert found["stack"]["parent_id"] == [None, 1]
    times = found["stack_time"]
    assert list(zip(times["stack_id"], times["self_ns"], times["gpu_ns"], strict=True)) == [
        (1, 1000, 0),
        (FIRST_SITE + 2, 0, 7),
    ]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(trees())
def test_lines_have_the_calls_that_each_stack_gives_them(drawn):
    """Call by call, with all of its callers; those without a line of the program's own, too."""
    counts, nodes = drawn
    launches = [
        (number and FIRST_SITE + number, "loop", 0, count, 100 * number + count)
        for number, count in counts.items()
    ]
    found = stacks.relations(swept({}, []), (), sites(nodes), launches)["source_line"]
    calls: Counter[Any] = Counter()
    gpu_ns: Counter[Any] = Counter()
    total_ns: Counter[Any] = Counter()
    for number, count in counts.items():
        chain = chain_of(nodes, number)
        own = next((line for line in chain if line[0] == OWN), (None, None))
        calls[own] += count
        gpu_ns[own] += 100 * number + count
        total_ns.update(dict.fromkeys(chain, 100 * number + count))
    names = ("file", "line", "layer", "calls", "gpu_ns", "total_gpu_ns", "self_ns", "readings")
    rows = [row for row in zip(*(found[name] for name in names), strict=True) if row[2] == GPU]
    assert set(rows) == {
        (*line, GPU, calls[line], gpu_ns[line], total_ns[line], 0, 0)
        for line in calls.keys() | total_ns.keys()
    }


def test_waiting_without_a_line_is_in_a_row_of_its_own():
    nodes = [(0, OWN, 5), (0, LIBRARY, 10)]
    waits = swept({1: 3, 2: 1}, nodes)
    for name in ("breakdown", "state_reading"):
        waits[name]["layer"] = [WAIT] * len(waits[name]["layer"])
    found = stacks.relations(waits)["source_line"]
    assert dict(zip(found["line"], found["wait_ns"], strict=True)) == {5: 750, 10: 0, None: 250}


def swept_states(
    states: list[tuple[int, int, int, dict[int, int]]], nodes: list[tuple[int, str, int]]
) -> dict[str, Any]:
    """A sweep of states: operation, layer, time, and readings by stack."""
    readings = [
        (operation, layer, number, count)
        for operation, layer, _, counts in states
        for number, count in counts.items()
    ]
    of_states, of_readings = (list(zip(*rows, strict=True)) for rows in (states, readings))
    where = ("operation", "layer")
    return {
        "breakdown": {name: list(of_states[place]) for place, name in enumerate(where)}
        | {"stage": ["loop"] * len(states), "duration_ns": list(of_states[2])},
        "state_reading": {
            name: list(of_readings[place])
            for place, name in enumerate((*where, "stack", "readings"))
        }
        | {"stage": ["loop"] * len(readings)},
        "stack": swept({}, nodes)["stack"],
    }


def test_a_line_of_an_operation_may_be_in_its_other_layers_too():
    """In the second without a reading of the line, in the third without any; in no other
    operation, and no line of a library."""
    nodes = [(0, OWN, 5), (0, OWN, 6), (1, LIBRARY, 80)]
    states = [(0, 2, 900, {3: 3}), (0, 3, 600, {2: 2}), (0, WAIT, 40, {}), (1, 2, 700, {2: 2})]
    found = stacks.relations(swept_states(states, nodes))["source_line"]
    names = ("operation", "layer", "line", "own_ns", "own_low_ns", "own_high_ns")
    rows = {row[:3]: row[3:] for row in zip(*(found[name] for name in names), strict=True)}
    assert set(rows) == {
        *((0, layer, line) for layer in (2, 3, WAIT) for line in (5, 6)),
        (0, 2, 80),
        (1, 2, 6),
        (0, WAIT, None),
    }
    assert rows[0, 3, 5] == (0, *blocked.share(600, 2, 0)[1:])
    assert 300 < rows[0, 3, 5][2] < 600
    assert rows[0, WAIT, 5] == rows[0, WAIT, 6] == (0, 0, 40)
    assert rows[0, 2, 5][0] == 900
    assert rows[0, WAIT, None] == (0, 0, 0)
    for name in ("readings", "self_ns", "own_ns", "total_ns", "wait_ns"):
        row = found["line"].index(5, found["line"].index(5) + 1)
        assert found[name][row] == 0


@given(st.integers(0, 10**15), st.dictionaries(st.integers(0, 9), st.integers(1, 99), min_size=1))
def test_parts_add_up_and_none_is_off_by_one(whole, counts):
    found = stacks.parts(whole, counts)
    total = sum(counts.values())
    assert sum(found.values()) == whole
    for number, part in found.items():
        assert abs(part * total - whole * counts[number]) < total


@pytest.mark.parametrize(
    ("file", "is_own"),
    [
        ("/home/me/train.py", True),
        ("/tmp/ipykernel_41/12.py", True),
        ("/usr/lib/python3.11/json/decoder.py", False),
        ("/usr/lib64/python3.12/json/decoder.py", False),
        ("/usr/lib/python3/dist-packages/numpy/core.py", False),
        ("/home/me/.venv/lib/python3.11/site-packages/torch/nn.py", False),
        ("<frozen importlib._bootstrap>", False),
        ("<string>", False),
        ("", False),
    ],
)
def test_which_files_are_the_programs_own(file, is_own):
    assert own_code.is_own(file) is is_own
    assert own_code.is_own(file, ["/home/me", "/usr"]) is (is_own or file.startswith("/"))


@pytest.mark.parametrize(
    ("file", "is_own"),
    [
        ("/v/lib/python3.11/site-packages/stable_baselines3/sac/sac.py", True),
        ("/usr/lib/python3/dist-packages/stable_baselines3.py", True),
        ("/v/lib/python3.11/site-packages/stable_baselines3_extra/a.py", False),
        ("/v/lib/python3.11/site-packages/torch/stable_baselines3/a.py", False),
    ],
)
def test_a_module_is_the_programs_own_by_its_name(file, is_own):
    assert own_code.is_own(file, ["stable_baselines3"]) is is_own
    assert own_code.is_own(file, ["stable_baselines3.sac"]) is (is_own and "/sac/" in file)


@pytest.mark.parametrize(
    ("source", "folders"), [(["/opt/lib", 3], ["/opt/lib"]), ("/opt/lib", []), (None, [])]
)
def test_folders_of_own_code_are_those_of_the_run(source, folders):
    assert run_facts.own_folders({"options": {"source": source}}) == folders


def test_the_core_takes_the_same_files_for_libraries():
    core = Path(__file__).parents[2] / "csrc/python/runtime_module/import_times.cc"
    text = core.read_text().partition("bool IsLibrary(")[2].partition("\n}")[0]
    named = [part for part in text.split('"') if part.startswith("/")]
    assert named == list(own_code.LIBRARIES)


def test_the_text_of_a_file_is_its_lines_as_they_were(tmp_path):
    trace_of(tmp_path, {20: 2}).close()
    root = tmp_path / "run"
    source_files.append(str(root), "a.py", "x = 1\r\n\x0cy = '\u2028'\n\nz")
    source_files.append(str(root), "a.py", "later\n")
    source_files.append(str(root), "b.py", "on no stack\n")
    with open(root / source_files.FILE, "a") as file:
        file.write('{"file": "c.py"}\n{"file": ')
    with load(root) as trace:
        assert list(trace.table("source_text")) == [
            ("a.py", 1, "x = 1"),
            ("a.py", 2, "\x0cy = '\u2028'"),
            ("a.py", 3, ""),
            ("a.py", 4, "z"),
        ]

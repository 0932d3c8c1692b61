"""Names and roles of processes by what is known of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlscope.relations.rows.known_roles import TARGETS
from rlscope.relations.rows.roles import NOTE, RANK_NOTE, program_name, roles
from rlscope.relations.rows.waits import Waits

Process = dict[str, Any]
Groups = dict[int, set[str]]


def process(parent: int | None = 0, **facts: Any) -> Process:
    """A Python program, as _trace.Directory.processes has it."""
    note, rank = facts.pop("note", None), facts.pop("rank", None)
    metadata = {} if note is None else {NOTE: note if type(note) is str else json.dumps(note)}
    if rank is not None:
        metadata[RANK_NOTE] = json.dumps({"rank": rank, "world_size": 2})
    known = {"os_pid": id(metadata), "start_time": 1, "name": "", "comm": "python", "forked": False}
    given = {"python": "3.11.7", "program": "python train.py", "parent_index": parent}
    return {**known, **given, "metadata": metadata, **facts}


def child(target: str, parent: int = 0, **note: Any) -> Process:
    """A child of multiprocessing."""
    known = {"class": "SpawnProcess", "name": "SpawnProcess-1", "target": target}
    return process(parent, note={**known, **note})


def shell(parent: int | None = None) -> Process:
    return process(parent, comm="bash", python="", program="")


ROOT = process(None)


def named(
    *processes: Process, groups: Groups | None = None, giving: tuple[int, ...] = ()
) -> list[tuple[str, str]]:
    names, found = roles(processes, groups or {}, giving)
    return list(zip(names, found, strict=True))


def test_the_program_that_was_started_is_main() -> None:
    assert named(ROOT) == [("train.py", "main")]


def test_a_run_whose_program_recorded_nothing_has_its_command() -> None:
    silent = process(None, program="")
    assert roles([silent], {}, (), "python -u train.py") == (["train.py"], ["main"])


def test_a_program_that_is_not_python_is_main_where_no_other_is() -> None:
    assert named(shell()) == [("bash", "main")]


def test_the_one_program_below_a_shell_is_main() -> None:
    assert named(shell(), shell(0), process(1)) == [
        ("bash 0", "helper"), ("bash 1", "helper"), ("train.py", "main"),
    ]  # fmt: skip


def test_several_programs_below_a_shell_are_equals() -> None:
    assert named(shell(), process(0), process(0), process(1)) == [
        ("bash", "helper"), ("train.py 0", "program"), ("train.py 1", "program"),
        ("train.py 2", "program"),
    ]  # fmt: skip


def test_what_main_became_by_exec_is_main() -> None:
    before = {**shell(), "os_pid": 7}
    assert named(before, {**process(None), "os_pid": 7}) == [
        ("bash", "helper"), ("train.py", "main"),
    ]  # fmt: skip


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_a_known_target_decides(target: str) -> None:
    kind = TARGETS[target]
    name = kind.name if kind.role == "helper" else f"{kind.name} 0"
    assert named(ROOT, child(target, name="Worker<AsyncVectorEnv>-0"))[1] == (name, kind.role)


def test_the_number_of_an_argument_wins_over_the_order() -> None:
    target = "train.collect"
    first, second = child(target, number=1, index=5), child(target, number=2, index=4)
    assert named(ROOT, first, second)[1:] == [("collect 5", "worker"), ("collect 4", "worker")]


def test_children_are_numbered_in_the_order_in_which_they_were_made() -> None:
    late, early = child("train.collect", number=2), child("train.collect", number=1)
    assert named(ROOT, late, early)[1:] == [("collect 1", "worker"), ("collect 0", "worker")]


def test_children_of_two_parents_are_numbered_apart() -> None:
    processes = [ROOT, child("a.learn", number=1), child("a.learn", number=2)]
    processes += [child("a.collect", parent=1), child("a.collect", parent=2)]
    assert [name for name, _ in named(*processes)[1:]] == [
        "learn 0", "learn 1", "collect 0", "collect 0 (2)",
    ]  # fmt: skip


def test_workers_of_a_second_epoch_have_names_of_their_own() -> None:
    loader = "torch.utils.data._utils.worker._worker_loop"
    workers = [child(loader, index=index) for index in (0, 1, 0, 1)]
    assert [name for name, _ in named(ROOT, *workers)[1:]] == [
        "data loader 0", "data loader 1", "data loader 0 (2)", "data loader 1 (2)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("made_by", "name", "expected"),
    [
        ("ForkProcess", "ForkProcess-3:1", "_act 0"),
        ("SpawnProcess", "SpawnPoolWorker-2", "_act 0"),
        ("Process", "Process-1", "_act 0"),
        ("Actor", "Actor-1:2", "_act 0"),
        ("Process", "evaluator", "evaluator"),
        ("Process", "Actor-1", "Actor-1"),
    ],
)
def test_the_programs_own_name_of_a_child_wins(made_by: str, name: str, expected: str) -> None:
    target = "train.main.<locals>._act"
    note = {"class": made_by, "name": name, "target": target}
    assert named(ROOT, process(note=note))[1] == (expected.lstrip("_"), "worker")


def test_workers_that_only_simulate_step_environments() -> None:
    processes = ROOT, child("train.collect"), child("train.learn")
    groups = {0: {"simulation"}, 1: {"simulation"}}
    assert named(*processes, groups=groups) == [
        ("train.py", "main"), ("collect 0", "environment worker"), ("learn 0", "worker"),
    ]  # fmt: skip


_ACTS = {"simulation", "inference"}
_LEARNS = {*_ACTS, "learning"}


@pytest.mark.parametrize(
    ("trains", "tests", "giving", "role"),
    [
        (_LEARNS, _ACTS, (), "evaluator"),
        (_LEARNS, {*_ACTS, "evaluation", "loading"}, (), "evaluator"),
        # Somebody gets its experience.
        (_LEARNS, _ACTS, (1,), "worker"),
        (_LEARNS, _ACTS, (2,), "evaluator"),  # the other one gives
        # It has another part in the run, or too little for one.
        (_LEARNS, {*_ACTS, "replay"}, (), "worker"),
        (_LEARNS, _LEARNS, (), "worker"),
        (_LEARNS, {"inference"}, (), "worker"),
        # Nobody learns.
        (_ACTS, _ACTS, (), "worker"),
    ],
)
def test_a_worker_that_acts_alone_beside_one_that_learns_evaluates(
    trains: set[str], tests: set[str], giving: tuple[int, ...], role: str
) -> None:
    processes = ROOT, child("train.test"), child("train.train")
    found = named(*processes, groups={1: tests, 2: trains}, giving=giving)
    assert found[1:] == [("test 0", role), ("train 0", "worker")]


_READS, _WRITES = ("pipe 1|posix.read", "pipe 1|posix.write")
_RELEASES, _ACQUIRES = (f"semaphore 2|SemLock.{name}" for name in ("release", "acquire"))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([_READS, _RELEASES], [_WRITES, _ACQUIRES], {1}),  # a queue
        ([_READS], [_READS], set()),  # nobody at the other end
        ([_RELEASES], [_ACQUIRES], {0, 1}),  # of what, does not show
        ([_READS, _ACQUIRES], [_WRITES, _RELEASES], {0, 1}),
        (["socket 3|recv"], ["socket 4|send"], {0, 1}),
        (["process 101|posix.waitpid"], [], set()),
    ],
)
def test_who_only_reads_gives_nothing(
    first: list[str], second: list[str], expected: set[int]
) -> None:
    waits = Waits()
    for index, uses in enumerate((first, second)):
        names = ("stage", "thread_id", "operation", "source", "count", "duration_ns", "self_ns")
        rows = {name: [0] * len(uses) for name in names} | {"wait": uses}
        waits.add({"index": index, "os_pid": 100 + index}, 0, ["socketpair 3 4"], rows)
    assert waits.giving() == expected


def test_a_name_that_the_program_gave_stays_and_so_does_the_role() -> None:
    target = "train.collect"
    actors = [{**child(target, number=n), "name": "actor"} for n in range(2)]
    assert named(ROOT, *actors, child(target, number=2))[1:] == [
        ("actor", "worker"), ("actor", "worker"), ("collect 0", "worker"),
    ]  # fmt: skip


def test_a_fork_is_a_worker() -> None:
    assert named(ROOT, process(forked=True), process(forked=True))[1:] == [
        ("fork 0", "worker"), ("fork 1", "worker"),
    ]  # fmt: skip


def test_a_fork_that_became_another_program_is_a_helper() -> None:
    """As Ray starts its services, with a function of its own before exec."""
    before, after = process(forked=True, os_pid=7), process(comm="raylet", python="", os_pid=7)
    assert named(ROOT, before, after, process(forked=True))[1:] == [
        ("fork 0", "helper"), ("raylet", "helper"), ("fork 1", "worker"),
    ]  # fmt: skip


def test_ranks_are_those_that_inherit_the_variables_of_no_rank() -> None:
    agent = process(None, program="python -m torch.distributed.run train.py")
    ranks = [process(0, rank=1), process(0, rank=0)]
    assert named(agent, *ranks, process(1, rank=1), shell(2), process(4, rank=0)) == [
        ("torchrun", "helper"), ("rank 1", "rank"), ("rank 0", "rank"),
        ("train.py 0", "program"), ("bash", "helper"), ("train.py 1", "program"),
    ]  # fmt: skip


def test_processes_of_ray() -> None:
    worker = "python /site-packages/ray/_private/workers/default_worker.py --node"
    dashboard = "python /site-packages/ray/dashboard/dashboard.py --port=1"
    runner = {"actor": "SingleAgentEnvRunner"}
    processes = [
        ROOT,
        process(0, comm="gcs_server", python="", program=""),
        process(0, comm="raylet", python="", program=""),
        process(0, program=dashboard),
        child("multiprocessing.spawn", parent=3),
        process(2, program=worker),
        process(2, program="ray::IDLE", note=runner),
        process(2, program=worker, note=runner),
        process(2, program=worker, note={"tasks": "rollout, evaluate"}),
        process(2, program=""),
        process(2, program="ray::DashboardAgent"),
    ]
    assert named(*processes)[1:] == [
        ("gcs_server", "helper"), ("raylet", "helper"),
        ("ray dashboard 0", "helper"), ("ray dashboard 1", "helper"),
        ("ray idle worker 0", "helper"),
        ("SingleAgentEnvRunner 0", "actor"), ("SingleAgentEnvRunner 1", "actor"),
        ("rollout, evaluate", "task"), ("ray idle worker 1", "helper"),
        ("ray DashboardAgent", "helper"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("/usr/bin/python3.11 -u -X dev -W error /home/a/train.py --lr 1", "train.py"),
        ("python -m cleanrl.ppo --seed 1", "-m cleanrl.ppo"),
        ("python -c print(1)", "-c print(1)"),
        ("python -c " + 20 * "go on ", "-c go on go on go on go on go on go on …"),
        ("python", "python -"),
        ("", "short"),
        ("ray::IDLE", "short"),
    ],
)
def test_a_program_is_called_by_its_script(program: str, name: str) -> None:
    assert program_name(program, "short") == name


@pytest.mark.parametrize(
    "note", ["", "[1]", "{", '{"class": 1}', '{"class": "\\ud800"}', "[" * 100_000]
)
def test_a_note_may_hold_anything(note: str) -> None:
    ((_, _), (name, role)) = named(ROOT, process(note=note))
    assert role in ("program", "worker")
    assert name.encode()


_notes = st.fixed_dictionaries(
    {"class": st.sampled_from(["Process", "Actor"]), "name": st.sampled_from(["Process-1", "a"])},
    optional={
        "target": st.sampled_from(["m.collect", "m.learn", *sorted(TARGETS)[:3]]),
        "index": st.integers(0, 2),
        "number": st.integers(1, 3),
    },
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.none() | _notes, st.sampled_from(["", "python"]), st.booleans(), st.integers(0, 99)
        ),
        max_size=12,
    )
)
def test_no_two_processes_share_a_name_that_was_derived(children: Any) -> None:
    processes = [ROOT]
    for note, python, forked, parent in children:
        facts = {"note": note, "python": python, "forked": forked}
        processes.append(process(parent % len(processes), **facts))
    groups = {index: {"simulation"} for index in range(0, len(processes), 2)}
    names, found = roles(processes, groups)
    assert len(set(names)) == len(names) == len(found)
    assert found.count("main") == 1
    for number, each in enumerate(processes):  # what a process began after changes nothing in it
        if not each["python"]:
            assert found[number] == "helper"


@pytest.mark.parametrize(
    ("arguments", "name", "role"),
    [
        ("-m json.tool --help", "-m json.tool", "program"),
        ("-c import os; os.getpid()", "-c import os; os.getpid()", "program"),
        ("job.py --seed 1", "job.py", "program"),
        ("-c from multiprocessing.resource_tracker", "resource tracker", "helper"),
        ("-c from multiprocessing.forkserver impor", "fork server", "helper"),
        ("-c from multiprocessing.spawn import spaw", "worker 0", "worker"),
        ("", "python", "program"),
    ],
)
def test_an_interpreter_that_recorded_nothing_is_named_by_what_it_runs(
    arguments: str, name: str, role: str
) -> None:
    names, found = roles([ROOT, process(program="", arguments=arguments)], {})
    assert (names[1], found[1]) == (name, role)

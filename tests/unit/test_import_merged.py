"""A file of torch.profiler that a tool made of several: each pid of its threads is a process."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from support.files.kineto_files import GOLDEN, annotation, at_real, kernel, launch, op, write

from rlscope.importing.directory import import_files
from rlscope.opening import load

US = 1000


def of(pid, row):
    """The row of a thread as one of another process."""
    return {**row, "pid": pid, "tid": pid}


def on(device, row):
    return {**row, "pid": device, "args": {**row["args"], "device": device}}


def load_rows(folder, rows, **facts):
    file = write(folder / "merged.json", rows, **facts)
    import_files([str(file)], str(folder / "run"))
    return load(folder / "run")


def rank(pid, device, correlation=3):
    """Rows of a process, in which a kernel has the launch that each has in its process."""
    return [
        of(pid, annotation("ProfilerStep#5", at_real(0), 100)),
        of(pid, op("aten::mm", at_real(0), 90)),
        of(pid, launch(at_real(5), 3, correlation)),
        on(device, kernel(f"gemm{pid}", at_real(10), 50, correlation)),
    ]


def kernels(trace):
    """pid -> how many kernels of each name, and what launched them."""
    rows = trace.sql(
        """SELECT os_pid, kernel.name, operation, device, "count"
        FROM kernel JOIN process USING (process_id) ORDER BY ALL"""
    )
    return list(rows)


def test_two_pids_are_two_processes(tmp_path):
    with load_rows(tmp_path, [*rank(100, 0), *rank(200, 1)]) as trace:
        processes = trace.sql("SELECT os_pid, end_ns - start_ns FROM process ORDER BY os_pid")
        assert list(processes) == [(100, 100 * US), (200, 100 * US)]
        assert kernels(trace) == [
            (100, "gemm100", "(none)", 0, 1),
            (200, "gemm200", "(none)", 1, 1),
        ]
        assert list(trace.sql("SELECT gpu, processes FROM gpu_device ORDER BY gpu")) == [
            ("0", 1), ("1", 1),
        ]  # fmt: skip
        sums = trace.sql(
            "SELECT process_id, sum(duration_ns)::BIGINT FROM breakdown GROUP BY ALL ORDER BY 1"
        )
        assert list(sums) == [(0, 100 * US), (1, 100 * US)]


def test_work_goes_to_the_process_of_its_launch_wherever_it_stands(tmp_path):
    one, other = rank(100, 0, 3), rank(200, 0, 4)
    with load_rows(tmp_path, [other[3], one[3], *one[:3], *other[:3]]) as trace:
        assert [row[:2] for row in kernels(trace)] == [(100, "gemm100"), (200, "gemm200")]


def test_a_process_lasts_as_long_as_its_own_work(tmp_path):
    """What stood behind it at first is another one's."""
    rows = [*rank(100, 0, 3)[:3], *rank(200, 1, 4)[:3]]
    rows.append(on(0, kernel("long", at_real(80), 500, 3)))
    with load_rows(tmp_path, rows) as trace:
        lengths = trace.sql("SELECT os_pid, end_ns - start_ns FROM process ORDER BY os_pid")
        assert list(lengths) == [(100, 580 * US), (200, 100 * US)]


def test_a_rank_of_the_file_is_of_none_of_several_processes(tmp_path):
    facts = {"distributedInfo": {"rank": 3, "world_size": 4}}
    with load_rows(tmp_path, [*rank(100, 0), *rank(200, 1)], **facts) as trace:
        assert ("rank",) not in list(trace.sql("SELECT role FROM process"))


def test_names_of_threads_and_processes_are_found_wherever_they_stand(tmp_path):
    def named(kind, pid, name, **more):
        return {"ph": "M", "name": f"{kind}_name", "pid": pid, "args": {"name": name}, **more}

    rows = [
        named("thread", 200, "early", tid=200),
        *rank(100, 0),
        *rank(200, 1),
        named("thread", 100, "late", tid=100),
        named("process", 100, "trainer"),
        named("process", 200, "actor"),
    ]
    with load_rows(tmp_path, rows) as trace:
        found = trace.sql(
            """SELECT os_pid, process.name, thread.name FROM process JOIN thread USING (process_id)
            ORDER BY os_pid"""
        )
        assert list(found) == [(100, "trainer", "late"), (200, "actor", "early")]


def test_processes_beyond_those_that_are_read_are_counted(tmp_path):
    rows = [of(pid, op("aten::mm", at_real(0), 5)) for pid in range(1, 71)]
    file = write(tmp_path / "many.json", rows)
    imported = import_files([str(file)], str(tmp_path / "run"))
    assert imported.taken() == {"cpu_op": 64}
    assert imported.not_taken() == {"cpu_op beyond the limit of processes": 6}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name.partition(".")[0])
def test_a_real_file_is_of_one_process(path, tmp_path):
    import_files([str(path)], str(tmp_path / "run"))
    with load(tmp_path / "run") as trace:
        assert len(trace.table("process")) == 1


@pytest.mark.parametrize("seed", range(12))
def test_owners_of_work_are_those_of_brute_force(tmp_path, seed):
    chance = random.Random(seed)
    pids = [100, 200, 300]
    rows = [of(pid, op("aten::mm", at_real(0), 90)) for pid in pids]
    for number in range(40):
        correlation = chance.randrange(1, 6)
        if chance.random() < 0.5:
            rows.append(of(chance.choice(pids), launch(at_real(number), 1, correlation)))
        else:
            work = kernel(f"k{number}", at_real(100 + number), 1, chance.choice((0, correlation)))
            rows.append(on(chance.choice((0, 1)), work))
    expected = Counter(
        (owner(rows, place), row["name"])
        for place, row in enumerate(rows)
        if row["cat"] == "kernel"
    )
    with load_rows(tmp_path, rows) as trace:
        assert Counter(row[:2] for row in kernels(trace)) == expected


def owner(rows, place):
    """pid of the nearest launch, the earlier of two equally near; else that of the row before."""
    correlation = rows[place]["args"]["correlation"]
    launches = [
        (abs(other - place), other > place, row["pid"])
        for other, row in enumerate(rows)
        if row["cat"] == "cuda_runtime" and row["args"]["correlation"] == correlation
    ]
    if launches and correlation:
        return min(launches)[2]
    return [row["pid"] for row in rows[:place] if row["cat"] != "kernel"][-1]

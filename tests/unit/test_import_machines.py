"""Files of one job: which are of one machine, and which numbers of GPUs mean one GPU."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest
from support.files.kineto_files import at_real, kernel, op, write

from rlscope.importing.directory import import_files
from rlscope.opening import load

US = 1000


def kernel_on(device, start, length, number):
    row = kernel("gemm", at_real(start), length, number)
    return {**row, "pid": device, "args": {**row["args"], "device": device}}


def write_file(folder, number, *, kernels, pid=7, rank=None, **facts):
    """A file of one process: `kernels` are (device, start, length)."""
    rows = [{**op("aten::mm", at_real(0), 1), "pid": pid, "tid": pid}]
    rows += [kernel_on(*each, place + 1) for place, each in enumerate(kernels)]
    if rank is not None:
        facts["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 16}
    return write(folder / f"file{number}.json", rows, **facts)


def import_all(folder, files):
    import_files([str(file) for file in files], str(folder / "run"))
    return load(folder / "run")


def gpus(trace):
    """(host name, gpu) -> busy time, of all machines in order of host_id and of gpu."""
    found = trace.sql(
        """SELECT host_id, name, gpu, processes, busy_ns FROM gpu_device JOIN host USING (host_id)
        ORDER BY host_id, gpu"""
    )
    return list(found)


def test_ranks_of_files_that_name_no_machine_have_gpus_of_their_own(tmp_path):
    kernels = [(0, 10, 50)]
    files = [write_file(tmp_path, rank, kernels=kernels, rank=rank) for rank in (0, 8)]
    with import_all(tmp_path, files) as trace:
        assert gpus(trace) == [(0, None, "0", 1, 50 * US), (1, None, "0", 1, 50 * US)]
        absent = trace.sql(
            "SELECT reason FROM absent WHERE (relation, column_name) = ('host', 'name')"
        )
        assert len(absent) == 1


@pytest.mark.parametrize("key", ["host_name", "hostname"])
def test_files_that_name_one_machine_are_of_it(tmp_path, key):
    files = [
        write_file(tmp_path, number, kernels=[(number, 10, 50)], rank=number, **{key: "box"})
        for number in (0, 1)
    ]
    with import_all(tmp_path, files) as trace:
        assert gpus(trace) == [(0, "box", "0", 1, 50 * US), (0, "box", "1", 1, 50 * US)]


def test_two_ranks_of_one_machine_do_not_share_the_gpu_that_both_call_0(tmp_path):
    files = [
        write_file(
            tmp_path, rank, kernels=[(0, 10, 50)], rank=rank, pid=100 + rank, host_name="box"
        )
        for rank in (0, 1)
    ]
    with import_all(tmp_path, files) as trace:
        assert gpus(trace) == [
            (0, "box", "0 (rank 0)", 1, 50 * US),
            (0, "box", "0 (rank 1)", 1, 50 * US),
        ]


def test_a_process_that_was_profiled_twice_has_one_gpu(tmp_path):
    files = [
        write_file(tmp_path, number, kernels=[(0, start, 50)], rank=3)
        for number, start in enumerate((10, 100))
    ]
    with import_all(tmp_path, files) as trace:
        assert gpus(trace) == [(0, None, "0", 2, 100 * US)]


def test_a_file_of_tensorboards_handler_names_its_machine(tmp_path):
    rows = [write_file(tmp_path, number, kernels=[(number, 10, 50)], pid=42) for number in (0, 1)]
    files = [
        row.rename(tmp_path / f"node_3_42.17{number}.pt.trace.json")
        for number, row in enumerate(rows)
    ]
    with import_all(tmp_path, files) as trace:
        assert {name for _, name, *_ in gpus(trace)} == {"node_3"}


def test_a_name_that_a_user_chose_for_the_handler_names_no_machine(tmp_path):
    file = write_file(tmp_path, 0, kernels=[(0, 10, 50)], pid=42)
    file = file.rename(tmp_path / "worker_7.17.pt.trace.json")
    with import_all(tmp_path, [file]) as trace:
        assert gpus(trace) == [(0, None, "0", 1, 50 * US)]


def test_no_clock_of_an_imported_machine_is_made_up(tmp_path):
    with import_all(tmp_path, [write_file(tmp_path, 0, kernels=[(0, 10, 50)])]) as trace:
        ((clock, tsc_hz),) = trace.sql("SELECT clock, tsc_hz FROM host")
        assert (clock, tsc_hz) == (None, None)
        columns = trace.sql("SELECT column_name FROM absent WHERE relation = 'host'")
        assert {"clock", "tsc_hz"} <= {name for (name,) in columns}


# ---- any files, against brute force -------------------------------------------------------------


def draw(chance):
    """Facts of the files of a job: rank, pid, machine and kernels of each."""
    files = []
    for _ in range(chance.randrange(1, 5)):
        kernels = [
            (chance.choice((0, 0, 1)), chance.randrange(1, 60), chance.randrange(1, 20))
            for _ in range(chance.randrange(1, 5))
        ]
        files.append(
            {
                "rank": chance.choice((None, 0, 1)),
                "pid": chance.choice((7, 8)),
                "host_name": chance.choice(("", "", "a", "b")),
                "kernels": kernels,
            }
        )
    return files


def is_one_gpu(one, other):
    """Whether a number means one GPU in both, by the rules of docs/reference/semantics.md."""
    same_rank = one["rank"] is not None and one["rank"] == other["rank"]
    if one["host_name"] or other["host_name"]:
        no_rank = one["rank"] is None and other["rank"] is None
        same_owner = same_rank or (no_rank and one["pid"] == other["pid"])
        return one["host_name"] == other["host_name"] and same_owner
    return same_rank and one["pid"] == other["pid"]


def busy_times(files):
    """How long each GPU of the job was busy, ascending: instants, of files that share it."""
    busy = []
    left = {(place, device) for place, file in enumerate(files) for device, *_ in file["kernels"]}
    while left:
        place, device = min(left)
        together = {
            (other, of) for other, of in left
            if of == device and (other == place or is_one_gpu(files[place], files[other]))
        }  # fmt: skip
        left -= together
        instants = {
            instant
            for other, _ in together
            for of, start, length in files[other]["kernels"]
            if of == device
            for instant in range(start, start + length)
        }
        busy.append(len(instants) * US)
    return sorted(busy)


@pytest.mark.parametrize("seed", range(24))
def test_every_gpu_of_a_job_is_busy_as_long_as_brute_force_says(tmp_path, seed):
    drawn = draw(random.Random(seed))
    files = [write_file(tmp_path, number, **facts) for number, facts in enumerate(drawn)]
    machines = defaultdict(set)
    with import_all(tmp_path, files) as trace:
        assert sorted(busy for *_, busy in gpus(trace)) == busy_times(drawn)
        for name, host_id in trace.sql(
            "SELECT host.name, host_id FROM process JOIN host USING (host_id)"
        ):
            machines[name].add(host_id)
    assert all(len(ids) == 1 for name, ids in machines.items() if name is not None)
    assert {name or "" for name in machines} == {each["host_name"] for each in drawn}

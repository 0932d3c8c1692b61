"""Real files of torch.profiler: what is imported of them is what they say."""

from __future__ import annotations

from collections import Counter

import pytest
from support.files.kineto_files import (
    GOLDEN,
    RANKS,
    TAKEN,
    import_golden,
    read,
    self_times,
    to_ns,
)

from rlscope import _trace
from rlscope.importing.directory import import_files
from rlscope.opening import load


def named(path):
    return path.name.removesuffix(".json.gz")


@pytest.fixture(scope="module", params=GOLDEN, ids=named)
def golden(request, tmp_path_factory):
    """(content, what import_files says, trace directory) of a real file."""
    folder = tmp_path_factory.mktemp("golden")
    return read(request.param), import_golden(request.param, folder), folder / "run"


def test_rows_of_a_real_file_are_taken_by_category(golden):
    content, imported, _ = golden
    rows = [each for each in content["traceEvents"] if each["ph"] == "X"]
    assert imported.taken() == Counter(each["cat"] for each in rows if each["cat"] in TAKEN)
    others = [each for each in content["traceEvents"] if each["ph"] != "M"]
    assert imported.not_taken().total() == len(others) - imported.taken().total()


def test_the_sum_of_the_breakdown_is_the_time_range_of_the_file(golden):
    content, _, directory = golden
    base_ns = content.get("baseTimeNanoseconds", 0)
    rows = [each for each in content["traceEvents"] if each.get("cat") in TAKEN]
    start_ns = min(to_ns(each["ts"]) for each in rows) + base_ns
    end_ns = max(to_ns(each["ts"]) + to_ns(each["dur"]) for each in rows) + base_ns
    with load(directory) as trace:
        (process,) = trace.table("process").to_dicts()
        assert (process["start_ns"], process["end_ns"]) == (start_ns, end_ns)
        ((total,),) = trace.sql("SELECT sum(duration_ns)::BIGINT FROM breakdown")
        assert total == end_ns - start_ns
        assert not trace.table("loss").to_dicts()


def test_kernels_of_a_real_file_have_its_times_streams_and_correlation(golden):
    content, _, directory = golden
    base_ns = content.get("baseTimeNanoseconds", 0)
    trace = _trace.Directory(str(directory))
    found = trace.gpu_intervals(0)
    kinds = {"kernel": 1, "gpu_memcpy": 2, "gpu_memset": 3, "cuda_sync": 5}
    names = ("device", "context", "stream", "start_ns", "duration_ns", "kind", "correlation")
    rows = Counter(zip(*(found[name].tolist() for name in names), strict=True))
    expected = Counter(
        (
            each["args"]["device"],
            each["args"]["context"],
            signed(each["args"]["stream"]),
            to_ns(each["ts"]) + base_ns,
            to_ns(each["dur"]),
            kinds[each["cat"]],
            each["args"]["correlation"],
        )
        for each in content["traceEvents"]
        if each.get("cat") in kinds
    )
    assert rows == expected


def signed(stream):
    """No stream is -1, which some files have as a number of 32 bits without a sign."""
    return stream - (1 << 32) if stream >= 1 << 31 else stream


def test_launches_of_a_real_file_are_found_by_correlation(golden):
    content, _, directory = golden
    calls = {
        each["args"]["correlation"]
        for each in content["traceEvents"]
        if each.get("cat") in ("cuda_runtime", "cuda_driver")
    }
    kernels = [each for each in content["traceEvents"] if each.get("cat") == "kernel"]
    linked = sum(each["args"]["correlation"] in calls for each in kernels)
    with load(directory) as trace:
        ((count,),) = trace.sql(
            """SELECT coalesce(sum("count"), 0)::BIGINT FROM kernel
            WHERE operation <> '(unlinked)'"""
        )
    assert count == linked


def test_every_call_of_a_real_file_is_there_and_nests(golden):
    content, _, directory = golden
    rows = [
        each
        for each in content["traceEvents"]
        if each.get("cat") in ("cpu_op", "user_annotation")
        and not each["name"].startswith("ProfilerStep#")
    ]
    counts = {name: count for name, (count, _) in self_times(directory).items()}
    assert counts == Counter(each["name"] for each in rows)


def test_two_ranks_are_one_run_by_their_clocks(tmp_path):
    imported = import_files([str(path) for path in RANKS], str(tmp_path / "run"))
    assert not imported.unaligned()
    with load(tmp_path / "run") as trace:
        processes = trace.sql("SELECT name, role, start_ns FROM process ORDER BY process_id")
        assert list(processes) == [
            ("rank 0", "rank", 1682725898079292000),
            ("rank 1", "rank", 1682725898079484000),
        ]

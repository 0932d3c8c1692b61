"""A trace that torch.profiler records here says the same once it is imported."""

from __future__ import annotations

from collections import defaultdict

import pytest
from support.files.kineto_files import read, self_times

from rlscope.importing.directory import import_files
from rlscope.opening import load

torch = pytest.importorskip("torch")

STEPS = 3


class Doubled(torch.autograd.Function):
    """One whose backward is Python's, inside of a call of the framework."""

    @staticmethod
    def forward(context, value):
        return 2 * value

    @staticmethod
    def backward(context, gradient):
        return 2 * gradient


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "with_stack"])
def with_stack(request):
    return request.param


@pytest.fixture(scope="module")
def profiled(with_stack, tmp_path_factory):
    """(the profiler, the directory of its imported trace)."""
    folder = tmp_path_factory.mktemp("torch")
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.profiler.schedule(wait=0, warmup=1, active=STEPS, repeat=1)
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(
        activities=activities, schedule=schedule, with_stack=with_stack
    ) as profiler:
        for _ in range(STEPS + 1):
            with torch.profiler.record_function("forward"):
                loss = Doubled.apply(model(torch.ones(4, 8))).square().mean()
            with torch.profiler.record_function("backward"):
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
    profiler.export_chrome_trace(str(folder / "trace.json.gz"))
    import_files([str(folder / "trace.json.gz")], str(folder / "run"))
    return profiler, folder / "run"


def test_self_times_are_those_of_key_averages(profiled, with_stack):
    """ProfilerStep is left out: it is an iteration. key_averages() leaves a call out whose only
    content is a call of the same name: its counts are lower then. With stacks it has a row for each
    function of Python, and takes them out of what the annotation around them took itself."""
    profiler, directory = profiled
    found = self_times(directory)
    names = defaultdict(set)
    for each in read(directory.parent / "trace.json.gz")["traceEvents"]:
        names[each.get("cat")].add(each["name"])
    compared = 0
    for average in profiler.key_averages():
        if average.key.startswith("ProfilerStep") or average.key in names["python_function"]:
            continue
        if with_stack and average.key in names["user_annotation"]:
            continue
        count, self_ns = found[average.key]
        assert count >= average.count
        if count == average.count:
            assert self_ns == round(average.self_cpu_time_total * 1000), average.key
            compared += 1
    assert compared >= 15
    assert {"forward", "backward", "aten::addmm", "aten::tanh"} <= set(found)


def test_with_stacks_what_the_framework_calls_of_python_is_python(profiled, with_stack):
    _, directory = profiled
    with load(directory) as trace:
        ((callbacks,),) = trace.sql("SELECT count(*) FROM event WHERE kind = 'callback'")
        ((total, length),) = trace.sql(
            """SELECT (SELECT sum(duration_ns)::BIGINT FROM breakdown), end_ns - start_ns
            FROM process"""
        )
        assert total == length
        assert not trace.sql("SELECT * FROM loss").to_dicts()
    assert (callbacks >= STEPS) == with_stack  # Doubled.backward, of each step


def test_its_steps_operations_and_threads_are_there(profiled):
    _, directory = profiled
    with load(directory) as trace:
        complete = trace.sql("SELECT count(*) FROM iteration WHERE complete")
        assert [tuple(each) for each in complete] == [(STEPS,)]
        paths = trace.sql("SELECT DISTINCT operation FROM breakdown")
        assert {"forward", "backward"} <= {path for (path,) in paths}
        layers = {layer for (layer,) in trace.sql("SELECT DISTINCT layer FROM breakdown")}
        assert {"python", "framework"} <= layers

"""A trace that torch.profiler records here says the same once it is imported."""

from __future__ import annotations

import pytest
from kineto_files import self_times

from rlscope.importing import import_files
from rlscope.load import load

torch = pytest.importorskip("torch")

STEPS = 3


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    """(the profiler, the directory of its imported trace)."""
    folder = tmp_path_factory.mktemp("torch")
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.profiler.schedule(wait=0, warmup=1, active=STEPS, repeat=1)
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, schedule=schedule) as profiler:
        for _ in range(STEPS + 1):
            with torch.profiler.record_function("forward"):
                loss = model(torch.ones(4, 8)).square().mean()
            with torch.profiler.record_function("backward"):
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
    profiler.export_chrome_trace(str(folder / "trace.json.gz"))
    import_files([str(folder / "trace.json.gz")], str(folder / "run"))
    return profiler, folder / "run"


def test_self_times_are_those_of_key_averages(profiled):
    """Of every name but ProfilerStep, which is an iteration. key_averages() leaves a call out whose
    only content is a call of the same name: its counts are lower then."""
    profiler, directory = profiled
    found = self_times(directory)
    compared = 0
    for average in profiler.key_averages():
        if average.key.startswith("ProfilerStep"):
            continue
        count, self_ns = found[average.key]
        assert count >= average.count
        if count == average.count:
            assert self_ns == round(average.self_cpu_time_total * 1000), average.key
            compared += 1
    assert compared >= 20
    assert {"forward", "backward", "aten::addmm", "aten::tanh"} <= set(found)


def test_its_steps_operations_and_threads_are_there(profiled):
    _, directory = profiled
    with load(directory) as trace:
        complete = trace.sql("SELECT count(*) FROM iteration WHERE complete")
        assert [tuple(each) for each in complete] == [(STEPS,)]
        paths = trace.sql("SELECT DISTINCT operation FROM breakdown")
        assert {"forward", "backward"} <= {path for (path,) in paths}
        layers = {layer for (layer,) in trace.sql("SELECT DISTINCT layer FROM breakdown")}
        assert {"python", "framework"} <= layers

"""A trace that JAX's profiler records here becomes one of rlscope."""

from __future__ import annotations

import pytest

from rlscope.importing.directory import import_files
from rlscope.opening import load

jax = pytest.importorskip("jax")

STEPS = 3


def test_a_trace_of_jax_has_its_steps_annotations_and_functions(tmp_path):
    function = jax.jit(lambda values: jax.numpy.tanh(values).sum())
    values = jax.numpy.ones((64, 64))
    function(values).block_until_ready()
    jax.profiler.start_trace(str(tmp_path / "log"), create_perfetto_link=False)
    for step in range(STEPS):
        with jax.profiler.StepTraceAnnotation("train", step_num=step + 5):
            with jax.profiler.TraceAnnotation("act"):
                function(values).block_until_ready()
            with jax.profiler.TraceAnnotation("learn"):
                function(2 * values).block_until_ready()
    jax.profiler.stop_trace()
    (file,) = (tmp_path / "log").glob("plugins/profile/*/*.trace.json.gz")
    imported = import_files([str(file)], str(tmp_path / "run"), operations=["act", "learn"])
    assert imported.taken()["steps"] == STEPS
    with load(tmp_path / "run") as trace:
        (process,) = trace.table("process").to_dicts()
        ((total,),) = trace.sql("SELECT sum(duration_ns)::BIGINT FROM breakdown")
        assert total == process["end_ns"] - process["start_ns"]
        counts = trace.sql(
            "SELECT path, count(*) FROM operation_instance JOIN operation USING (operation_id)"
            " GROUP BY ALL ORDER BY path"
        )
        assert [tuple(each) for each in counts] == [("act", STEPS), ("learn", STEPS)]
        ((calls,),) = trace.sql(
            "SELECT count(*) FROM event WHERE kind = 'call' AND name LIKE 'PjitFunction(%'"
        )
        assert calls >= 2 * STEPS
        layers = {layer for (layer,) in trace.sql("SELECT DISTINCT layer FROM breakdown")}
        assert {"python", "framework"} <= layers
        assert not trace.table("loss").to_dicts()

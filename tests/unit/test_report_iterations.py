"""What the report asks of SQL about iterations: their lengths, drift and cost, and the rest."""

import pytest
from support.files.relation_rows import SECOND, Relations, process

from rlscope.analysis import iterations, operations
from rlscope.report.panel import Drawing
from rlscope.report.panels.iterations import PANEL


def _iterations(durations: list[int]) -> list[dict[str, object]]:
    """Rows of `iteration`; the last one is incomplete."""
    last = len(durations) - 1
    return [
        {
            "process_id": 0,
            "iteration": i,
            "start_ns": sum(durations[:i]),
            "duration_ns": d,
            "complete": i < last,
            "source": "explicit",
        }
        for i, d in enumerate(durations)
    ]


def test_the_last_iteration_is_not_in_any_statistic() -> None:
    trace = Relations(process=[process(0, 0, 9)], iteration=_iterations([10, 20, 30, 999]))
    (row,) = iterations.iteration_summary(trace, processes=1).to_dicts()
    assert (row["iterations"], row["median_ns"], row["max_ns"]) == (3, 20, 30)
    assert row["drift"] is None  # too few to say


def test_iterations_found_automatically_do_not_stand_in_for_those_of_the_program() -> None:
    found = [{**row, "source": "automatic"} for row in _iterations([10, 20, 30])]
    own = {**_iterations([999])[0], "iteration": 3}
    trace = Relations(process=[process(0, 0, 9)], iteration=[*found, own])
    assert not iterations.iteration_summary(trace, processes=1)
    assert not iterations.iteration_series(trace, points=9, processes=1)
    assert not iterations.iteration_cost(trace, operations=1)


def test_drift_compares_the_last_tenth_with_the_first() -> None:
    durations = [100] * 100 + [120] * 100 + [0]
    trace = Relations(process=[process(0, 0, 9)], iteration=_iterations(durations))
    (row,) = iterations.iteration_summary(trace, processes=1).to_dicts()
    assert (row["first_tenth_ns"], row["last_tenth_ns"]) == (100, 120)
    assert row["drift"] == pytest.approx(0.2)


def test_tenths_of_fewer_than_twenty_iterations_are_too_short_to_drift() -> None:
    durations = [100] * 100 + [120] * 99 + [0]
    trace = Relations(process=[process(0, 0, 9)], iteration=_iterations(durations))
    (row,) = iterations.iteration_summary(trace, processes=1).to_dicts()
    assert (row["iterations"], row["drift"]) == (199, None)


def test_iterations_that_differ_like_episodes_have_no_drift() -> None:
    durations = [400, *[100] * 9] * 20 + [0]
    trace = Relations(process=[process(0, 0, 9)], iteration=_iterations(durations))
    (row,) = iterations.iteration_summary(trace, processes=1).to_dicts()
    assert (row["iterations"], row["drift"], row["first_tenth_ns"]) == (200, None, None)


@pytest.mark.parametrize(("steps", "drift"), [(30, None), (10, 2)])
def test_iterations_that_do_more_at_the_end_have_no_drift(steps: int, drift: float | None) -> None:
    """As episodes of a policy that learns to stand."""
    entries = [10] * 160 + [steps] * 41
    instances = [
        {"process_id": 0, "operation_id": 0, "iteration": place}
        for place, count in enumerate(entries)
        for _ in range(count)
    ]
    trace = Relations(
        process=[process(0, 0, 9)],
        iteration=_iterations([100] * 160 + [300] * 40 + [0]),
        operation_instance=instances,
    )
    (row,) = iterations.iteration_summary(trace, processes=1).to_dicts()
    assert row["drift"] == drift


def test_a_loop_that_becomes_three_times_as_slow_drifts() -> None:
    trace = Relations(
        process=[process(0, 0, 9)], iteration=_iterations([100] * 160 + [300] * 40 + [0])
    )
    (row,) = iterations.iteration_summary(trace, processes=1).to_dicts()
    assert row["drift"] == 2


def test_iterations_in_windows_of_gpu_work_are_no_drift() -> None:
    """All was recorded at first, which made them longer."""
    rows = _iterations([140] * 20 + [100] * 250 + [140] * 10 + [0])
    recorded = [{**row, "gpu_recorded": row["duration_ns"] == 140} for row in rows]
    trace = Relations(process=[process(0, 0, 9)], iteration=recorded)
    (row,) = iterations.iteration_summary(trace, processes=1).to_dicts()
    assert (row["iterations"], row["drift"]) == (280, 0)


@pytest.mark.parametrize(("longest", "top"), [(400, None), (401, 200)])
def test_one_long_iteration_does_not_flatten_the_others(longest: int, top: int | None) -> None:
    trace = Relations(
        process=[process(0, 0, 9)], iteration=_iterations([100] * 100 + [longest] * 2)
    )
    drawing = PANEL.draw(PANEL.read(trace))  # type: ignore[arg-type]
    assert isinstance(drawing, Drawing)
    (note,) = drawing.notes
    (figure,) = drawing.charts[0].views.values()
    assert figure["layout"]["yaxis"].get("range") == (top and [0, top])
    assert ("200 ns" in note) == (top is not None)


def test_a_long_series_is_grouped_and_keeps_its_extremes() -> None:
    durations = [50] * 1000 + [1]
    durations[777] = 9000
    trace = Relations(process=[process(0, 0, 9)], iteration=_iterations(durations))
    table = iterations.iteration_series(trace, points=10, processes=1)
    assert len(table) == 10
    assert max(table["max_ns"]) == 9000
    assert table["first"][0] == 0
    assert table["last"][-1] == 999


def test_the_cost_of_an_iteration_is_divided_by_the_complete_ones() -> None:
    trace = Relations(
        process=[process(0, 0, 9)],
        iteration=_iterations([10, 10, 10]),
        operation=[{"operation_id": 4, "name": "sim", "path": "sim", "depth": 0}],
        operation_instance=[
            {"process_id": 0, "operation_id": 4, "iteration": i, "self_ns": ns}
            for i, ns in ((0, 3), (0, 5), (1, 4), (2, 1000), (None, 1000))
        ],
    )
    (row,) = iterations.iteration_cost(trace, operations=3).to_dicts()
    assert (row["operation"], row["per_iteration"], row["mean_ns"]) == ("sim", 1.5, 6)


def test_the_cost_of_an_iteration_is_of_those_that_are_there_whole() -> None:
    """Iterations begin at 0, 10, 20 and 30, and the records up to 12 were rolled up."""
    trace = Relations(
        process=[process(0, 5, 99)],
        loss=[{"process_id": 0, "kind": "rolled_up", "count": 7, "duration_ns": 7}],
        iteration=_iterations([10, 10, 10, 10]),
        operation=[{"operation_id": 4, "name": "sim", "path": "sim", "depth": 0}],
        operation_instance=[
            {"process_id": 0, "operation_id": 4, "iteration": i, "self_ns": ns}
            for i, ns in ((1, 3), (2, 5), (2, 6), (3, 1000))
        ],
    )
    (row,) = iterations.iteration_cost(trace, operations=3).to_dicts()
    assert (row["per_iteration"], row["mean_ns"]) == (2, 11)


def test_the_time_between_operations_is_a_row_of_an_iteration() -> None:
    """However many operations cost more; in the process, and not in each thread."""
    trace = Relations(
        process=[process(0, 0, 9)],
        iteration=_iterations([10, 10, 10]),
        operation=[{"operation_id": 4, "name": "sim", "path": "sim", "depth": 0}],
        operation_instance=[
            {"process_id": 0, "operation_id": 4, "iteration": i, "self_ns": 6} for i in range(3)
        ],
        iteration_breakdown=[
            {
                "process_id": 0,
                "iteration": i,
                "operation": "(none)",
                "layer": layer,
                "duration_ns": ns,
            }
            for i, layer, ns in (
                (0, "python", 1),
                (0, "none", 1),
                (1, "none", 4),
                (2, "none", 9),
                (None, "none", 99),
            )
        ],
    )
    rows = iterations.iteration_cost(trace, operations=1).to_dicts()
    assert [(row["operation"], row["per_iteration"], row["mean_ns"]) for row in rows] == [
        ("sim", 1, 6),
        (operations.BETWEEN, None, 3),
    ]


def _progress(*reports: tuple[int, float]) -> Relations:
    rows = [
        {"process_id": 0, "start_ns": s * SECOND, "done": done, "total": 100.0}
        for s, done in reports
    ]
    return Relations(process=[process(0, 0, 99 * SECOND)], progress=rows)


def test_the_whole_run_goes_on_at_the_rate_between_reports() -> None:
    # 40 s of start, then 10 in 10 s: 90 more take 90 s.
    trace = _progress((40, 0.0), (50, 10.0))
    (row,) = iterations.extrapolation(trace, processes=1).to_dicts()
    assert (row["share"], row["elapsed_ns"], row["whole_ns"]) == (0.1, 50 * SECOND, 140 * SECOND)


def test_a_single_report_is_extrapolated_from_the_start() -> None:
    (row,) = iterations.extrapolation(_progress((20, 50.0)), processes=1).to_dicts()
    assert row["whole_ns"] == 40 * SECOND


def test_nothing_done_extrapolates_to_nothing() -> None:
    (row,) = iterations.extrapolation(_progress((20, 0.0)), processes=1).to_dicts()
    assert row["whole_ns"] is None

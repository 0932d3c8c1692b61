"""Several runs beside each other: what stands in the table and the charts, on runs made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from rlscope.compare import comparison, overlay
from rlscope.compare.measured import Measured
from rlscope.compare.renderers import overlaid

MOST_BYTES = 3 << 20


def run(directory: str, program: str, *, simulation: Sequence[float] = (4, 5, 6)) -> Measured:
    """Iterations of so many milliseconds of simulation, and as many of learning as of it."""
    series = 1e6 * np.array(simulation, dtype=float)
    total = int(2 * series.sum())
    return Measured(
        directory=directory,
        facts={"program": program, "machine": "one"},
        loop_ns=total,
        run_ns=total,
        iterations=len(series),
        states={("simulation", "simulator"): total // 2, ("learning", "python"): total // 2},
        corrected={},
        series={("simulation", "simulator"): series, ("learning", "python"): series},
        findings=[finding("a slow line", 0.3)],
    )


def finding(title: str, saving: float) -> dict[str, object]:
    return {"rule": title, "operation": None, "file": None, "title": title, "saving_share": saving}


def test_the_quartiles_of_the_iterations_are_shown() -> None:
    found = overlay.of([run("a", "python train.py", simulation=range(1, 6))])
    assert found.loops == [overlay.Spread(4e6, 6e6, 8e6)]
    assert dict(found.operations)["simulation"] == [overlay.Spread(2e6, 3e6, 4e6)]


@pytest.mark.parametrize(
    ("programs", "own"),
    [
        (["python train.py --seed 1 -v", "python train.py --seed 2 -v"], ["--seed 1", "--seed 2"]),
        (["python train.py --seed=1", "/bin/python3 train.py"], ["--seed=1", ""]),
        (["python -m agents.ppo 8 8", "python -m agents.ppo 8"], ["8 8", ""]),
        (["python 'unfinished", "python train.py"], ["", ""]),
    ],
)
def test_arguments_that_not_all_runs_have_are_a_run_s_own(
    programs: list[str], own: list[str]
) -> None:
    runs = [run(str(place), each) for place, each in enumerate(programs)]
    assert overlay.of(runs).arguments == own


@pytest.mark.parametrize(
    ("directories", "names"),
    [
        (["/runs/seed-1", "/runs/seed-2"], ["seed-1", "seed-2"]),
        (["/base/ppo", "/new/ppo"], ["base/ppo", "new/ppo"]),
        (["/runs/ppo", "/runs/ppo"], ["/runs/ppo (1)", "/runs/ppo (2)"]),
    ],
)
def test_no_two_runs_have_one_name(directories: list[str], names: list[str]) -> None:
    assert overlay.of([run(each, "python train.py") for each in directories]).names == names


def test_an_operation_without_known_entries_has_its_mean_time() -> None:
    runs = [run("a", "python train.py"), run("b", "python train.py", simulation=(8, 10, 12))]
    row, *_ = comparison.compare(runs[:1], runs[1:]).operations
    assert (row.base, row.new) == (5e6, 10e6)


def test_a_run_without_iterations_has_no_times() -> None:
    whole = replace(run("b", "python train.py"), iterations=0, series={})
    found = overlay.of([run("a", "python train.py"), whole])
    assert found.loops[0] is not None and found.loops[1] is None
    assert all(spreads[1] is None for _, spreads in found.operations)
    assert any("no complete iteration" in each for each in found.warnings)
    assert "No run has" not in overlaid(found)
    assert "No run has a complete iteration." in overlaid(overlay.of([whole, whole]))


def test_findings_have_the_price_of_each_run() -> None:
    other = replace(run("b", "python train.py"), findings=[finding("small arrays", 0.5)])
    found = overlay.of([run("a", "python train.py"), other])
    assert found.findings == [("small arrays", [None, 0.5]), ("a slow line", [0.3, None])]


def test_what_the_runs_differ_by_has_a_value_for_each() -> None:
    runs = [run("a", "python train.py"), run("b", "python train.py"), run("c", "python train.py")]
    runs[1] = replace(runs[1], facts={**runs[1].facts, "machine": "two", "metadata seed": "3"})
    assert overlay.of(runs).facts == [
        ("machine", ["one", "two", "one"]),
        ("metadata seed", ["-", "3", "-"]),
    ]


@pytest.mark.parametrize("name", ["</script><script>alert(1)</script>", "<b>x</b>%{x}"])
def test_a_hostile_name_is_no_markup(name: str) -> None:
    hostile = replace(
        run(f"/runs/{name}", f"python {name} --seed {name}"),
        states={(name, "python"): 1000},
        series={(name, "python"): np.array([1000.0, 1000.0])},
        findings=[finding(name, 0.1)],
    )
    page = overlaid(overlay.of([hostile, run("/runs/plain", "python train.py")]))
    assert name.partition("%")[0] not in page
    assert "&lt;" in page


def test_many_long_runs_make_no_large_page() -> None:
    series = 1e6 * (1 + np.random.default_rng(0).random(1000))
    timeline = [
        {
            "process_id": 0,
            "bucket": bucket,
            "start_ns": 1000 * bucket,
            "bucket_ns": 1000,
            "layer": layer,
            "gpu_busy": False,
            "duration_ns": int(series[bucket] * place) % 250,
        }
        for place, layer in enumerate(("python", "framework", "simulator", "wait"), 1)
        for bucket in range(1000)
    ]
    runs = [
        replace(
            run(f"runs/{place}", "python train.py"),
            iterations=1000,
            series={(f"operation {number}", "python"): series for number in range(40)},
            states={(f"operation {number}", "python"): 1000 for number in range(40)},
            timeline=timeline,
        )
        for place in range(40)
    ]
    page = overlaid(overlay.of(runs))
    assert len(page) < MOST_BYTES
    assert "The first 16 runs are drawn; the table has all of them." in page

"""The page of the validation, made of rows whose figures are known."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))

import validation  # noqa: E402
import validation_page  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "validation.md"
MACHINE = {"kind": "a CPU, 2 cores", "software": "Linux"}


def found(bias: float, low: float, high: float, added: float = 60.0) -> dict[str, Any]:
    return {
        "inflation_percent": added,
        "inflation_interval": [added - 1, added + 1],
        "bias_percent": bias,
        "bias_interval": [low, high],
        "claimed_interval": [-5.0, 5.0],
        "aa_interval": [-0.2, 0.3],
        "rounds": 40,
        "rounds_held": 34,
    }


def row(default: dict[str, Any], calibrated: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "default": default,
        "calibrated": calibrated,
        "ratio": 1.2,
        "limit": 24.0,
        "seconds": 60.0,
        "time": "2026-01-02T03:04:05+00:00",
        "machine": MACHINE,
        **changes,
    }


@pytest.mark.parametrize(
    ("figures", "missed"),
    [
        ((1.0, -1.0, 3.0), []),
        ((-3.1, -3.0, 3.0), ["bias"]),
        ((2.0, -1.0, 3.1), ["interval"]),
        ((2.0, -3.1, 1.0), ["interval"]),
        ((1.0, 0.9, 1.1, 2.9), ["removed"]),
        ((-1.0, -1.1, -0.9, 2.9), ["removed"]),
    ],
)
def test_goals_of_known_costs(figures: tuple[float, ...], missed: list[str]) -> None:
    assert validation_page.misses_of_known(found(*figures)) == missed


@pytest.mark.parametrize(
    ("figures", "missed"),
    [
        ((0.5, -0.4, 1.4), []),
        ((0.9, 0.8, 1.0), []),
        ((0.9, 0.7, 1.1), ["bias"]),
        ((0.0, -1.1, 1.1), ["width"]),
        ((0.6, -0.1, 1.3, -0.5), ["worse than raw"]),
    ],
)
def test_goals_of_ordinary_programs(figures: tuple[float, ...], missed: list[str]) -> None:
    assert validation_page.misses_of_ordinary(found(*figures)) == missed


def test_goals_of_coverage() -> None:
    assert validation_page.misses_of_coverage({"rounds_held": 34, "rounds": 40}) == []
    assert validation_page.misses_of_coverage({"rounds_held": 33, "rounds": 40}) == ["held"]


def test_a_row_has_both_corrections_beside_none() -> None:
    assert validation_page.line("delay: wait", row(found(4.0, 3.0, 5.0), found(0.5, 0.0, 1.0))) == (
        "| wait | +60.0 % [+59.0, +61.0] | +4.0 % [+3.0, +5.0] | [-5.0, +5.0] | bias, interval "
        "| +0.5 % [+0.0, +1.0] | [-5.0, +5.0] | met | [-0.2, +0.3] |"
    )
    assert validation_page.line("coverage: wait", row(found(4, 3, 5), found(0, 0, 1))) == (
        "| wait | +60.0 % [+59.0, +61.0] | 34 of 40 | met | 34 of 40 | met |"
    )


def test_the_page_has_every_measured_part_once_and_keeps_its_text(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    names = list(validation_page._PART.findall(text))
    parts = [name for _, name, _, _ in names]
    assert sorted(parts) == sorted([*validation_page.TABLES, "conditions", "factors"])
    assert text.count("<!-- measured: ") == text.count("<!-- end -->") == len(parts)
    good = row(found(0.5, 0.0, 1.0), found(0.5, 0.0, 1.0))
    rows = dict.fromkeys(validation.programs(tmp_path), good)
    made = validation_page.renewed(text, rows)
    assert validation_page._PART.sub("", made) == validation_page._PART.sub("", text)
    for name in rows:
        assert validation_page.line(name, good) in made
    assert "Measured on 2026-01-02: a CPU, 2 cores; Linux. 28 rows in 28 minutes" in made
    assert "| a CPU, 2 cores | 10 | 1.20 [1.20, 1.20] | 1.20 to 1.20 |" in made
    assert "Goals met: by probes 10 of 10, calibrated 10 of 10." in made
    assert validation_page.renewed(made, rows) == made


def test_a_part_without_rows_stays_and_so_does_the_line_of_another_machine() -> None:
    text = "<!-- measured: delay -->\nold\n<!-- end -->\n<!-- measured: factors -->\n<!-- end -->\n"
    good = row(found(0.5, 0.0, 1.0), found(0.5, 0.0, 1.0))
    wide = row(found(0.5, 0.0, 1.0), found(0.5, -9.0, 9.0), ratio=90.0)
    rows = {"workload: a": {**good, "ratio": 1.0}, "workload: b": good, "workload: c": wide}
    first = validation_page.renewed(text, rows)
    assert first.startswith("<!-- measured: delay -->\nold\n<!-- end -->\n")
    line = "| a CPU, 2 cores | 2 | 1.10 [-0.17, 2.37] | 1.00 to 1.20 |\n"
    assert line in first
    changes = {"machine": {**MACHINE, "kind": "another"}, "ratio": 0.5}
    others = {name: {**each, **changes} for name, each in rows.items()}
    second = validation_page.renewed(first, others)
    assert line in second
    assert "| another | 2 | 0.50 [0.50, 0.50] | 0.50 to 0.50 |\n" in second
    assert validation_page.renewed(second, {"workload: a": good}) == second


def test_a_factor_is_of_all_runs_of_a_calibration_without_cupti() -> None:
    runs = [
        {"added_ns": 30.0, "overhead_ns": 10.0, "cuda": None},
        {"added_ns": 90.0, "overhead_ns": 10.0, "cuda": {"others_ns": 10.0}},
    ]
    assert validation._ratio(runs) == 2.0


def test_there_are_enough_programs_and_time_for_all_of_them(tmp_path: Path) -> None:
    programs = validation.programs(tmp_path)
    ordinary = [name for name in programs if name.startswith("workload: ")]
    assert len(ordinary) >= 8
    minutes = sum(
        each.most_seconds for name, each in programs.items() if not name.startswith("coverage")
    )
    assert minutes / 60 <= 45
    for name in ordinary:
        script, *_ = programs[name].arguments
        assert Path(script).exists(), name

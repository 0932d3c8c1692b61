"""Tables of a trace with many small processes, and with large ones among them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.process import many_processes

from rlscope.opening import load
from rlscope.relations.rows import batches
from rlscope.relations.schema import store

PROCESSES, EVENTS = 30, 40

_QUESTIONS = {
    "instances": "SELECT process_id, count(*) FROM operation_instance GROUP BY ALL ORDER BY ALL",
    "time": "SELECT process_id, operation, layer, gpu_busy, stage, duration_ns FROM breakdown"
    " ORDER BY ALL",
    "life": "SELECT process_id, end_ns - start_ns FROM process ORDER BY ALL",
    "buckets": "SELECT * FROM timeline ORDER BY ALL",
    "iterations": "SELECT * FROM iteration_breakdown ORDER BY ALL",
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("many") / "run"
    many_processes.write(directory, PROCESSES, EVENTS)
    return directory


def answers(directory: Path) -> dict[str, list[tuple[object, ...]]]:
    with load(directory) as trace:
        return {name: list(trace.sql(question)) for name, question in _QUESTIONS.items()}


def make_again(directory: Path) -> dict[str, list[tuple[object, ...]]]:
    (directory / "tables" / "manifest.json").unlink(missing_ok=True)
    return answers(directory)


def files(directory: Path) -> list[Path]:
    return sorted((directory / "tables").rglob("*.parquet"))


def test_small_processes_share_files(recorded: Path) -> None:
    found = make_again(recorded)
    assert found["instances"] == [(process, EVENTS) for process in range(PROCESSES)]
    assert len(files(recorded)) <= len(store.relations())


@pytest.mark.parametrize(
    ("rows", "events", "made"),
    [(1, 20_000, PROCESSES), (100, 20_000, 10), (100_000, 20_000, 1), (100_000, 0, PROCESSES)],
)
def test_rows_do_not_depend_on_how_they_are_put_together(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, rows: int, events: int, made: int
) -> None:
    """From a file for each process to one for all; rows of single intervals streamed or not."""
    expected = make_again(recorded)
    monkeypatch.setattr(batches, "_MOST_ROWS", rows)
    monkeypatch.setattr(batches, "_MOST_EVENTS", events)
    assert make_again(recorded) == expected
    assert (
        len([file for file in files(recorded) if file.parent.name == "operation_instance"]) == made
    )


def test_tables_in_memory_have_the_same_rows(recorded: Path, tmp_path: Path) -> None:
    many_processes.write(tmp_path / "run", PROCESSES, EVENTS)
    (tmp_path / "run" / "tables").write_text("a file where the folder should be")
    assert answers(tmp_path / "run") == make_again(recorded)

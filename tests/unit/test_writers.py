"""The threads that write tables: what they raise, and how they end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlscope.relations.database import Database
from rlscope.relations.files.writers import Writers

LONG = "SELECT count(*) FROM range(1000000000) a, range(1000000) b"


@pytest.fixture
def writers() -> Iterator[Writers]:
    writers = Writers()
    yield writers
    writers.close()


def refuse(_database: Database) -> None:
    raise OSError(28, "No space left on device")


def test_what_one_of_them_raises_is_raised_at_the_end(writers: Writers, tmp_path: Path) -> None:
    done: list[int] = []
    writers.submit(refuse)
    writers.submit(lambda _: done.append(1))
    with pytest.raises(OSError, match="No space left"):
        writers.finish()
    writers.finish()
    assert done == [1]


def test_work_waits_while_much_of_it_does(writers: Writers) -> None:
    """What waits to be written is memory."""
    go, submitted = threading.Event(), []

    def submit() -> None:
        for number in range(100):
            writers.submit(lambda _: go.wait())
            submitted.append(number)

    thread = threading.Thread(target=submit)
    thread.start()
    thread.join(0.5)
    assert len(submitted) < 100
    go.set()
    thread.join()
    writers.finish()


def test_closing_ends_a_statement_that_runs() -> None:
    writers = Writers()
    begun = threading.Event()

    def run(database: Database) -> None:
        begun.set()
        database._duckdb.execute(LONG)

    writers.submit(run)
    assert begun.wait(60)
    closing = threading.Thread(target=writers.close)
    closing.start()
    closing.join(60)
    assert not closing.is_alive()


def test_work_that_had_not_begun_does_not_hold_up_the_end() -> None:
    """A failure elsewhere closes the writers while more is submitted than the threads can begin."""
    writers = Writers()
    go, ended = threading.Event(), threading.Event()
    for _ in range(2 * writers._count):
        writers.submit(lambda _: go.wait())

    def close() -> None:
        writers.close()
        ended.set()

    threading.Thread(target=close, daemon=True).start()
    go.set()
    assert ended.wait(60)

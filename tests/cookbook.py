"""The questions of docs/guide/cookbook.md, and their answers on the run of example_run.py.

python tests/cookbook.py        writes the answers into the page
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from support.files import example_run

from rlscope.opening import load, load_many
from rlscope.table import Table

PAGE = Path(__file__).parents[1] / "docs/guide/cookbook.md"
SEEDS = 3
_BLOCK = re.compile(r"(?<=```sql\n)(?P<query>.*?)\n```\n\n```text\n(?P<answer>.*?)\n```", re.DOTALL)
_MANY = "-- over every run of the folder"


def recipes(page: str) -> Iterator[tuple[str, str]]:
    """Every question of the page, in SQL, with the answer that stands there."""
    for block in _BLOCK.finditer(page):
        yield block["query"], block["answer"]


def is_of_many(query: str) -> bool:
    """Whether a statement reads several runs."""
    return query.startswith(_MANY)


def write_runs(folder: Path) -> None:
    """The example run as three seeds, of which each later one needed an iteration more."""
    for seed in range(SEEDS):
        root = folder / f"seed-{seed}"
        root.mkdir(parents=True)
        example_run.write(root, example_run.ITERATIONS + seed, serves=True)
        run = json.loads((root / "run.json").read_text())
        facts = {**run, "name": f"seed-{seed}", "start_ns": seed, "start_time": None}
        (root / "run.json").write_text(json.dumps(facts))


def answer(folder: Path, query: str) -> Table:
    """What a query of the page answers, on the first of the runs or on all."""
    if is_of_many(query):
        with load_many(folder) as runs:
            return runs.sql(query)
    with load(folder / "seed-0") as trace:
        return trace.sql(query)


def answered(page: str, ask: Callable[[str], Table]) -> str:
    """The page with every answer made anew."""

    def block(found: re.Match[str]) -> str:
        return f"{found['query']}\n```\n\n```text\n{ask(found['query']).to_text()}\n```"

    return _BLOCK.sub(block, page)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        write_runs(Path(folder))
        made = answered(PAGE.read_text(), lambda query: answer(Path(folder), query))
    PAGE.write_text(made)

"""How long modules take to import: relation `import`, by modules that sleep for a known time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.process.traced_python import TracedPython

from rlscope.analysis import imports
from rlscope.opening import load
from rlscope.report import headline

pytestmark = pytest.mark.usefixtures("clean_environment")

MS = 1_000_000
_QUICK = [f"quick{number}" for number in range(10)]
# `gymnasium` stands for a library that rlscope watches: its import makes a process keep imports.
_FILES = {
    "early.py": "import time\ntime.sleep(0.02)\n",
    "inner.py": "import time\ntime.sleep(0.05)\n",
    "outer.py": f"import time\ntime.sleep(0.03)\nimport inner\nimport {', '.join(_QUICK)}\n",
    **{f"{name}.py": "" for name in _QUICK},
    "lazy.py": "import time\ntime.sleep(0.04)\n",
    # Takes as long as the run has taken before it.
    "slow.py": "import json, os, time\n"
    "with open(os.environ['RLSCOPE_DIR'] + '/run.json') as file:\n"
    "    time.sleep((time.monotonic_ns() - json.load(file)['start_ns']) / 1e9)\n",
    "gymnasium/__init__.py": "import gymnasium.core\n",
    "gymnasium/core.py": "class Env:\n    def step(self, action): pass\n",
    "site-packages/library.py": "def make():\n    import lazy\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in _FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def run(traced: TracedPython, directory: str, folder: Path, program: str) -> list[dict[str, Any]]:
    traced.record(directory, folder / "train.py", program)
    with load(directory) as trace:
        return trace.table("import").to_dicts()


def of(rows: list[dict[str, Any]], module: str) -> dict[str, Any]:
    (row,) = (row for row in rows if row["module"] == module)
    return row


def test_modules_have_their_own_time_and_that_of_what_they_import(
    traced: TracedPython, directory: str, folder: Path
) -> None:
    rows = run(traced, directory, folder, "import early\nimport outer\nimport gymnasium\n")
    early, outer, inner = (of(rows, name) for name in ("early", "outer", "inner"))
    assert early["total_ns"] == early["self_ns"] >= 20 * MS
    assert inner["total_ns"] == inner["self_ns"] >= 50 * MS
    assert outer["self_ns"] >= 30 * MS
    assert outer["total_ns"] >= outer["self_ns"] + inner["total_ns"]
    assert early["start_ns"] < outer["start_ns"] < inner["start_ns"]
    assert all(0 <= row["cpu_ns"] < row["self_ns"] for row in (early, outer, inner))
    assert [row["imported_by"] for row in (early, outer, inner)] == [None, None, "outer"]
    asked = [row["asked_by"] for row in (early, outer, inner)]
    assert asked == [f"{folder}/train.py:1", f"{folder}/train.py:2", f"{folder}/outer.py:3"]


def test_own_times_add_up_and_short_modules_are_one_row(
    traced: TracedPython, directory: str, folder: Path
) -> None:
    rows = run(traced, directory, folder, "import early\nimport outer\nimport gymnasium\n")
    named = [row for row in rows if row["module"] is not None]
    (others,) = (row for row in rows if row["module"] is None)
    assert all(row["total_ns"] >= MS for row in named)
    # On a busy machine some of these are not quick.
    slow = [row for row in named if row["module"] in _QUICK]
    assert others["modules"] >= len(_QUICK) - len(slow)
    outermost = sum(row["total_ns"] for row in named if row["imported_by"] is None)
    # Short modules that nothing imported are in no outermost row.
    assert outermost <= sum(row["self_ns"] for row in rows) <= outermost + others["self_ns"]


def test_code_of_a_library_that_imports_is_not_what_asked(
    traced: TracedPython, directory: str, folder: Path
) -> None:
    program = "import sys\nsys.path.append(__file__[:-8] + 'site-packages')\n"
    program += "import gymnasium, library\n\nlibrary.make()\n"
    lazy = of(run(traced, directory, folder, program), "lazy")
    assert (lazy["imported_by"], lazy["asked_by"]) == (None, f"{folder}/train.py:5")


def test_a_module_in_which_the_program_trains_has_no_row(
    traced: TracedPython, directory: str, folder: Path
) -> None:
    (folder / "annotated.py").write_text(
        "import early, time\nimport rlscope as rls\nwith rls.operation('x'): time.sleep(0.05)\n"
    )
    (folder / "found.py").write_text(
        "import gymnasium, inner, time\nclass Env(gymnasium.core.Env): pass\n"
        "Env().step(0)\ntime.sleep(0.05)\n"
    )
    rows = run(traced, directory, folder, "import found\nimport annotated\n")
    assert {"early", "inner"} <= {row["module"] for row in rows}
    assert not {"annotated", "found"} & {row["module"] for row in rows}


def test_a_process_without_a_watched_library_has_no_rows(
    traced: TracedPython, directory: str, folder: Path
) -> None:
    assert run(traced, directory, folder, "import early, outer\n") == []
    with load(directory) as trace:
        reasons = trace.sql("SELECT reason FROM absent WHERE relation = 'import'").to_dicts()
    assert len(reasons) == 1


def test_slow_imports_are_said_with_what_asked_for_them(
    traced: TracedPython, directory: str, folder: Path
) -> None:
    run(traced, directory, folder, "import gymnasium\nimport slow\n")
    with load(directory) as trace:
        said = [each.text for each in headline.read(trace).details]
    (found,) = (text for text in said if text.startswith("Imports of train.py"))
    assert "slow" in found and "train.py line 2" in found


def test_workers_are_one_role_with_the_mean_of_each(
    traced: TracedPython, directory: str, folder: Path
) -> None:
    program = """
import multiprocessing
def work():
    import gymnasium, outer
if __name__ == "__main__":
    workers = [multiprocessing.get_context("spawn").Process(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
"""
    run(traced, directory, folder, program)
    with load(directory) as trace:
        (total,) = (row for row in imports.totals(trace).to_dicts() if row["processes"] == 3)
        rows = trace.sql(
            "SELECT AVG(ns) AS ns FROM (SELECT SUM(self_ns) AS ns FROM import JOIN process"
            " USING (process_id) WHERE role = 'worker' GROUP BY process_id)"
        ).to_dicts()
    assert total["role"] == "worker"
    assert abs(total["wall_ns"] - rows[0]["ns"]) <= 1

"""The commands that README.md names for traces of other tools, on every real file that is here."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from support.process.command_line import rlscope

from rlscope.opening import load

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "tests" / "golden").glob("*/*.json.gz"))
_BLOCK = re.compile(r"```\n(rlscope import .*?)```", re.DOTALL)


def commands() -> list[list[str]]:
    """The words of each command in the block that begins with an import, without its comment."""
    (block,) = _BLOCK.findall((ROOT / "README.md").read_text())
    return [shlex.split(line, comments=True) for line in block.splitlines()]


def test_they_import_report_and_query_one_run():
    import_, report, query = commands()
    assert [words[:2] for words in (import_, report, query)] == [
        ["rlscope", "import"], ["rlscope", "report"], ["rlscope", "query"],
    ]  # fmt: skip
    assert import_[2] == "trace.json.gz"
    assert import_[3:] == ["-o", report[2]]
    assert report[2:] == query[2:3]
    assert len(query) == 4


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_a_real_file_is_imported_reported_and_queried_by_them(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("trace.json.gz").symlink_to(file)
    done = [rlscope(*words[1:]) for words in commands()]
    assert [each.returncode for each in done] == [0, 0, 0], [each.stderr for each in done]
    _, report, query = commands()
    page = Path(done[1].stdout.strip()).read_text()
    assert "trace.json.gz" in page
    with load(report[2]) as trace:
        assert done[2].stdout.strip() == trace.sql(query[3]).to_text().strip()

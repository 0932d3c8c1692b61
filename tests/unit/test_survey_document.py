"""docs/survey.md is what its results say: no number or verdict in it was typed."""

from __future__ import annotations

from pathlib import Path

from rlscope.survey import files, results

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_made_from_the_committed_results() -> None:
    found = results.read(DOCS / "survey-results.json")
    made = files.documents(found, "survey-results.json")
    committed = [path for path in DOCS.glob("survey*") if path.suffix != ".json"]
    assert sorted(made) == sorted(path.name for path in committed)
    for path in committed:
        assert path.read_text(encoding="utf-8") == made[path.name], (
            f"make it again: python -m rlscope.survey.files {DOCS / 'survey-results.json'} {DOCS}"
        )

"""Writes the files of a survey; rlscope.survey.results lists them."""

from __future__ import annotations

from pathlib import Path

from rlscope.survey import article, findings, page, results, runs
from rlscope.survey.results import Results

PAGE = "survey.html"


def write_all(directory: Path, found: Results) -> Path:
    """Everything that is made of results; returns the path of the page.

    Raises RlscopeError: a file cannot be written.
    """
    judged = findings.judge_all(found)
    texts = {
        results.RESULTS: results.to_text(found),
        results.ROWS: results.table(found).to_csv(),
        PAGE: page.render(found, judged),
        **article.files(found, judged),
    }
    for name, text in texts.items():
        runs.write(directory / name, text)
    return directory / PAGE

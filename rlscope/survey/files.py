"""Writes the files of a survey; rlscope.survey.results lists them.

    python -m rlscope.survey.files docs/survey-results.json docs

makes those of a repository from its results. Their page takes plotly from the checkout, which is
1.5 MB smaller than one that holds it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rlscope.survey import article, findings, page, results, runs
from rlscope.survey.results import Results

PAGE = "survey.html"
_PLOTLY = "../rlscope/report/vendor/plotly-cartesian.min.js"


def write_all(directory: Path, found: Results) -> Path:
    """Everything that is made of results; returns the path of the page.

    Raises RlscopeError: a file cannot be written.
    """
    _write(directory, {results.RESULTS: results.to_text(found), **_made(found, page.Beside())})
    return directory / PAGE


def documents(found: Results, source: str) -> dict[str, str]:
    """Name -> text: what stands beside the file of results called `source` in docs/."""
    rows = source.removesuffix(results.RESULTS) + results.ROWS
    return _made(found, page.Beside(source, rows, traces=False, plotly=_PLOTLY))


def _made(found: Results, beside: page.Beside) -> dict[str, str]:
    judged = findings.judge_all(found)
    return {
        beside.rows: results.table(found).to_csv(),
        PAGE: page.render(found, judged, beside),
        **article.files(found, judged, beside.results, beside.rows),
    }


def _write(directory: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        runs.write(directory / name, text)


if __name__ == "__main__":
    _source, _directory = map(Path, sys.argv[1:])
    _write(_directory, documents(results.read(_source), _source.name))

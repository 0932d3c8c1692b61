"""The notebook of the guide runs as it stands, on two small runs; and what a run shows in one."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from support.files import example_run
from support.files.tiny_traces import write_trace

from rlscope.errors import RlscopeError
from rlscope.opening import load, load_many
from rlscope.relations.trace import Trace
from rlscope.report import headline

NOTEBOOK = Path(__file__).parents[2] / "docs/guide/notebook.ipynb"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the reader of the notebook has recorded two seeds."""
    for seed in range(2):
        root = tmp_path / "runs" / f"ppo-seed{seed}"
        root.mkdir(parents=True)
        example_run.write(root)
        run = json.loads((root / "run.json").read_text())
        (root / "run.json").write_text(json.dumps({**run, "start_ns": seed}))
    return tmp_path


@pytest.fixture
def trace(folder: Path) -> Trace:
    return load(folder / "runs/ppo-seed0")


def test_the_notebook_has_no_outputs():
    """They would hold whatever run the last author had, and change with every one."""
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    for cell in cells:
        assert not cell.get("outputs") and not cell.get("execution_count"), cell["source"]


def test_the_notebook_runs(folder, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(folder / "jupyter"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(folder)}}
    ).execute()
    shown = [_html_of(cell) for cell in notebook.cells if cell.cell_type == "code"]
    runs, run, page, breakdown, iterations, slowest, frame, seeds = shown
    assert runs.count("ppo-cartpole") == 2
    assert "Simulation takes " in run and "<svg" in run
    assert "<iframe" in page
    assert "<small>ns</small>" in breakdown
    assert "iteration" in iterations
    assert slowest.count("<tr>") == 6
    assert "rollout/inference" in frame
    assert "deviation_ms" in seeds


def _html_of(cell: Any) -> str:
    (output,) = cell.outputs
    return str(output.data["text/html"])


class _Checked(HTMLParser):
    """Elements of a fragment, which must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.texts: list[str] = []
        self.attributes: dict[str, str | None] = {}
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= dict(attributes)
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data.replace("\u00a0", " "))


def test_a_run_shows_its_headline_and_its_breakdown(trace):
    summary = headline.read(trace)
    page = _Checked(trace._repr_html_())
    assert summary.sentence in page.texts
    assert summary.title in page.texts
    for detail in summary.details:
        assert any(detail.text in text for text in page.texts), detail
    assert {"svg", "rect", "text"} <= page.names
    assert "rollout/inference" in page.texts
    assert "framework + gpu" in page.texts


def test_no_name_of_a_run_is_code(trace):
    """The example has an operation `</script><b>100%{x}`."""
    page = _Checked(trace._repr_html_())
    assert "script" not in page.names
    assert any("script><b>100%{x}" in text for text in page.texts)


def test_a_run_without_operations_shows_what_it_has(tmp_path):
    with load(write_trace("windows", tmp_path / "run")) as trace:
        assert headline.read(trace).sentence in _Checked(trace._repr_html_()).texts


def test_the_report_is_a_page_in_a_frame(trace, tmp_path):
    page = trace.report()
    frame = _Checked(page._repr_html_())
    assert frame.names == {"iframe"}
    assert frame.attributes["srcdoc"] == page.text
    assert "allow-same-origin" not in str(frame.attributes["sandbox"])
    assert page.save(tmp_path / "page.html").read_text() == page.text
    assert page.text.startswith("<!doctype html>")
    assert len(repr(page)) < 100
    with pytest.raises(RlscopeError, match="cannot write"):
        page.save(tmp_path / "missing/page.html")


def test_several_runs_show_a_row_each(folder):
    with load_many(folder / "runs") as runs:
        assert runs.runs == runs.table("run")
        page = _Checked(runs._repr_html_())
        said = {headline.first_sentence(each) for each in runs}
        assert page.texts.count("ppo-cartpole") == 2
        assert said <= {*page.texts}
        assert not any(text.startswith("{") for text in page.texts), "JSON"

"""The page: self-contained, bounded in size, and no name in it is ever code."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser

import pytest
from support.files.relation_rows import Relations
from support.files.report_rows import full_run

from rlscope import registry
from rlscope.report import limits, markup, page
from rlscope.report.renderers import html
from rlscope.report.renderers import json as json_renderer

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "<img src=x onerror=alert(1)>",
    '"\'><b onmouseover="alert(1)">',
    "%{x} ${y} $plotly &amp; \\u003c",
    "a\nb\x00\u2028\u202e",
]


class Page(HTMLParser):
    """What a browser makes of the page: elements, scripts, visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            self.scripts[-1] += data
        elif self._open != "style":
            self.text += data.replace("\u00a0", " ")

    def figures(self) -> list[dict[str, object]]:
        kinds = [attrs.get("type") for tag, attrs in self.elements if tag == "script"]
        scripts = zip(kinds, self.scripts, strict=True)
        return [json.loads(text) for kind, text in scripts if kind == "application/json"]


def _render(trace: Relations) -> str:
    return html.render(trace)  # type: ignore[arg-type]


def _shape(page: Page) -> list[tuple[str, list[str]]]:
    """Elements and their attributes' names."""
    return [(tag, sorted(attrs)) for tag, attrs in page.elements]


@cache
def _harmless() -> Page:
    return Page(_render(full_run(name="harmless", stacks=40)))


@cache
def _whole() -> str:
    return _render(full_run())


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_changes_no_element_of_the_page(name: str) -> None:
    harmless = _harmless()
    page = Page(_render(full_run(name=name, stacks=40)))
    assert _shape(page) == _shape(harmless)
    assert len(page.figures()) == len(harmless.figures())


def test_a_name_with_markup_is_shown_letter_by_letter() -> None:
    page = Page(_render(full_run(name="<b>x</b>")))
    assert "<b>x</b>" in page.text
    labels = page.figures()[0]["layout"]["yaxis"]["ticktext"]  # type: ignore[index]
    assert "&lt;b&gt;x&lt;\\/b&gt;" in labels


def test_no_line_of_the_page_ends_before_a_unit() -> None:
    """Source text has the blanks of its file."""
    unseen = r"<(script|style|code)\b.*?</\1>|<[^>]*>"
    shown = re.sub(unseen, "", _whole(), flags=re.DOTALL)
    assert len(re.findall(r"\d\u00a0(?:ms|s|%)", shown)) > 100
    assert re.findall(r"\d (?:ns|µs|ms|s|%|KiB|MiB|GiB)(?!\w)", shown) == []


def test_the_page_needs_no_network() -> None:
    page = Page(_whole())
    for tag, attributes in page.elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base"}
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
    policy = next(a["content"] for t, a in page.elements if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_no_style_or_script_of_ours_loads_anything() -> None:
    for name in ("page.css", "page.js", "amounts.js", "code.js", "flame.js"):
        text = page.resource(f"templates/{name}")
        assert not re.search(r"https?:|url\(|@import|fetch\(|import\(", text)


def test_the_page_is_bounded_at_every_limit() -> None:
    trace = full_run(
        name="a name of an operation that is rather long, as automatic ones are",
        processes=limits.PROCESSES + 2,
        operations=limits.OPERATIONS + 5,
        buckets=limits.BUCKETS,
        iterations=limits.POINTS * 2,
        samples=limits.POINTS * 2,
        stacks=1000,
        file_lines=5000,
    )
    assert len(_render(trace).encode("utf-8", "backslashreplace")) <= 3_100_000


def test_a_long_file_of_the_program_is_shown_in_part() -> None:
    """Its hot lines and those around them, in a page below 3 MB."""
    text = _render(full_run(stacks=1000, file_lines=5000))
    assert len(text.encode()) < 3_000_000
    rows = [attrs["id"] for tag, attrs in Page(text).elements if tag == "tr" and "id" in attrs]
    assert len(rows) == len(set(rows)) == limits.LINES
    assert 3 * limits.LINES < text.count("step(") < 4 * 7 * limits.LINES
    assert "… lines 1 to " in text


def test_the_scripts_of_lines_are_there_only_with_lines() -> None:
    assert "new FlameGraph" in _whole()
    assert "new FlameGraph" not in _render(Relations())


def test_an_empty_run_is_a_page_that_says_why() -> None:
    page = Page(_render(Relations()))
    assert page.figures() == []
    assert "Nothing was recorded" in page.text


def test_the_tables_of_every_panel_come_as_json() -> None:
    trace = full_run()
    value = json.loads(json_renderer.render(trace))  # type: ignore[arg-type]
    rows = value["panels"]["operations"]["operation_time"]
    whole = trace.sql("SELECT CAST(SUM(duration_ns) AS BIGINT) AS ns FROM breakdown")["ns"][0]
    assert sum(row["duration_ns"] for row in rows if row["process_id"] is None) == whole
    assert [*value["panels"]] == [*registry.builtin(registry.PANELS)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ask `rlscope advise`.", "ask <code>rlscope advise</code>."),
        ("`<b>` and `&`", "<code>&lt;b&gt;</code> and <code>&amp;</code>"),
        ("one ` alone", "one ` alone"),
        ("``` fence ```", "``` fence ```"),
        ("a\n`b`", "a\\n<code>b</code>"),
    ],
)
def test_text_between_backticks_is_code_and_still_escaped(text: str, shown: str) -> None:
    assert markup.sentence(text) == shown

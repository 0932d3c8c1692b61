"""What cites a page of the documentation leads somewhere: the page is there, and its heading.

In code, where the name alone is enough:    docs/guide/cuda.md
                                            semantics.md#gpu
                                            docs/reference/semantics.md, "Corrected time"
                                            semantics.md, Utilisation)
In pages, from where they lie:              [roles](../reference/semantics.md#roles)

Files that a page names are there, too: `rlscope/report/panels/<name>.py`, `analysis/sql/{a,b}.sql`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CODE = {".py", ".h", ".cc", ".sql", ".proto", ".sh"}
FOLDERS = ("csrc", "rlscope", "analysis", "workloads", "tests")

COMMENT = re.compile(r"^\s*(//|#|--|\*)?", re.MULTILINE)  # what a line of one begins with
CITED = re.compile(
    r"""(?P<page>(?:docs/[\w/-]+|[\w-]+)\.md)\b
        (?:\#(?P<anchor>[\w-]+)
          |,?\ \(?"(?P<quoted>[^"]+)"
          |,\ (?P<heading>[A-Z][\w ]*)\))?""",
    re.VERBOSE,
)
LINK = re.compile(r"\]\((?!\w+:)(?P<page>[^)#]*\.md)?(?:#(?P<anchor>[^)]+))?\)")
NAMED = re.compile(r"`((?:rlscope|csrc|analysis|workloads|tests|docs|docker)/[\w<>{},./*-]+)`")
ALTERNATIVES = re.compile(r"\{([^{}]*)\}")
# Rules have had no numbers since their page has headings.
NUMBERED = re.compile(r"\brules? \d[\d ,and]*")

FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchor_of(heading: str) -> str:
    """As GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@cache
def anchors(page: Path) -> frozenset[str]:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    return frozenset(map(anchor_of, HEADING.findall(text)))


def leads(page: Path, anchor: str) -> bool:
    """Whether there is the page, and the place in it; "": the page is enough."""
    return page.is_file() and (not anchor or anchor in anchors(page))


def wrong_in_code(text: str) -> Iterator[str]:
    """Citations that lead nowhere."""
    line = " ".join(COMMENT.sub("", text).split())
    yield from (found[0] for found in NUMBERED.finditer(line))
    for found in CITED.finditer(line):
        name = found["page"]
        pages = [ROOT / name] if "/" in name else [*DOCS.rglob(name)]
        anchor = found["anchor"] or anchor_of(found["quoted"] or found["heading"] or "")
        # A name that no page has is a file of something else.
        if pages and not any(leads(page, anchor) for page in pages):
            yield found[0]


def wrong_in_page(text: str, file: Path) -> Iterator[str]:
    """Links to pages that lead nowhere."""
    yield from (found[0] for found in NUMBERED.finditer(text))
    for found in LINK.finditer(text):
        page = file.parent / found["page"] if found["page"] else file
        if (found["page"] or found["anchor"]) and not leads(page, found["anchor"] or ""):
            yield found[0]


def spelled_out(name: str) -> Iterator[str]:
    """a_{b,c}.py as a_b.py and a_c.py."""
    found = ALTERNATIVES.search(name)
    if found is None:
        yield name
        return
    for each in found[1].split(","):
        yield from spelled_out(name[: found.start()] + each + name[found.end() :])


def missing_files(text: str) -> Iterator[str]:
    """Files that a page names and that are not there; <name> stands for any."""
    for named in NAMED.findall(text):
        for name in spelled_out(named):
            if not any(ROOT.glob(re.sub(r"<\w+>", "*", name).rstrip("/"))):
                yield name


def code() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (path for path in (ROOT / folder).rglob("*") if path.suffix in CODE)


def pages() -> list[Path]:
    return [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "docker").glob("*.md")]


def test_citations_in_code_lead_to_a_page_and_its_heading() -> None:
    paths = [path for path in code() if path != Path(__file__)]
    assert len(paths) > 500, "the search finds them"
    found = [
        f"{path.relative_to(ROOT)}: {each}"
        for path in paths
        for each in wrong_in_code(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_links_between_pages_lead_to_a_page_and_its_heading() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {each}"
        for path in pages()
        for each in wrong_in_page(path.read_text(encoding="utf-8"), path)
    ]
    assert found == []


def test_files_that_pages_name_are_there() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {each}"
        for path in pages()
        for each in missing_files(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("// The GPU of a process (semantics.md, rule 9).", ["rule 9"]),
        ("// As the rules say (semantics.md, rules\n// 4 and 9).", ["rules 4 and 9"]),
        ("// (semantics.md calls these rules 3 and 8).", ["rules 3 and 8"]),
        ("# docs/guide/gone.md has them.", ["docs/guide/gone.md"]),
        ("# (semantics.md#gone)", ["semantics.md#gone"]),
        ("# docs/reference/semantics.md#gone", ["docs/reference/semantics.md#gone"]),
        ('// (semantics.md, "Gone\n// away").', ['semantics.md, "Gone away"']),
        ('"""docs/reference/semantics.md ("Gone")"""', ['docs/reference/semantics.md ("Gone"']),
        ("-- (semantics.md, Gone away)", ["semantics.md, Gone away)"]),
        ("// (semantics.md#gpu), docs/guide/cuda.md, notes.md#gone", []),
        ('// (semantics.md, "Corrected\n// time"), semantics.md, that page; 2 rules', []),
        ("# (docs/reference/semantics.md, Utilisation).", []),
    ],
)
def test_what_leads_nowhere_in_code_is_found(text: str, wrong: list[str]) -> None:
    assert [*wrong_in_code(text)] == wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[a](gone.md)", ["](gone.md)"]),
        ("[a](prof.md#gone)", ["](prof.md#gone)"]),
        ("[a](#gone)", ["](#gone)"]),
        (
            "[a](../reference/semantics.md#gone) by rule 3",
            ["rule 3", "](../reference/semantics.md#gone)"],
        ),
        ("[a](../reference/semantics.md#gpu) [b](https://a.org/c.md#d) [c](x.py) [d](prof.md)", []),
    ],
)
def test_what_leads_nowhere_in_a_page_is_found(text: str, wrong: list[str]) -> None:
    assert [*wrong_in_page(text, DOCS / "guide" / "import.md")] == wrong


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("`rlscope/trace/build.py`", ["rlscope/trace/build.py"]),
        ("`analysis/sql/{gone,coverage}.sql`", ["analysis/sql/gone.sql"]),
        ("`rlscope/gone/<name>.py`", ["rlscope/gone/<name>.py"]),
        ("`rlscope/commands/<verb>.py`, `tests/unit/`, `rlscope report DIR`, `docs/*.md`", []),
    ],
)
def test_a_file_that_is_not_there_is_found(text: str, missing: list[str]) -> None:
    assert [*missing_files(text)] == missing


def test_each_page_of_the_guide_is_in_its_contents() -> None:
    index = (DOCS / "guide" / "index.md").read_text()
    pages = {path.stem for path in (DOCS / "guide").glob("*.md")} - {"index"}
    assert set(re.findall(r"^\* \[.*\]\((.*)\.md\)", index, re.MULTILINE)) == pages
    listed = [
        block.split("\n")[2:] for block in re.findall(r"```{toctree}\n(.*?)\n```", index, re.DOTALL)
    ]
    assert sorted(page for block in listed for page in block) == sorted(pages)

"""The statements that documents show to users, as they stand there."""

from __future__ import annotations

import json
import re
from pathlib import Path

from rlscope import commands, opening
from rlscope.commands import query

_ROOT = Path(__file__).parents[3]
GUIDE = _ROOT / "docs/guide/query.md"
_NOTEBOOK = _ROOT / "docs/guide/notebook.ipynb"
_ON_A_LINE = re.compile(r'rlscope query\s+\S+\s+"([^"]*)"')
_IN_PYTHON = re.compile(r'\.sql\("""(.*?)"""\)', re.DOTALL)
_OF_ONE_LINE = re.compile(r'\b(?:trace|runs)\.sql\("([^"]*)"\)')
_IN_BLOCK = re.compile(r"```sql\n(.*?)```", re.DOTALL)


def of_queries() -> list[str]:
    """Those of `rlscope query --help` and of the guide."""
    shown = _ON_A_LINE.findall(query._EXAMPLES)
    (block,) = re.findall(r"```sql\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    return [*shown, *block.strip().split("\n\n")]


def of_pages() -> list[str]:
    """Those of README, of `rlscope --help`, of the module that opens traces, and of all pages but
    the cookbook, whose blocks are recipes."""
    docs = [each for each in sorted((_ROOT / "docs").rglob("*.md")) if each.name != "cookbook.md"]
    pages = [_ROOT / "README.md", Path(str(opening.__file__)), *docs]
    texts = [commands._EPILOG, *(page.read_text() for page in pages)]
    shown = [
        statement
        for text in texts
        for form in (_ON_A_LINE, _OF_ONE_LINE, _IN_BLOCK)
        for found in form.findall(text)
        for statement in found.strip().split("\n\n")
    ]
    return [each for each in shown if "..." not in each]


def of_notebook() -> list[str]:
    cells = json.loads(_NOTEBOOK.read_text())["cells"]
    return [each for cell in cells for each in _IN_PYTHON.findall("".join(cell["source"]))]

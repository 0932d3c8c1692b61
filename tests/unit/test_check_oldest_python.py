"""The check of what only later patch releases of Python have finds that, and nothing else."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from check_oldest_python import NAMES, Release, has, violations

TAR_FILTERS = "3.10.12 3.11.4"
EAGER_START = "3.13.3"


def found(tmp_path: Path, text: str, name: str = "program.py") -> list[str]:
    """Each use as "LINE: what"."""
    path = tmp_path / name
    path.write_text(text)
    return [line.removeprefix(f"{path}:") for line in violations([path])]


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("archive.extractall(folder, filter='data')", "extractall(filter=...)"),
        ("import shutil\nshutil.unpack_archive(a, b, filter='data')", "unpack_archive(filter=...)"),
        ("from email.utils import parseaddr as p\np(text, strict=False)", "parseaddr(strict=...)"),
        ("from html.parser import HTMLParser\nHTMLParser(scripting=True)", "HTMLParser(scripting"),
        ("import tarfile\ntarfile.data_filter", "tarfile.data_filter"),
        ("import tarfile as t\nraise t.FilterError", "tarfile.FilterError"),
        ("\nfrom tarfile import data_filter", "tarfile.data_filter"),
        ("import os.path\nos.path.ALLOW_MISSING", "os.path.ALLOW_MISSING"),
        ("from os import path\npath.ALLOW_MISSING", "os.path.ALLOW_MISSING"),
        ("import sys\nsys.flags.int_max_str_digits", "sys.flags.int_max_str_digits"),
        ("parser = make()\nparser.SetReparseDeferralEnabled(True)", "SetReparseDeferralEnabled"),
    ],
)
def test_what_a_patch_release_added_is_found(tmp_path: Path, program: str, says: str) -> None:
    (line,) = found(tmp_path, program)
    last = program.count("\n") + 1
    assert line.startswith(f"{last}: {says}")


@pytest.mark.parametrize(
    "program",
    [
        "archive.extractall(folder)",
        "table.select(filter='data')",
        "zip(rows, columns, strict=True)",
        "import tarfile\ngetattr(tarfile, 'data_filter', None)",
        "import tarfile\narchive.extraction_filter = None",
        "import tables\ntables.data_filter",
        "self.tarfile.data_filter",
        "text.replace('mtime', 'time')",
        "'''sentences which import nothing: tarfile.data_filter'''",
        "import os\nos.path.realpath(name, strict=True)",
    ],
)
def test_what_every_release_has_is_not(tmp_path: Path, program: str) -> None:
    assert found(tmp_path, program) == []


@pytest.mark.parametrize(
    ("condition", "lines"),
    [
        ("sys.version_info >= (3, 11, 4)", [5]),
        ("sys.version_info >= (3, 12)", [5]),
        ("sys.version_info >= (3, 11)", [3, 5]),
        ("sys.version_info >= (3, 10, 12)", [3, 5]),  # 3.11.0 is newer than that, and has it not
        ("sys.version_info < (3, 12)", [3, 5]),
        ("sys.platform >= (3, 12)", [3, 5]),
    ],
)
def test_a_use_is_allowed_where_older_releases_are_ruled_out(
    tmp_path: Path, condition: str, lines: list[int]
) -> None:
    program = f"""\
import sys, tarfile
if {condition}:
    tarfile.data_filter
else:
    tarfile.data_filter
"""
    assert [int(line.partition(":")[0]) for line in found(tmp_path, program)] == lines


def test_a_program_that_a_test_holds_is_looked_at(tmp_path: Path) -> None:
    program = 'run("""\n    import tarfile\n    tarfile.data_filter\n""")\n'
    (line,) = found(tmp_path, program)
    assert line.startswith("1: tarfile.data_filter")


def test_a_program_of_a_page_is_looked_at(tmp_path: Path) -> None:
    page = "Unpack:\n\n```python\narchive.extractall('.', filter='data')\n```\n"
    (line,) = found(tmp_path, page, "page.md")
    assert line.startswith("4: extractall(filter=...)")
    assert found(tmp_path, page.replace("python", "text"), "page.md") == []


@pytest.mark.parametrize(
    ("firsts", "oldest", "expected"),
    [
        (TAR_FILTERS, (3, 10), False),
        (TAR_FILTERS, (3, 10, 12), False),
        (TAR_FILTERS, (3, 11, 3), False),
        (TAR_FILTERS, (3, 11, 4), True),
        (TAR_FILTERS, (3, 12), True),
        (EAGER_START, (3, 12, 9), False),
        (EAGER_START, (3, 13, 2), False),
        (EAGER_START, (3, 13, 3), True),
        (EAGER_START, (3, 14), True),
    ],
)
def test_a_release_has_what_its_minor_version_brought_before(
    firsts: str, oldest: Release, expected: bool
) -> None:
    assert has(oldest, firsts) is expected


@pytest.mark.parametrize("name", [name for name in NAMES if has(sys.version_info[:3], NAMES[name])])
def test_this_python_has_what_the_table_says_of_it(name: str) -> None:
    module, *path = name.split(".")
    value = importlib.import_module(module)
    for attribute in path:
        value = getattr(value, attribute)

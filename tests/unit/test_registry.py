"""The registry: one file, one row; nothing is imported before it is used."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import rlscope
from rlscope import registry
from rlscope.errors import RlscopeError

PACKAGE = Path(rlscope.__file__).parent
# What a command may not import before it does its work: each costs a tenth of a second or more.
HEAVY = {"duckdb", "numpy", "plotly", "psutil", "sqlalchemy", "torch", "pandas", "pyarrow"}


@pytest.mark.parametrize(
    ("group", "folder"),
    [
        (registry.COMMANDS, "commands"),
        (registry.PANELS, "report/panels"),
        (registry.RENDERERS, "report/renderers"),
        (registry.FRAMEWORKS, "frameworks"),
        (registry.SIMULATORS, "simulators"),
        (registry.WAITS, "waits"),
        (registry.SERIALIZERS, "serializers"),
        (registry.IMPORTERS, "importing/formats"),
        (registry.EXPORTERS, "export/formats"),
        (registry.FINDINGS, "analysis/findings"),
    ],
)
def test_every_file_has_a_row_and_every_row_a_file(group, folder):
    files = {path.stem for path in (PACKAGE / folder).glob("*.py") if path.stem[0] != "_"}
    rows = {row.partition(":")[0].rpartition(".")[2] for row in registry.builtin(group).values()}
    assert rows == files


@pytest.mark.parametrize("name", registry.builtin(registry.PANELS))
def test_the_guide_says_what_a_panel_answers(name):
    page = (PACKAGE.parent / "docs" / "guide" / "report.md").read_text()
    assert f"| {registry.load(registry.PANELS, name).title} | " in page


@pytest.mark.parametrize("verb", registry.builtin(registry.COMMANDS))
def test_a_verb_is_a_command_with_a_help_line(verb):
    command = registry.load(registry.COMMANDS, verb)
    assert callable(command.prepare)
    assert callable(command.run)
    done = run(f"import sys; from rlscope.commands import main; main(['{verb}', '--help'])")
    assert done.returncode == 0
    assert "examples:" in done.stdout


def test_help_lists_every_verb_with_its_line_and_imports_nothing_heavy():
    done = run(
        "import sys; from rlscope.commands import main\n"
        "try: main(['--help'])\n"
        "finally: print('loaded', *sys.modules)"
    )
    text, _, loaded = done.stdout.partition("loaded ")
    for verb in registry.names(registry.COMMANDS):
        (line,) = [each for each in text.splitlines() if each.strip().startswith(f"{verb} ")]
        assert len(line.split()) > 3, f"no help line for {verb}"
    assert not HEAVY & set(loaded.split())
    assert not [name for name in loaded.split() if name.startswith("rlscope.commands.")]


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(RlscopeError, match=r"no .nothing. in rlscope\.commands; there are: prof, "):
        registry.load(registry.COMMANDS, "nothing")


def test_another_package_adds_a_row_but_takes_no_name_over(tmp_path, monkeypatch):
    install(
        tmp_path,
        "[rlscope.commands]\nmine = other_package:VERB\ninfo = other_package:VERB\n"
        "broken = other_package:MISSING\n",
    )
    (tmp_path / "other_package.py").write_text("VERB = 'mine'\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert registry.load(registry.COMMANDS, "mine") == "mine"
    assert registry.load(registry.COMMANDS, "info").__name__ == "rlscope.commands.info"
    assert registry.module_of(registry.COMMANDS, "mine") == "other_package"
    with pytest.raises(RlscopeError, match=r"broken .* failed: .*MISSING"):
        registry.load(registry.COMMANDS, "broken")


def install(folder: Path, entry_points: str) -> None:
    """What pip leaves of a package with entry points."""
    information = folder / "other_package-1.0.dist-info"
    information.mkdir()
    facts = "Metadata-Version: 2.1\nName: other-package\nVersion: 1.0\n"
    (information / "METADATA").write_text(facts)
    (information / "entry_points.txt").write_text(entry_points)
    importlib.invalidate_caches()


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

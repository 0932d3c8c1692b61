"""Each contract of import-linter in pyproject.toml fails on an import that it forbids."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "pyproject.toml"
# Contract -> a file, and a line that may not stand there.
PLANTED = {
    "rooms know only what lies below them": ("registry.py", "from rlscope.doctor import checks"),
    "capture and analysis never meet": ("capture/wait.py", "from rlscope.analysis import waits"),
    "no module needs itself": ("table.py", "import rlscope.opening"),
    "verbs do not know each other": (
        "commands/prof.py",
        "def _late():\n    from rlscope.commands import report",
    ),
    "questions are SQL files": ("report/shares.py", "import duckdb"),
    "nobody imports a workload": ("survey/cells.py", "from rlscope.workloads import ppo_cartpole"),
}


def contracts() -> list[str]:
    settings = tomllib.loads(CONFIGURATION.read_text(encoding="utf-8"))
    return [contract["name"] for contract in settings["tool"]["importlinter"]["contracts"]]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package's Python files."""
    package = tmp_path_factory.mktemp("contracts") / "rlscope"
    shutil.copytree(ROOT / "rlscope", package, ignore=shutil.ignore_patterns("*.so", "vendor"))
    return package


def broken(package: Path) -> set[str]:
    """The names of the contracts that the package breaks."""
    lint = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", lint, "--no-cache", CONFIGURATION],
        cwd=package.parent,
        capture_output=True,
        text=True,
    )
    assert "Contracts:" in done.stdout, done.stdout + done.stderr
    return set(re.findall(r"^(.*) BROKEN", done.stdout, re.MULTILINE))


def test_the_package_keeps_all_contracts(package: Path) -> None:
    assert broken(package) == set()


def test_each_contract_fails_on_what_it_forbids(package: Path) -> None:
    assert list(PLANTED) == contracts()
    for file, line in PLANTED.values():
        path = package / file
        path.write_text(f"{path.read_text(encoding='utf-8')}\n\n{line}\n", encoding="utf-8")
    assert broken(package) == set(PLANTED)

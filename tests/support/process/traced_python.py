"""A Python with rlscope installed, and rls-prof run from it as a user would.

The interpreter is a bare venv made once per test session; two .pth files in its site-packages do
what an editable install does: one lists the folders to import from, the other is the package's own
rlscope.pth.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
_SCRIPT = """\
#!{python}
import sys
from rlscope.commands.prof import main
sys.exit(main())
"""


@dataclass(frozen=True)
class TracedPython:
    """Paths of the venv's programs."""

    python: str
    """Interpreter with the bootstrap."""
    prof: str
    """Its rls-prof."""

    def command(self, *arguments: str) -> list[str]:
        """`rls-prof --no-report` with arguments."""
        return [self.prof, "--no-report", *arguments]

    def run(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Runs `rls-prof --no-report` to its end and captures what it prints."""
        options.setdefault("timeout", 60)
        return subprocess.run(
            self.command(*arguments), capture_output=True, text=True, check=False, **options
        )

    def record(
        self, directory: str, script: Path, program: str, *arguments: str, **options: Any
    ) -> str:
        """Writes a program to `script` and records it; returns what it prints. It must succeed."""
        script.write_text(program)
        result = self.run("-o", directory, self.python, str(script), *arguments, **options)
        assert result.returncode == 0, (result.returncode, result.stderr)
        return result.stdout


def make_bare_venv(folder: Path) -> str:
    """A venv without pip and without rlscope; returns its interpreter."""
    command = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(command, check=True, env=untraced_environment())
    return str(folder / "bin" / "python")


def make_traced_python(folder: Path, root: Path = ROOT) -> TracedPython:
    """A venv that imports rlscope from `root` and everything else from this environment."""
    python = make_bare_venv(folder)
    (site,) = folder.glob("lib/python*/site-packages")
    installed = [path for path in sys.path if Path(path).name == "site-packages"]
    (site / "a_folders.pth").write_text("\n".join([str(root), *installed, ""]))
    shutil.copy(root / "rlscope" / "capture" / "rlscope.pth", site)
    prof = folder / "bin" / "rls-prof"
    prof.write_text(_SCRIPT.format(python=python))
    prof.chmod(0o755)
    return TracedPython(python, str(prof))


def untraced_environment() -> dict[str, str]:
    """os.environ without what a surrounding rls-prof or a checkout put there."""
    ours = ("RLSCOPE_", "LD_PRELOAD", "PYTHONPATH", "PYTHONHOME", "CUDA_INJECTION64_PATH")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}

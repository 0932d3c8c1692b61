"""The wheel on another system: installed and used in the root of a Debian release, which has its
own libc and Python, no compiler, no network and nothing of this checkout."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.files.built_wheel import build_wheel, run
from support.files.clean_root import RELEASES, Release, clean_root, need_roots, run_in

TRAIN = """
import rlscope as rls
for _ in range(3):
    rls.iteration()
    with rls.operation("inference"):
        sum(range(100_000))
"""
# Prints what a clean root does not have.
STRANGE = "for name in cc gcc cmake git pip; do command -v $name; done; find / -name '*rlscope*'"
USE = """
set -eu
python3 -m venv /tmp/venv
cd /tmp
PATH=/tmp/venv/bin:$PATH
pip install --quiet --no-index --find-links /mnt rlscope
rls-prof -o /tmp/trace python /mnt/train.py
rlscope summary /tmp/trace
rlscope report /tmp/trace -o /tmp/page.html
test $(stat -c %s /tmp/page.html) -gt 100000
rlscope query /tmp/trace "SELECT 'entries', count(*) FROM operation_instance" --format csv
"""


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.suite)
def test_the_wheel_works_in_the_root_of(release: Release, sdist: Path, tmp_path: Path) -> None:
    python, root, carried = need_roots(release), clean_root(release), tmp_path / "carried"
    carried.mkdir()
    strange = run_in(root, carried, STRANGE)
    assert strange.stdout == "", strange.stderr
    wheel = build_wheel(sdist, tmp_path / "wheel", python)
    run(python, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "-d", carried, wheel)
    (carried / "train.py").write_text(TRAIN)
    done = run_in(root, carried, USE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "inference" in done.stdout
    assert "entries,3" in done.stdout

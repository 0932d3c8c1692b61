"""Lines of the other releases of CPython that are here, each by one program.

Compiling the recorder for each takes half a minute, so `make test-releases` runs this.
"""

from pathlib import Path

import pytest
from support.process.known_lines import KNOWN, check_lines
from support.process.other_pythons import make_other_python
from support.process.traced_python import TracedPython

import rlscope as rls

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("clean_environment")]


@pytest.mark.parametrize("minor", [10, 12, 13, 14])
def test_lines_have_the_times_of_stopwatches(
    traced: TracedPython, tmp_path: Path, minor: int
) -> None:
    other = make_other_python(minor, tmp_path / "other", traced)
    script = tmp_path / "train.py"
    directory = str(tmp_path / "run")
    printed = other.record(directory, script, KNOWN)
    check_lines(directory, script, printed)
    with rls.load(directory) as trace:
        ((version,),) = trace.sql("SELECT python FROM process")
    assert version.startswith(f"3.{minor}.")

"""What rls-prof imports before its program starts: all of that delays the program."""

import subprocess
import sys

_SLOW = ("duckdb", "matplotlib", "numpy", "pandas", "plotly", "psutil", "pyarrow", "sqlalchemy")
_PROGRAM = f"""\
import sys
import rlscope.commands.prof
print(*(name for name in {_SLOW!r} if name in sys.modules))
"""


def test_no_slow_library_is_imported_before_the_program():
    command = [sys.executable, "-c", _PROGRAM]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "\n"

"""Programs that are forks of one recorded process, which imports for all what they share.

To take the interpreter apart with PyTorch takes a second, so the forks leave that out. A quarter of
its import is a search for garbage, of which there is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from support.process.recorded_child import Recorded, record

_QUICK_END = "atexit._run_exitfuncs(); sys.stdout.flush(); sys.stderr.flush(); os._exit(0)"
_BEGIN = "import gc; gc.disable()\n"
_FORKS = """
import atexit, gc, os, sys
gc.freeze()
gc.enable()
for text in {texts!r}:
    child = os.fork()
    if child == 0:
        exec(text, globals())
        {ends}
    print("child", child)
    assert os.waitpid(child, 0)[1] == 0
"""


def record_forks(
    directory: str,
    begin: str,
    programs: Mapping[str, str],
    *,
    ends: str = _QUICK_END,
    timeout: float = 300,
) -> tuple[Recorded, dict[str, int]]:
    """Runs `begin`, then each program in a child of it, one after the other. Gives what was
    recorded, and the system's number of each child by its name."""
    forks = _FORKS.format(texts=[*programs.values()], ends=ends)
    recorded = record(directory, _BEGIN + begin + forks, timeout=timeout)
    pids = map(int, re.findall(r"^child (\d+)$", recorded.output, re.MULTILINE))
    return recorded, dict(zip(programs, pids, strict=True))

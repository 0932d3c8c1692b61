"""Which calls are recorded, of every function that the simulated CUDA only refuses: 800 of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.cuda.runs import check_calls, is_chosen
from support.cuda.scripts import record_script
from support.cuda.simcuda_runs import SIMCUDA

# A call without arguments: nothing of the test double looks at any.
CALL_ALL = """
begin()
cudart = ctypes.CDLL("libcudart.so.13")
for library, names in ((cuda, {driver}), (cudart, {runtime})):
    for name in names:
        assert getattr(library, name)() == 801, name
"""

# Driver functions with callback ids below it that have a _v2 are for 32-bit addresses.
FIRST_OF_64_BITS = 82


def refused(domain: str, column: int) -> list[str]:
    """Functions that are listed in facts/ and not implemented."""
    written = "".join(path.read_text() for path in (SIMCUDA / domain).glob("*.cc"))
    own = set(re.findall(r"\b(?:__)?cu\w+", written))
    lines = (SIMCUDA / "facts" / f"{domain}_functions.txt").read_text().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    ids = {row[0]: int(row[column]) for row in rows if row[column] != "-"}
    return [
        name
        for name, number in ids.items()
        if re.sub("_pt[ds][sz]$", "", name) not in own
        and not (number < FIRST_OF_64_BITS and f"{name}_v2" in ids)
    ]


@pytest.mark.parametrize("prof", [(), ("--cuda-api", "all")], ids=["chosen", "all"])
def test_calls_that_are_recorded_are_those_that_the_guide_names(
    tmp_path: Path, prof: tuple[str, ...]
) -> None:
    names = {"driver": refused("driver", 1), "runtime": refused("runtime", 2)}
    chosen = [name for functions in names.values() for name in functions if is_chosen(name)]
    assert len(chosen) > 50
    run = record_script(tmp_path, CALL_ALL.format(**names), prof=prof)
    (pid,) = run.pids()
    check_calls(run, pid, everything=bool(prof))

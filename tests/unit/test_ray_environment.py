"""The runtime environment that makes workers of a running Ray record; Ray is not needed for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.process.recorded_child import record, run

_PRINT = """
import json
from rlscope.integrations.ray import runtime_env
given = {"working_dir": ".", "env_vars": {"A": "1", "LD_PRELOAD": "libmine.so"}}
print(json.dumps([runtime_env(), runtime_env(given), given]))
"""


def printed(text: str) -> Any:
    return json.loads(text)


def test_workers_get_the_variables_of_the_run(tmp_path: Path) -> None:
    directory = str(tmp_path / "run")
    alone, merged, given = printed(record(directory, _PRINT).output)
    assert alone["env_vars"]["RLSCOPE_DIR"] == directory
    before, _, library = alone["env_vars"]["LD_PRELOAD"].partition(":")
    assert before == "${LD_PRELOAD}"  # what the cluster preloads stays
    assert Path(library).name == "librlscope.so"
    assert alone["env_vars"]["CUDA_INJECTION64_PATH"] == library
    assert merged["working_dir"] == "."
    assert merged["env_vars"]["A"] == "1"
    assert merged["env_vars"]["LD_PRELOAD"] == f"libmine.so:{library}"
    assert given["env_vars"] == {"A": "1", "LD_PRELOAD": "libmine.so"}


def test_without_a_recording_nothing_is_added() -> None:
    alone, merged, given = printed(run(_PRINT))
    assert alone == {}
    assert merged == given

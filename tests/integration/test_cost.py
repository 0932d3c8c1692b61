"""What rls-prof measures at the end of a run: each loop records its kind, and its twin nothing."""

from __future__ import annotations

import json
from pathlib import Path

from support.process.recorded_child import run

PROGRAM = """
    import json, shutil, tempfile
    from rlscope import _trace
    from rlscope.costs import loop_costs
    from rlscope.recorder import runtime

    tempfile.mkdtemp = lambda prefix: {folder!r}
    shutil.rmtree = lambda directory, ignore_errors: None
    costs = loop_costs.measure()
    (process,) = _trace.Directory({folder!r}).processes
    kinds = ["operation_events", "automatic_events", "native_events"]
    print(json.dumps({{
        "events": [process[kind] for kind in kinds],
        "measured": [cost is not None for cost in (costs.operation, costs.automatic, costs.native)],
        "loops": loop_costs._ROUNDS * loop_costs._TURNS,
        "left": [runtime.intercept_counts()["pointers"], runtime.state()],
    }}))
"""


def test_each_loop_records_its_kind_only(tmp_path: Path) -> None:
    (tmp_path / "processes.log").touch()
    (tmp_path / "run.json").write_text("{}")
    said = json.loads(run(PROGRAM.format(folder=str(tmp_path))))
    loops = said["loops"]
    assert said["events"] == [loops, 2 * loops, loops]
    assert said["measured"] == [True, True, True]
    assert said["left"] == [0, "off"]

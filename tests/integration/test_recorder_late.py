"""A recorder that begins after its process: the time before is a loss with a duration."""

import time
from typing import Any

from support.process.recorded_child import read, run

NS = 1_000_000_000
KERNEL_TICK_NS = NS // 100  # start times are rounded down to these


def test_a_profile_says_how_old_its_process_was(directory: str) -> None:
    before_ns = time.monotonic_ns()
    run(
        f"""
        import time
        import rlscope as rls
        time.sleep(0.3)
        with rls.profile({directory!r}):
            with rls.operation("inside"):
                pass
        """
    )
    trace = read(directory)
    process = trace.process()
    (loss,) = late_attach(trace.reader, process["index"])
    assert loss["count"] == 1
    assert 0.3 * NS <= loss["duration_ns"] <= process["began_ns"] - before_ns + KERNEL_TICK_NS
    assert _stored(directory) == [(loss["count"], loss["duration_ns"])]


def test_a_process_that_began_with_its_recorder_lost_nothing(directory: str) -> None:
    run(
        f"""
        import subprocess, sys
        import rlscope as rls
        with rls.profile({directory!r}):
            with rls.operation("parent"):
                subprocess.run([sys.executable, "-c", "import rlscope"], check=True)
        """
    )
    reader = read(directory).reader
    late = [process["late_attach"] for process in reader.processes]
    assert late[0] and not any(late[1:]) and len(late) > 1
    assert [len(late_attach(reader, index)) for index in range(len(late))] == [*map(int, late)]


def late_attach(reader: Any, process: int) -> list[dict[str, Any]]:
    return [loss for loss in reader.losses(process) if loss["kind"] == "late_attach"]


def _stored(directory: str) -> list[tuple[Any, ...]]:
    import rlscope as rls

    table = rls.load(directory).sql(
        "SELECT count, duration_ns FROM loss WHERE kind = 'late_attach'"
    )
    return list(table)

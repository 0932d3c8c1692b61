"""ray._raylet: a program waits for results of Ray's workers, and a worker for its next task.

The program's side of a task is in Python again (rlscope/capture/ray_worker.py).
"""

from rlscope.capture.wait import Wait

_RESULTS = ("get_objects", "wait", "wait_placement_group_ready")
_SUBSCRIBERS = ("GcsErrorSubscriber", "GcsLogSubscriber")

WAITS = (
    Wait("result", [f"CoreWorker.{method}" for method in _RESULTS]),
    # Called once, at the start of a worker.
    Wait("task", ["CoreWorker.run_task_loop"], opens=True),
    Wait("socket", [f"{name}.poll" for name in _SUBSCRIBERS]),
)

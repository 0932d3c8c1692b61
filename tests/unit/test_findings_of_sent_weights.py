"""Advice on tensors that a loop sends to other processes."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, found_by, loop_rows
from support.files.relation_rows import SECOND, process

SENDS = ("/lib/torch/multiprocessing/reductions.py", "reduce_tensor")


def sending(awaited: bool, inside: tuple[str, str] = SENDS):
    """2 s at the line, a second of it in PyTorch; then 3 s of waiting for the answer."""
    wait = {"process_id": 0, "thread_id": 0, "kind": "pipe", "function": "posix.read"}
    return loop_rows(
        Time("(none)", "framework", SECOND, 1, (inside,)),
        Time("(none)", "wait", SECOND, 1),
        Time("(none)", "wait", 3 * SECOND, 2),
        text="pipe.send(net.state_dict())\npipe.recv()\n",
        process=[process(0, 0, 10 * SECOND, host_id=0), process(1, 0, 10 * SECOND)],
        wait=[
            {**wait, "operation": "(none)", "count": 9, "self_ns": 3 * SECOND}
            | {"stage": "loop", "peer_process_id": 1}
        ]
        if awaited
        else [],
    )


@pytest.mark.parametrize(("awaited", "factor"), [(True, 2.2), (False, 0.9)])
def test_lines_that_send_tensors_count_with_their_waits_and_their_readers(awaited, factor):
    (finding,) = found_by("sent_weights", sending(awaited))
    assert (finding.file, finding.line) == (FILE, 1)
    assert "takes 20.0 % of the loop" in finding.title
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(factor * 2 * SECOND)


def test_other_messages_are_none():
    other = ("/lib/python3.11/multiprocessing/connection.py", "_ConnectionBase.send")
    assert found_by("sent_weights", sending(awaited=True, inside=other)) == []

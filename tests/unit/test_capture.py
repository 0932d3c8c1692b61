"""Parts of the wrapper on their own: options of interpreters, the schedule, log and samples."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rlscope.record import interpreters
from rlscope.record.environment import sanitizer_variables
from rlscope.record.machine import MachineSampler
from rlscope.record.processes import ProcessLog
from rlscope.record.schedule import Schedule
from rlscope.rundir.proc import process_start_time


@pytest.mark.parametrize(
    ("command", "letters"),
    [
        ("python train.py -S", ""),
        ("python -S train.py", "S"),
        ("python -IS -c pass", "IS"),
        ("python -uSc pass -V", "uS"),
        ("python -X importtime -S x.py", "S"),
        ("python -Xutf8 -W error -E x.py", "E"),
        ("python -m module -S", ""),
        ("python --version", "V"),
        ("python - -S", ""),
        ("python", ""),
    ],
)
def test_own_options_of_an_interpreter(command: str, letters: str) -> None:
    assert interpreters._letters(command.split()) == letters


@pytest.mark.parametrize(
    ("name", "is_python"),
    [
        ("python", True),
        ("python3", True),
        ("python3.13t", True),
        ("python3.11-dbg", True),
        ("pypy3.10", True),
        ("python-config", False),
        ("ipython", False),
        ("bash", False),
    ],
)
def test_names_of_interpreters(name: str, is_python: bool) -> None:
    assert (interpreters._PYTHON.fullmatch(name) is not None) == is_python


@pytest.mark.parametrize(
    ("file", "text", "command"),
    [
        ("pyvenv.cfg", "home = /usr/bin\nuv = 0.9.1\n", "uv pip install --python {python} "),
        ("pyvenv.cfg", "home = /usr/bin\nprompt = uv\n", "{python} -m pip install "),
        ("pyvenv.cfg", "\udcff", "{python} -m pip install "),
        ("conda-meta/history", "", "{python} -m pip install "),
    ],
)
def test_the_command_that_installs_into_an_environment(
    tmp_path: Path, file: str, text: str, command: str
) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_bytes(os.fsencode(text))
    python = str(tmp_path / "bin" / "python")
    assert interpreters._install_command(python).startswith(command.format(python=python))


@pytest.mark.parametrize(
    ("present", "changed"),
    [
        ({}, "verify_asan_link_order=0"),
        ({"ASAN_OPTIONS": "a=1:b=2"}, "a=1:b=2:verify_asan_link_order=0"),
        ({"ASAN_OPTIONS": "verify_asan_link_order=1"}, None),
    ],
)
def test_sanitizer_variables(present: dict[str, str], changed: str | None) -> None:
    assert sanitizer_variables(present).get("ASAN_OPTIONS") == changed


def test_schedule_runs_what_is_due_and_drops_what_fails() -> None:
    ran: list[str] = []
    failures: list[Exception] = []
    schedule = Schedule(failures.append)

    def fail() -> None:
        ran.append("fail")
        raise ValueError("no")

    schedule.every(0.01, lambda: ran.append("again"))
    schedule.after(0, lambda: ran.append("once"))
    schedule.every(0.01, fail)
    schedule.after(3000, lambda: ran.append("never"))
    while ran.count("again") < 3:
        time.sleep(max(0, schedule.seconds_left()))
        schedule.run_due()
    assert sorted(ran) == ["again", "again", "again", "fail", "once"]
    assert [str(error) for error in failures] == ["no"]
    assert schedule.seconds_left() <= 0.015


def test_actions_of_one_period_are_due_together(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.001
    monkeypatch.setattr("rlscope.record.schedule.time.monotonic", lambda: now)
    ran: list[tuple[str, float]] = []
    schedule = Schedule(lambda error: None)

    def work(name: str, seconds: float) -> None:
        nonlocal now
        ran.append((name, now))
        now += seconds

    schedule.every(0.25, lambda: work("first", 0.01))
    now += 0.02
    schedule.every(0.25, lambda: work("second", 0.1))
    schedule.every(0.25, lambda: work("long", 0.05))  # ends less than half a period before the next
    for _ in range(4):
        now += max(0, schedule.seconds_left())
        schedule.run_due()
    quick = [("first", 0.0), ("second", 0.01)]
    begun = [(name, round(at % 0.25, 3)) for name, at in ran]
    assert begun == [*quick, ("long", 0.11), *quick, *quick, ("long", 0.11), *quick]
    assert [round(at, 3) for name, at in ran if name == "first"] == [100.25, 100.5, 100.75, 101.0]


def test_schedule_without_work_can_wait() -> None:
    assert 0 < Schedule(lambda error: None).seconds_left() <= 3600


def test_start_time_tells_processes_apart_and_ignores_zombies() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert process_start_time(child.pid) is not None
    assert child.stdin is not None
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # now a zombie
    assert process_start_time(child.pid) is None
    child.wait()
    assert process_start_time(child.pid) is None


def _record(event: int, began_ns: int, name: str = "", **fields: int) -> bytes:
    from rlscope._trace import process_record

    values = {"pid": os.getpid(), "start_time": process_start_time(os.getpid()) or 0, **fields}
    return process_record(event, began_ns=began_ns, name=name, **values)


def test_log_is_followed_record_by_record(tmp_path: Path) -> None:
    log = ProcessLog(str(tmp_path))
    assert log.update() == [], "there is no log yet"
    path = tmp_path / "processes.log"
    began = _record(1, 10, "python3", parent_pid=7)
    path.write_bytes(began + _record(3, 10, "3.11.7")[:50])  # the second is not whole yet
    (image,) = log.update()
    assert (image.comm, image.parent_pid, image.python, image.runs) == ("python3", 7, "", True)
    path.write_bytes(began + _record(3, 10, "3.11.7") + _record(1, 20, "bash"))
    (second,) = log.update()
    assert image.python == "3.11.7"
    assert log.latest() == [second], "exec began another image of the same process"
    with path.open("ab") as file:
        file.write(_record(4, 20, time_ns=99))
    assert log.update() == []
    assert (second.ended_ns, log.running()) == (99, [])


def test_log_leaves_out_other_pid_namespaces_and_damage(tmp_path: Path) -> None:
    other = _record(1, 10, pid_namespace=12345)
    damaged = b"\0" * 128
    (tmp_path / "processes.log").write_bytes(other + damaged + _record(1, 30, "mine"))
    assert [image.comm for image in ProcessLog(str(tmp_path)).update()] == ["mine"]


def _machine_samples(folder: Path, seconds: float) -> list[dict[str, Any]]:
    sampler = MachineSampler(str(folder), period_seconds=0.1)
    sampler.start()
    time.sleep(seconds)
    sampler.stop()
    assert sampler.error is None
    file = folder / "machine.jsonl"  # made with the first sample
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_samples_of_machine_and_process(tmp_path: Path) -> None:
    (tmp_path / "processes.log").write_bytes(_record(1, 10, "python3"))
    tries = (_machine_samples(tmp_path, seconds) for seconds in (0.6, 5, 30))
    samples = next(filter(None, tries), [])  # on a busy machine the first sample may take a while
    found = {(sample["pid"], sample["metric"]) for sample in samples}
    own = os.getpid()
    assert {
        (None, "cpu_percent"),
        (None, "memory_bytes"),
        (own, "cpu_percent"),
        (own, "memory_bytes"),
    } <= found
    times = [sample["time_ns"] for sample in samples]
    assert times == sorted(times)
    shares = [s["value"] for s in samples if s["pid"] is None and s["metric"] == "cpu_percent"]
    assert all(0 <= value <= 100 for value in shares)
    resident = [s["value"] for s in samples if s["pid"] == own and s["metric"] == "memory_bytes"]
    assert all(10e6 < value < 10e9 for value in resident)


def test_sampler_stopped_at_once_writes_nothing(tmp_path: Path) -> None:
    sampler = MachineSampler(str(tmp_path))
    sampler.start()
    sampler.stop()
    assert sampler.error is None
    assert not (tmp_path / "machine.jsonl").exists()


def test_sampler_that_cannot_write_keeps_its_error(tmp_path: Path) -> None:
    sampler = MachineSampler(str(tmp_path / "missing"), period_seconds=0.01)
    sampler.start()
    time.sleep(0.2)
    sampler.stop()
    assert isinstance(sampler.error, FileNotFoundError)

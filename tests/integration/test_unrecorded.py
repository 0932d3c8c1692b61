"""Children that nothing records are named, the page says them first, and the remedy works."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from support.process.traced_python import TracedPython

import rlscope as rls
from rlscope.opening import load
from rlscope.report import headline

pytestmark = pytest.mark.usefixtures("clean_environment")

# Works, waits until rls-prof names it (if it gets the path of what that prints), and says when it
# began and ended.
_TRAINER = """
import os, sys, time
print("began", time.monotonic_ns(), flush=True)
while time.process_time() < 0.7:
    pass
def is_named(output):
    return f"(pid {os.getpid()}) is not recorded" in open(output).read()
if sys.argv[1:] and "RLSCOPE_DIR" not in os.environ:
    while not is_named(sys.argv[1]):
        time.sleep(0.05)
print("ended", time.monotonic_ns(), time.process_time_ns(), flush=True)
"""
_LAUNCHERS = {
    "exec": "os.execve(sys.executable, [sys.executable, trainer, output], {})",
    "child": "subprocess.run([sys.executable, trainer, output], env={})",
    "orphan": """
reader, writer = os.pipe()
pid = os.fork()
if pid == 0:
    subprocess.Popen([sys.executable, trainer, output], env={}, pass_fds=[writer])
    os._exit(0)
os.close(writer)
os.waitpid(pid, 0)
os.read(reader, 1)
""",
}


def launch(traced: TracedPython, directory: str, launcher: str, folder: Path) -> tuple[str, str]:
    """What the programs print, and what rls-prof does."""
    output = folder / "output"
    (folder / "train.py").write_text(_TRAINER)
    (folder / "launch.py").write_text(
        f"import os, subprocess, sys, time\ntrainer = {str(folder / 'train.py')!r}\n"
        f"output = {str(output)!r}\n{launcher}\n"
    )
    command = traced.command("-o", directory, traced.python, str(folder / "launch.py"))
    with output.open("w") as file:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=file, text=True, timeout=60, check=False
        )
    return done.stdout, output.read_text()


@pytest.mark.parametrize("how", _LAUNCHERS)
def test_a_child_with_a_clean_environment_is_named_first(
    traced: TracedPython, directory: str, tmp_path: Path, how: str
) -> None:
    printed, said_by_prof = launch(traced, directory, _LAUNCHERS[how], tmp_path)
    began_ns, ended_ns, cpu_ns = map(int, re.findall(r"\d+", printed))
    assert "train.py" in said_by_prof and "is not recorded" in said_by_prof
    with load(directory) as trace:
        (row,) = trace.table("unrecorded").to_dicts()
        said = headline.read(trace)
        run_end_ns = trace.table("run").to_dicts()[0]["end_ns"]
    assert row["kind"] == "no recorder"
    assert "RLSCOPE_DIR" in row["reason"] and "LD_PRELOAD" in row["reason"]
    assert row["process_id"] is None
    assert (row["parent_process_id"] is None) == (how == "orphan")
    assert row["start_ns"] <= began_ns < row["end_ns"] <= run_end_ns
    assert row["end_ns"] - row["start_ns"] > 0.5 * (ended_ns - began_ns)
    assert 0.5e9 <= row["cpu_ns"] <= cpu_ns + 1e9
    assert said.sentence.startswith("python")
    assert "train.py" in said.sentence and "unrecorded" in said.sentence
    assert not any("rls.operation" in each.text for each in said.details)


def remedy_of(directory: str) -> str:
    with load(directory) as trace:
        (row,) = trace.table("unrecorded").to_dicts()
    return str(row["remedy"])


def test_the_command_of_the_remedy_records_under_env_i(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    launch(traced, directory, _LAUNCHERS["child"], tmp_path)
    found = re.search(r"start it as (.*), or let", remedy_of(directory))
    assert found is not None
    command = found[1]
    assert shlex.split(command)[0] == traced.prof
    subprocess.run(["env", "-i", "sh", "-c", command], cwd=tmp_path, check=True, timeout=60)
    (inner,) = (tmp_path / "rlscope_out").iterdir()
    with load(str(inner)) as trace:
        (run,) = trace.sql("SELECT command FROM run").to_dicts()
        (process,) = trace.sql("SELECT python FROM process").to_dicts()
    assert "train.py" in run["command"] and process["python"]


def test_the_variables_of_the_remedy_record_under_env_i(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    launch(traced, directory, _LAUNCHERS["child"], tmp_path)
    found = re.search(r"environment keep (\w+) and (\w+)\.", remedy_of(directory))
    assert found is not None
    kept = " ".join(f'{name}="${name}"' for name in found.groups())
    again = str(tmp_path / "again")
    # Without `true` the shell would become the trainer.
    command = f"env -i {kept} {traced.python} {tmp_path}/train.py; true"
    traced.run("-o", again, "sh", "-c", command)
    with load(again) as trace:
        assert not len(trace.table("unrecorded"))
        pythons = trace.sql("SELECT process_id FROM process WHERE python IS NOT NULL").to_dicts()
    assert len(pythons) == 1


def test_a_child_of_another_rls_prof_is_recorded_elsewhere(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    inner = tmp_path / "inner"
    command = [*traced.command("-o", str(inner), traced.python), str(tmp_path / "train.py")]
    launch(traced, directory, f"subprocess.run({command!r}, env={{}})", tmp_path)
    with load(directory) as trace:
        (row,) = trace.table("unrecorded").to_dicts()
        sentence = headline.read(trace).sentence
    assert (row["kind"], row["remedy"]) == ("elsewhere", None)
    assert str(inner) in sentence and "unrecorded" not in sentence


def test_an_interpreter_without_site_has_a_row_of_its_process(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    launch(traced, directory, "subprocess.run([sys.executable, '-S', trainer])", tmp_path)
    with load(directory) as trace:
        (row,) = trace.table("unrecorded").to_dicts()
        process = trace.table("process").to_dicts()[row["process_id"]]
        sentence = headline.read(trace).sentence
    assert row["kind"] == "no python layer"
    assert [row[each] for each in ("start_ns", "end_ns", "cpu_ns")] == [
        process[each] for each in ("start_ns", "end_ns", "cpu_ns")
    ]
    assert "-S" in sentence and "unrecorded" in sentence


def test_a_command_without_site_is_named_first(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    program = tmp_path / "train.py"
    program.write_text("import time\ntime.sleep(2)\n", encoding="utf-8")
    done = traced.run("-o", directory, traced.python, "-S", program)
    assert "no Python" not in done.stderr.replace("no Python layer", "")
    with load(directory) as trace:
        sentence = headline.read(trace).sentence
    assert sentence.startswith("python -S") and "unrecorded" in sentence
    assert "Run it without -S" in sentence


def test_an_import_of_rlscope_begins_what_site_did_not(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    """Calls of the interpreter are waits from then on, in an interpreter without site, too."""
    program = tmp_path / "train.py"
    path = [str(Path(rls.__file__).parent.parent), *sys.path]  # an editable install has a finder
    program.write_text(
        f"import sys\nsys.path[:0] = {path!r}\nimport time, rlscope as rls\n"
        "for _ in range(5):\n    with rls.operation('step'):\n        time.sleep(0.01)\n",
        encoding="utf-8",
    )
    traced.run("-o", directory, traced.python, "-S", program)
    with load(directory) as trace:
        (row,) = trace.sql("SELECT kind, operation, count FROM wait WHERE function = 'time.sleep'")
        assert not len(trace.table("unrecorded"))
    assert tuple(row) == ("sleep", "step", 5)


def test_children_that_keep_the_environment_have_no_row(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    environment = "dict(os.environ, TOOL='x')"
    launcher = f"subprocess.run([sys.executable, trainer], env={environment})"
    launch(traced, directory, launcher, tmp_path)
    with load(directory) as trace:
        assert not len(trace.table("unrecorded"))
    assert not os.path.exists(f"{directory}/unrecorded.jsonl")


def test_a_loop_that_does_not_wait_keeps_the_first_sentence(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    launcher = """
import rlscope as rls
child = subprocess.Popen([sys.executable, trainer, output], env={})
for _ in range(30):
    rls.iteration()
    with rls.operation("learn"):
        sum(range(1_000_000))
while child.poll() is None:
    with rls.operation("learn"):
        sum(range(1_000_000))
"""
    launch(traced, directory, launcher, tmp_path)
    with load(directory) as trace:
        said = headline.read(trace)
    assert said.sentence.startswith("Learning takes")
    assert any("unrecorded" in each.text for each in said.details if each.warning)

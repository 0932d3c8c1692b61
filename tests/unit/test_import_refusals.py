"""Files that are not imported, or not as a whole: a sentence or a count says why."""

from __future__ import annotations

import pytest
from support.files.kineto_files import (
    REAL_US,
    import_rows,
    op,
    row,
    self_times,
    write,
)

from rlscope import _trace
from rlscope.errors import DirectoryInUse, RlscopeError
from rlscope.importing.directory import import_files
from rlscope.opening import load

US = 1000
BEGIN_NS = REAL_US * US


def at(microseconds):
    """Microseconds since the begin, as a file has them: exact text, not a float."""
    return REAL_US + microseconds


def nested(depth, rows):
    """Calls inside of calls, and the rows inside of the innermost one."""
    calls = [op(f"a{n % 3}", at(n), 2 * (depth - n) + 100) for n in range(depth)]
    return [*calls, *rows]


@pytest.mark.parametrize("more", [0, 1, 3000])
def test_calls_inside_of_too_many_others_are_left_out_and_counted(tmp_path, more):
    """What is inside of them stays."""
    depth = _MOST_CALLS + more
    inner = op("inner", at(depth + 5), 20)
    directory = import_rows(tmp_path, nested(depth, [inner, op("leaf", at(depth + 7), 2)]))
    found = self_times(directory)
    assert found["leaf"] == (1, 2 * US)
    assert found.get("inner", (0, 0))[0] == 0
    assert sum(count for count, _ in found.values()) == _MOST_CALLS + 1
    with load(directory) as trace:
        lost = trace.sql("SELECT \"count\" FROM loss WHERE kind = 'too_deep'")
        assert list(lost) == [(more + 1,)]
        ((call_ns,),) = trace.sql("SELECT sum(duration_ns)::BIGINT FROM native_call")
        ((length_ns,),) = trace.sql("SELECT end_ns - start_ns FROM process")
        assert call_ns == length_ns == (2 * depth + 100) * US


_MOST_CALLS = 16_384


def test_functions_of_python_inside_of_too_many_calls_are_left_out_and_counted(tmp_path):
    frame = row("python_function", "train.py(3): step", at(_MOST_CALLS + 5), 20)
    directory = import_rows(tmp_path, nested(_MOST_CALLS, [frame, op("x", at(_MOST_CALLS + 7), 2)]))
    with load(directory) as trace:
        lost = trace.sql("SELECT \"count\" FROM loss WHERE kind = 'too_deep'")
        # All of the calls have room, and then the frame has none.
        assert list(lost) == [(1,)]


def test_a_run_in_the_way_is_refused_and_removed_with_force(tmp_path):
    file = str(write(tmp_path / "rows.json", [op("a", at(0), 5)]))
    import_files([file], str(tmp_path / "run"))
    before = sorted(tmp_path.rglob("*.rls"))
    with pytest.raises(DirectoryInUse):
        import_files([file], str(tmp_path / "run"))
    assert sorted(tmp_path.rglob("*.rls")) == before
    import_files([file, file], str(tmp_path / "run"), force=True)
    assert len(list(tmp_path.rglob("*.rls"))) == 2


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is none of torch.profiler"),
        (b'{"some": "json"}', "is none of torch.profiler"),
        (b'{"schemaVersion": 1}', "no traceEvents"),
        (b'{"schemaVersion": 1, "traceEvents": [', "ends too early"),
        (b'{"schemaVersion": 1, "traceEvents": []}', "no row that rlscope can import"),
        (b'{"schemaVersion": 1, "traceEvents": [}', "invalid JSON at byte"),
        (b'{"schemaVersion": 1, "a": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"schemaVersion": 1, "baseTimeNanoseconds": 1e40, "traceEvents": []}', "possible time"),
        (b"\x1f\x8b\x08\x00", "is damaged"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_and_leaves_nothing(tmp_path, content, reason):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(RlscopeError) as error:
        import_files([str(tmp_path / "file")], str(tmp_path / "run"))
    assert reason in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()


def test_times_of_no_one_recording_are_refused(tmp_path):
    file = write(tmp_path / "rows.json", [op("a", at(0), 5), op("b", 0, 5)])
    with pytest.raises(RlscopeError, match="days apart"):
        import_files([str(file)], str(tmp_path / "run"))


def test_an_interrupt_while_it_reads_leaves_nothing(tmp_path):
    file = str(write(tmp_path / "rows.json", [op("a", at(0), 5)]))

    def step(text):
        if "reading" in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_files([file], str(tmp_path / "run"), step=step)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            (OSError, 28, "No space left on device"),
            (RlscopeError, "cannot write .*: No space left"),
        ),
        ((KeyboardInterrupt,), (KeyboardInterrupt, "^$")),
    ],
    ids=["full", "interrupt"],
)
def test_what_stops_the_writing_leaves_nothing(tmp_path, monkeypatch, error, told):
    file = str(write(tmp_path / "rows.json", [op("a", at(0), 5)]))
    written = _trace.ImportedRows.write

    def write_and_fail(rows, path, **options):
        written(rows, path, **options)
        kind, *arguments = error
        raise kind(*arguments)

    monkeypatch.setattr(_trace.ImportedRows, "write", write_and_fail)
    with pytest.raises(told[0], match=told[1]):
        import_files([file], str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()

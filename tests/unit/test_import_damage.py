"""Damaged and hostile files of every kind: imported, or refused by one line; nothing is left, and
memory is bounded. The scanners themselves are fuzzed in tests/fuzz/importer_replay.cc."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from support.files import nsight_files
from support.files.kineto_files import at_real, kernel, launch, op, write

from rlscope.errors import RlscopeError
from rlscope.importing.directory import import_files

LIMIT_MB = 256


def make_kineto(folder):
    rows = [op("a", at_real(0), 9), launch(at_real(1), 1, 2), kernel("gemm", at_real(5), 3, 2)]
    return write(folder / "good.json", rows * 5)


def make_merged(folder):
    """A file of two processes, whose launches have the same ids."""
    rows = [op("a", at_real(0), 9), launch(at_real(1), 1, 2), kernel("gemm", at_real(5), 3, 2)]
    others = [{**row, "pid": 8} if row["cat"] != "kernel" else row for row in rows]
    return write(folder / "good.json", [*rows, *others] * 3)


def make_gzip(folder):
    path = folder / "good.json.gz"
    path.write_bytes(gzip.compress(make_kineto(folder).read_bytes()))
    return path


def make_nsight(folder):
    return nsight_files.write(folder / "good.sqlite", nsight_files.a_run())


EVENTS = """SELECT 1 AS process_id, 2 AS thread_id, 'call' AS kind, 'framework' AS layer,
    'mm' || (n % 7) AS name, 10 * n AS start_ns, 5 AS duration_ns, 3 AS iteration
    FROM range(200) AS numbers(n)"""


def make_parquet(folder):
    with duckdb.connect() as database:
        database.execute(f"COPY ({EVENTS}) TO '{folder}/good.parquet' (FORMAT parquet)")
    return folder / "good.parquet"


def make_csv(folder):
    with duckdb.connect() as database:
        database.execute(f"COPY ({EVENTS}) TO '{folder}/good.csv' (HEADER)")
    return folder / "good.csv"


def make_chrome(folder):
    """Slices of every kind, of two processes."""
    rows = [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "trainer"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "worker"}},
        {"ph": "B", "name": "step", "cat": "loop", "pid": 1, "tid": 1, "ts": 10},
        {"ph": "X", "name": "act", "pid": 1, "tid": 1, "ts": 12.5, "dur": 3},
        {"ph": "E", "pid": 1, "tid": 1, "ts": 30.001},
        {"ph": "X", "name": "load", "pid": 2, "tid": "reader", "ts": 11, "dur": 4},
        {"ph": "b", "name": "send", "cat": "net", "id": "0x1", "pid": 1, "tid": 2, "ts": 9},
        {"ph": "S", "name": "get", "cat": "net", "id2": {"local": 7}, "pid": 1, "ts": 9.5},
        {"ph": "F", "name": "get", "cat": "net", "id2": {"local": 7}, "pid": 1, "ts": 19},
        {"ph": "e", "name": "send", "cat": "net", "id": "0x1", "pid": 1, "tid": 2, "ts": 21},
        {"ph": "C", "name": "memory", "pid": 1, "ts": 9, "args": {"bytes": 5}},
    ]
    (folder / "good.json").write_text(json.dumps(rows * 4))
    return folder / "good.json"


def make_xprof(folder):
    """Rows of the host and of a GPU, as JAX writes them."""
    rows = [
        {"ph": "M", "name": "process_name", "pid": 701, "args": {"name": "/host:CPU"}},
        {"ph": "M", "name": "thread_name", "pid": 701, "tid": 5, "args": {"name": "python"}},
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "/device:GPU:1 H100"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "Stream #14(C)"}},
    ]

    def add(name, ts, dur, pid=701, tid=5, **arguments):
        where = {"pid": pid, "tid": tid, "ts": ts, "dur": dur}
        rows.append({"ph": "X", "name": name, **where, "args": arguments})

    for step in range(3):
        add("train", 100 * step, 90, step_num=str(step))
        add("PjitFunction(f)", 100 * step + 10, 20)
        add("$pjit.py:250 cache_miss", 100 * step + 12, 5)
        add("cuLaunchKernel", 100 * step + 15, 1, correlation_id=str(step + 1))
        add("gemm", 100 * step + 20, 9, 1, 2, correlation_id=str(step + 1))
    text = json.dumps({"displayTimeUnit": "ns", "traceEvents": [*rows, {}]})
    (folder / "good.trace.json").write_text(text)
    return folder / "good.trace.json"


MAKERS = {
    "kineto": make_kineto,
    "merged": make_merged,
    "gzip": make_gzip,
    "chrome": make_chrome,
    "xprof": make_xprof,
    "nsight": make_nsight,
    "parquet": make_parquet,
    "csv": make_csv,
}


@pytest.fixture(params=MAKERS, scope="module")
def good(request, tmp_path_factory):
    """A good file of a kind."""
    folder = tmp_path_factory.mktemp(request.param)
    file = MAKERS[request.param](folder)
    import_files([str(file)], str(folder / "run"))
    return file


def damaged(content: bytes, seed: int) -> bytes:
    """Cut, or with some bytes that are others."""
    chance = random.Random(seed)
    if seed % 2 == 0:
        return content[: chance.randrange(len(content))]
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 4, 64))):
        changed[chance.randrange(len(changed))] = chance.choice((0, 255, chance.randrange(256)))
    return bytes(changed)


def check(folder: Path, file: Path) -> bool:
    """Whether the file was imported; else it was refused by one line, and nothing is left."""
    try:
        import_files([str(file)], str(folder / "run"), force=True)
    except RlscopeError as error:
        assert "\n" not in str(error)
        assert str(file) in str(error)
        assert not (folder / "run").exists()
        return False
    subprocess.run(["rm", "-r", str(folder / "run")], check=True)
    return True


@pytest.mark.parametrize("count", [40, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_damaged_file_is_imported_or_refused_by_one_line(tmp_path, good, count):
    content = good.read_bytes()
    refused = 0
    for seed in range(count):
        file = tmp_path / f"damaged{good.suffix}"
        file.write_bytes(damaged(content, seed))
        refused += not check(tmp_path, file)
    assert refused >= count // 20


def test_a_column_that_has_a_null_and_says_it_has_none_is_damage(tmp_path):
    """DuckDB's coalesce() lets it through."""
    file = tmp_path / "damaged.parquet"
    file.write_bytes(damaged(make_parquet(tmp_path).read_bytes(), 3623))
    with pytest.raises(RlscopeError, match=r"^\S+ is damaged: column \w+ has a NULL"):
        import_files([str(file)], str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def peak_mb(folder: Path, file: Path) -> tuple[int, str]:
    """The most memory that an import of the file takes, in MB, and what it said."""
    program = (
        "import sys; from rlscope.commands import main\n"
        "code = main(['import', sys.argv[1], '-o', sys.argv[2]])\n"
        "(peak,) = [line.split()[1] for line in open('/proc/self/status') if 'VmHWM' in line]\n"
        "print(int(peak) // 1024, code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(file), str(folder / "run")],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    peak, code = done.stdout.split()[-2:]
    assert (code == "1") == ("rlscope: " in done.stderr)
    return int(peak), done.stderr


@pytest.mark.parametrize("inside", [b" ", b"[", b"a"], ids=["space", "brackets", "text"])
def test_a_gzip_bomb_takes_no_memory(tmp_path, inside):
    bomb = tmp_path / "bomb.json.gz"
    begin = b'{"schemaVersion": "' if inside == b"a" else b'{"schemaVersion": 1, "x": '
    with gzip.open(bomb, "wb", compresslevel=1) as file:
        file.write(begin)
        for _ in range(LIMIT_MB):
            file.write(inside * (1 << 20))
    peak, told = peak_mb(tmp_path, bomb)
    assert peak < LIMIT_MB
    assert told.count("\n") == 1


@pytest.mark.slow
def test_a_database_of_long_texts_takes_no_memory(tmp_path):
    extra = """
        INSERT INTO StringIds (id, value)
        SELECT 1000 + value, hex(zeroblob(4000000)) FROM generate_series(1, 20);
        INSERT INTO NVTX_EVENTS (start, "end", eventType, textId, globalTid, text)
        SELECT value, value + 5, 59, 1000 + value, 71, NULL FROM generate_series(1, 20);
        INSERT INTO NVTX_EVENTS (start, "end", eventType, text, globalTid)
        SELECT value, value + 5, 59, hex(zeroblob(4000000)), 71 FROM generate_series(1, 20);
        INSERT INTO NVTX_EVENTS (start, "end", eventType, text, globalTid)
        SELECT one.value, 1000, 59, hex(randomblob(4000)), 71
        FROM generate_series(1, 20) AS one, generate_series(1, 20), generate_series(1, 20);
    """.replace("generate_series(1, 20)", _SERIES)
    file = nsight_files.write(tmp_path / "long.sqlite", nsight_files.a_run(), extra=extra)
    peak, told = peak_mb(tmp_path, file)
    assert peak < LIMIT_MB
    assert "taken" in told


_SERIES = (
    "(WITH RECURSIVE numbers(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers"
    " WHERE value < 20) SELECT value FROM numbers)"
)


@pytest.mark.slow
def test_a_csv_of_many_long_names_takes_no_memory(tmp_path):
    file = tmp_path / "many.csv"
    with file.open("w") as written:
        written.write("kind,name,start_ns,duration_ns\n")
        for number in range(1500):
            written.write(f"operation,{number}{'a' * 130_000},{number},2\n")
    peak, told = peak_mb(tmp_path, file)
    assert peak < LIMIT_MB
    assert told == "taken: 1,500 operation\n"


@pytest.mark.slow
def test_a_chrome_trace_of_many_categories_takes_no_memory(tmp_path):
    """Far more than have a track of their own."""
    file = tmp_path / "many.json"
    with file.open("w") as written:
        written.write('{"traceEvents": [')
        for number in range(900_000):
            category = f"{number}{'n' * 230}"
            written.write(
                f'{{"ph":"b","cat":"{category}","id":{number},"name":"a","pid":1,"ts":1}},\n'
            )
        written.write("{}]}")
    peak, told = peak_mb(tmp_path, file)
    assert peak < LIMIT_MB
    assert "beyond the limit of threads" in told


@pytest.mark.slow
def test_a_trace_of_calls_inside_of_calls_takes_no_memory(tmp_path):
    """Ten million, each inside of the one before."""
    file, most = tmp_path / "nested.json", 10_000_000
    with file.open("w") as written:
        written.write('{"schemaVersion": 1, "traceEvents": [')
        for number in range(most):
            times = f'"ts":{number},"dur":{2 * (most - number)}'
            written.write(f'{{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,{times}}},\n')
        written.write("{}]}")
    peak, told = peak_mb(tmp_path, file)
    assert peak < LIMIT_MB
    assert "taken: 10,000,000 cpu_op" in told


def test_a_csv_of_a_long_line_takes_no_memory(tmp_path):
    file = tmp_path / "long.csv"
    with file.open("w") as written:
        written.write("kind,name,start_ns,duration_ns\noperation,")
        written.truncate(2 * LIMIT_MB << 20)
    peak, told = peak_mb(tmp_path, file)
    assert peak < LIMIT_MB
    assert told.count("\n") == 1

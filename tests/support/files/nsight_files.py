"""SQLite files as Nsight Systems exports them, by NVIDIA's documentation."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from rlscope.importing import nsight_schema as schema

SESSION_NS = 1_700_000_000_000_000_000
"""When the session began, by the world's clock."""
PID, TID, WORKER = 71, 71, 75
GLOBAL_PID = 3 << 48 | PID << 24
"""As on a machine whose number is not 0."""

Rows = Mapping[str, Iterable[Mapping[str, Any]]]


def global_tid(tid: int = TID, pid: int = PID) -> int:
    return 3 << 48 | pid << 24 | tid


class Strings:
    """The numbers of names, as in StringIds."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.ids.setdefault(text, len(self.ids) + 1)


def columns_of(table: str) -> tuple[str, ...]:
    """All that are read of a table."""
    for event in schema.EVENT_TABLES:
        if event.name == table:
            return event.columns
    if table in schema.OTHER_TABLES:
        return schema.OTHER_TABLES[table][1]
    return ("id", "name", "label")


def write(path: Path, rows: Rows, *, without: Iterable[str] = (), extra: str = "") -> Path:
    """A file of these tables, without some "table.column"s, and what the script `extra` makes."""
    with closing(sqlite3.connect(path)) as connection:
        for table, content in rows.items():
            columns = [name for name in columns_of(table) if f"{table}.{name}" not in without]
            declared = ", ".join(f'"{name}"' for name in (*columns, "unread"))
            connection.execute(f'CREATE TABLE "{table}" ({declared})')
            places = ", ".join(["?"] * len(columns) + ["0"])
            connection.executemany(
                f'INSERT INTO "{table}" VALUES ({places})',
                [[row.get(name) for name in columns] for row in content],
            )
        connection.executescript(extra)
        connection.commit()
    return path


def runtime(strings: Strings, name: str, start: int, end: int, correlation: int) -> dict[str, Any]:
    where = {"globalTid": global_tid(), "correlationId": correlation}
    return {"start": start, "end": end, "nameId": strings(name), **where}


def nvtx(text: str | None, start: int, end: int | None, **others: Any) -> dict[str, Any]:
    row = {"start": start, "end": end, "eventType": 59, "text": text, "globalTid": global_tid()}
    return {**row, **others}


def on_gpu(start: int, end: int, correlation: int, **others: Any) -> dict[str, Any]:
    where = {"deviceId": 0, "contextId": 1, "streamId": 7, "globalPid": GLOBAL_PID}
    return {"start": start, "end": end, "correlationId": correlation, **where, **others}


def os_call(strings: Strings, name: str, start: int, end: int, tid: int = TID) -> dict[str, Any]:
    return {"start": start, "end": end, "nameId": strings(name), "globalTid": global_tid(tid)}


def a_run() -> dict[str, list[dict[str, Any]]]:
    """A step of 100 us: a launch and its kernel, a copy, a synchronisation, a wait."""
    strings = Strings()
    tables: dict[str, list[dict[str, Any]]] = {
        "CUPTI_ACTIVITY_KIND_RUNTIME": [
            runtime(strings, "cudaLaunchKernel_v7000", 10_000, 15_000, 1),
            runtime(strings, "cudaMemcpyAsync_v3020", 20_000, 22_000, 2),
            runtime(strings, "cudaStreamSynchronize_v3020", 30_000, 60_000, 3),
        ],
        "NVTX_EVENTS": [
            nvtx("step", 0, 100_000),
            nvtx(None, 5_000, 70_000, textId=strings("forward")),
            nvtx("mark", 6_000, None, eventType=34),
            nvtx("open", 7_000, None),
            nvtx("elsewhere", 8_000, 9_000, eventType=60, endGlobalTid=global_tid(WORKER)),
            nvtx("range", 72_000, 90_000, eventType=60, endGlobalTid=global_tid()),
        ],
        "OSRT_API": [
            os_call(strings, "pthread_cond_wait", 75_000, 85_000),
            os_call(strings, "read", 86_000, 87_000),
            os_call(strings, "ioctl", 11_000, 12_000),
        ],
        "CUPTI_ACTIVITY_KIND_KERNEL": [
            on_gpu(25_000, 45_000, 1, demangledName=strings("gemm<float>(int)"), shortName=9999)
        ],
        "CUPTI_ACTIVITY_KIND_MEMCPY": [
            on_gpu(46_000, 50_000, 2, bytes=512, copyKind=2, srcKind=2, dstKind=1)
        ],
        "CUPTI_ACTIVITY_KIND_MEMSET": [on_gpu(51_000, 52_000, 4, bytes=64, memKind=2)],
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": [on_gpu(31_000, 59_000, 3, syncType=3)],
        "PROCESSES": [{"globalPid": GLOBAL_PID, "name": "/usr/bin/python3.11"}],
        "ThreadNames": [{"globalTid": global_tid(), "nameId": strings("main")}],
        "TARGET_INFO_SESSION_START_TIME": [{"utcEpochNs": SESSION_NS}],
        "TARGET_INFO_SYSTEM_ENV": [{"name": "Hostname", "value": "box"}],
        "TARGET_INFO_GPU": [{"id": 0, "name": "NVIDIA H100"}],
        "META_DATA_EXPORT": [{"name": "EXPORT_SCHEMA_VERSION", "value": "3.16.1"}],
    }
    tables["StringIds"] = [{"id": number, "value": text} for text, number in strings.ids.items()]
    return tables

"""The process view as a running sum in DuckDB and in pandas, on the events of sweep.cc.

Each start of an event adds its weight, each end takes it away; the running sum over the boundaries
in order of time is the state that lasts until the next boundary. A weight holds a counter of eight
bits per layer (simulator, framework, cuda_api, gpu) and, above bit 40, an operation's number less
its parent's, so that open operations add up to the innermost one. This needs proper nesting and a
single thread with operations: a peer to be compared with, not what the sweep can do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import duckdb
import numpy as np
import pandas as pd

States = dict[int, int]
"""Nanoseconds by operation << 4 | layer << 1 | gpu_busy, as sweep.cc prints them."""

# DuckDB computes a window without an order of its own as it streams by: the fastest form known,
# almost twice as fast as a window ordered by time.
RUNNING_SUM = """
SELECT state, sum(duration) FROM (
  SELECT sum(weight) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)::BIGINT AS state,
         lead(time) OVER () - time AS duration
  FROM (SELECT start_ns AS time, weight FROM event
        UNION ALL SELECT end_ns, -weight FROM event
        ORDER BY time))
GROUP BY state
"""


def read_events(folder: Path) -> pd.DataFrame:
    """The events as sweep.cc wrote them: start_ns, end_ns, weight."""
    columns = ("start_ns", "end_ns", "weight")
    return pd.DataFrame({name: np.fromfile(folder / name, np.int64) for name in columns})


def with_duckdb(connection: duckdb.DuckDBPyConnection) -> States:
    """The process view of the connection's table `event`, in SQL."""
    return decode(connection.execute(RUNNING_SUM).fetchall())


def with_pandas(events: pd.DataFrame) -> States:
    """The same with a cumulative sum in pandas."""
    times = pd.concat([events["start_ns"], events["end_ns"]], ignore_index=True)
    weights = pd.concat([events["weight"], -events["weight"]], ignore_index=True)
    order = np.argsort(times.to_numpy(), kind="stable")
    times = times.iloc[order]
    states = weights.iloc[order].cumsum().to_numpy()
    durations = -times.diff(-1)
    sums = durations.iloc[:-1].groupby(states[:-1]).sum()
    return decode(list(sums.items()))


def decode(rows: list[tuple[int, int]]) -> States:
    """Running sums to states; those without any time are left out."""
    states: States = {}
    for weight, duration in rows:
        if duration:
            key = decode_state(int(weight))
            states[key] = states.get(key, 0) + int(duration)
    return states


def decode_state(weight: int) -> int:
    """One running sum to operation << 4 | layer << 1 | gpu_busy."""
    deepest = next((rank for rank in (5, 4, 3) if weight >> 8 * (rank - 3) & 255), 2)
    return weight >> 40 << 4 | deepest << 1 | bool(weight >> 24 & 255)


def measure(folder: Path, expected: States, repeats: int) -> dict[str, float]:
    """Median CPU seconds of each peer on one thread.

    Raises:
        ValueError: a peer found other times than the sweep.
    """
    events = read_events(folder)
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.execute("CREATE TABLE event AS SELECT * FROM events")
    seconds: dict[str, list[float]] = {"duckdb_seconds": [], "pandas_seconds": []}
    peers: dict[str, Callable[[], States]] = {
        "duckdb_seconds": lambda: with_duckdb(connection),
        "pandas_seconds": lambda: with_pandas(events),
    }
    for _ in range(repeats):
        for name, peer in peers.items():
            begin = time.process_time()
            if peer() != expected:
                raise ValueError(f"{name}: other times than the sweep's")
            seconds[name].append(time.process_time() - begin)
    return {name: median(values) for name, values in seconds.items()}

"""Whether Python inside native code is measured: PyTorch calls back in six ways, against the trace.

    python tests/benchmarks/callbacks.py [--rounds 9] [--output FILE.json]

The truth is CPU time of the thread, 5 ms of it in each callback. The trace knows wall time, to
which a busy machine adds: the median of the rounds counts. Without hooks on the way back into
Python all of it would be the framework's.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(ROOT)]

from layer_programs.torch_callbacks import BUSY_NS, script  # noqa: E402
from paired import write_result  # noqa: E402
from support.process.native_calls import Call, Callback, record_calls, thread_callback  # noqa: E402

TARGET_PERCENT = 15.0


def python_ns(call: Call) -> int:
    """Python inside the call, native calls in it left out but for the Python in them."""
    return sum(_own_ns(callback) for callback in call.callbacks)


def _own_ns(callback: Callback) -> int:
    native = sum(call.end_ns - call.start_ns - python_ns(call) for call in callback.calls)
    return callback.end_ns - callback.start_ns - native


def measure(rounds: int) -> list[dict[str, float]]:
    """For each round: Python inside native calls in ms, the truth and the trace's."""
    with tempfile.TemporaryDirectory(prefix="callbacks-") as folder:
        trace = record_calls(str(Path(folder, "run")), script(rounds))
    truth_ns = BUSY_NS * len(json.loads(trace.output)) / rounds
    found = dict.fromkeys((f"round {number}" for number in range(rounds)), 0)
    for call in thread_callback(trace, trace.threads()[0]).calls:
        if call.operation in found:
            found[call.operation] += python_ns(call)
    return [{"truth_ms": truth_ns / 1e6, "trace_ms": ns / 1e6} for ns in found.values()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output", default=str(ROOT / "build/benchmarks/callbacks.json"))
    options = parser.parse_args()
    rows = measure(options.rounds)
    errors = [100 * (row["trace_ms"] / row["truth_ms"] - 1) for row in rows]
    error = statistics.median(errors)
    met = abs(error) <= TARGET_PERCENT
    print(f"Python in callbacks: {rows[0]['truth_ms']:.0f} ms of CPU time a round; the trace says")
    print("  " + ", ".join(f"{row['trace_ms']:.1f}" for row in rows))
    print(f"{'met   ' if met else 'MISSED'} median {error:+.1f} % (at most {TARGET_PERCENT:.0f} %)")
    result: dict[str, Any] = {"rounds": rows, "median_error_percent": error, "met": met}
    write_result(options.output, result)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

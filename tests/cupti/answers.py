"""What a CUPTI answers where it has no connection to a driver, as lines of JSON.

    answers.py LIBRARY

Each scenario is a process of its own, which writes a line after each call: the answers before the
end of a process that a call killed are there, too.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

Callback = CFUNCTYPE(None, c_void_p, c_uint32, c_uint32, c_void_p)
Requested = CFUNCTYPE(None, POINTER(c_void_p), POINTER(c_size_t), POINTER(c_size_t))
Completed = CFUNCTYPE(None, c_void_p, c_uint32, c_void_p, c_size_t, c_size_t)
Clock = CFUNCTYPE(c_uint64)

OWN_TIME = 4711
# CUPTI keeps them for good.
FUNCTIONS = (
    Callback(lambda *_: None),
    Requested(lambda *_: None),
    Completed(lambda *_: None),
    Clock(lambda: OWN_TIME),
)
CALLBACK, REQUESTED, COMPLETED, CLOCK = FUNCTIONS

LAST_KIND, LAST_STATUS, LAST_DOMAIN, LAST_ID = 63, 60, 9, 1000
# Kinds of which the simulated CUPTI has records, and two that no CUPTI has.
KINDS_OF_RECORDS = (1, 2, 3, 4, 5, 10, 17, 22, 38, 39, 51, 0, 63)
UNTOUCHED = 77  # what lies where CUPTI may write

Answer = tuple[str, Any]


class SubscriberParameters(ctypes.Structure):
    """CUpti_SubscriberParams."""

    _fields_ = (
        ("size", c_size_t),
        ("name", c_char_p),
        ("holder", c_void_p),
        ("holder_size", c_size_t),
    )


def version(cupti: ctypes.CDLL) -> Iterator[Answer]:
    number = c_uint32(UNTOUCHED)
    yield "cuptiGetVersion", (cupti.cuptiGetVersion(byref(number)), number.value)


def timestamp(cupti: ctypes.CDLL) -> Iterator[Answer]:
    """The clock of CUPTI's time."""
    told, before = c_uint64(UNTOUCHED), time.time()
    status = cupti.cuptiGetTimestamp(byref(told))
    now = before - 1 < told.value / 1e9 < time.time() + 1
    yield "cuptiGetTimestamp", (status, "realtime" if now else told.value)


def strings(cupti: ctypes.CDLL) -> Iterator[Answer]:
    """Names of result codes, and one of the messages, of which some are sentences of NVIDIA's."""
    for code in (*range(LAST_STATUS + 1), 998, 999):
        text = c_char_p(b"untouched")
        status = cupti.cuptiGetResultString(code, byref(text))
        yield f"cuptiGetResultString({code})", (status, (text.value or b"").decode())
    if hasattr(cupti, "cuptiGetErrorMessage"):
        text = c_char_p(b"untouched")
        status = cupti.cuptiGetErrorMessage(1, byref(text))
        yield "cuptiGetErrorMessage(1)", (status, (text.value or b"").decode())


def subscription(cupti: ctypes.CDLL) -> Iterator[Answer]:
    subscriber = c_void_p(UNTOUCHED)
    status = cupti.cuptiSubscribe(byref(subscriber), CALLBACK, None)
    yield "cuptiSubscribe", (status, subscriber.value)
    yield from named_subscription(cupti)


def named_subscription(cupti: ctypes.CDLL) -> Iterator[Answer]:
    if not hasattr(cupti, "cuptiSubscribe_v2"):
        return
    subscriber, holder = c_void_p(UNTOUCHED), ctypes.create_string_buffer(b"untouched", 64)
    parameters = SubscriberParameters(
        ctypes.sizeof(SubscriberParameters), b"rlscope", ctypes.addressof(holder), len(holder)
    )
    status = cupti.cuptiSubscribe_v2(byref(subscriber), CALLBACK, None, byref(parameters))
    yield "cuptiSubscribe_v2", (status, subscriber.value, holder.value.decode())


def callbacks(cupti: ctypes.CDLL) -> Iterator[Answer]:
    """Without a subscriber, which there cannot be."""
    for domain in range(LAST_DOMAIN + 1):
        yield f"cuptiEnableDomain({domain})", cupti.cuptiEnableDomain(1, None, domain)
        statuses = {
            cupti.cuptiEnableCallback(1, None, domain, identifier)
            for identifier in range(LAST_ID + 1)
        }
        yield f"cuptiEnableCallback({domain}, each)", sorted(statuses)
    yield "cuptiUnsubscribe", cupti.cuptiUnsubscribe(None)


def clock(cupti: ctypes.CDLL) -> Iterator[Answer]:
    name = "cuptiActivityRegisterTimestampCallback"
    yield f"{name}(null)", getattr(cupti, name)(None)
    yield name, getattr(cupti, name)(CLOCK)
    yield from timestamp(cupti)


def activities(cupti: ctypes.CDLL) -> Iterator[Answer]:
    name = "cuptiActivityRegisterCallbacks"
    yield "cuptiActivityFlushAll(0) first", cupti.cuptiActivityFlushAll(0)
    yield f"{name}(null)", getattr(cupti, name)(None, None)
    yield name, getattr(cupti, name)(REQUESTED, COMPLETED)
    for name in ("cuptiActivityEnable", "cuptiActivityDisable"):
        for kind in range(LAST_KIND + 1):
            yield f"{name}({kind})", getattr(cupti, name)(kind)
    for flag in (0, 1):
        yield f"cuptiActivityFlushAll({flag})", cupti.cuptiActivityFlushAll(flag)
    yield from dropped(cupti)


def dropped(cupti: ctypes.CDLL) -> Iterator[Answer]:
    count = c_size_t(UNTOUCHED)
    status = cupti.cuptiActivityGetNumDroppedRecords(None, 0, byref(count))
    yield "cuptiActivityGetNumDroppedRecords", (status, count.value)


def records(cupti: ctypes.CDLL) -> Iterator[Answer]:
    """Fills a buffer with records of one kind: how far apart CUPTI takes two to be."""
    buffer = (c_uint64 * 512)()
    record = c_void_p()

    def following(valid: int) -> int:
        status: int = cupti.cuptiActivityGetNextRecord(buffer, c_size_t(valid), byref(record))
        return status

    yield "cuptiActivityGetNextRecord(empty)", (following(0), record.value)
    for kind in KINDS_OF_RECORDS:
        buffer[:] = [kind] * len(buffer)
        record.value = None
        statuses = [following(ctypes.sizeof(buffer)), following(ctypes.sizeof(buffer))]
        apart = (record.value or ctypes.addressof(buffer)) - ctypes.addressof(buffer)
        yield f"cuptiActivityGetNextRecord({kind})", (*statuses, apart)


def finalize(cupti: ctypes.CDLL) -> Iterator[Answer]:
    yield "cuptiFinalize", cupti.cuptiFinalize()


def finalize_last(cupti: ctypes.CDLL) -> Iterator[Answer]:
    yield from subscription(cupti)
    yield from finalize(cupti)


SCENARIOS: tuple[Callable[[ctypes.CDLL], Iterator[Answer]], ...] = (
    version,
    timestamp,
    strings,
    subscription,
    named_subscription,
    callbacks,
    clock,
    activities,
    dropped,
    records,
    finalize,
    finalize_last,
)


def play(scenario: Callable[[ctypes.CDLL], Iterator[Answer]], library: str) -> None:
    """In a child: one line for each answer, and one for the end if that was a signal."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for name, answer in scenario(ctypes.CDLL(library)):
            os.write(1, (json.dumps([scenario.__name__, name, answer]) + "\n").encode())
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status != 0:
        ended = [scenario.__name__, "signal", os.WTERMSIG(status)]
        os.write(1, (json.dumps(ended) + "\n").encode())


def main() -> None:
    for scenario in SCENARIOS:
        play(scenario, sys.argv[1])


if __name__ == "__main__":
    main()

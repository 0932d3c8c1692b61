"""What is read of an SQLite export of Nsight Systems (`nsys export --type sqlite`).

The schema is NVIDIA's, and documented by them: of 2021 in
https://docs.nvidia.com/nsight-systems/2021.5/nsys-exporter/exported_data.html, of today in
https://docs.nvidia.com/nsight-systems/AnalysisGuide/index.html ("SQLite Schema Reference" and
"SQLite Schema Event Values"). Tables are made lazily, and columns came over the years: what is not
there is not read. docs/guide/import.md lists these tables; a test compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rlscope import _trace


@dataclass(frozen=True)
class EventTable:
    """A table with a row for each interval, in nanoseconds since the session began."""

    name: str
    what: str
    """What its rows become."""
    columns: tuple[str, ...]
    """Those that are read where they are there; `start` and `end` must be."""
    gpu_kind: int = 0
    """Place in _trace.GPU_KINDS, of rows that are a GPU's."""


def _gpu(name: str) -> int:
    return [kind["name"] for kind in _trace.GPU_KINDS].index(name)


_ON_THREAD = ("start", "end", "globalTid")
_ON_GPU = ("start", "end", "globalPid", "deviceId", "contextId", "streamId", "correlationId")

RUNTIME = EventTable(
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUDA calls, of the runtime and of the driver",
    (*_ON_THREAD, "correlationId", "nameId"),
)
NVTX = EventTable(
    "NVTX_EVENTS",
    "ranges: operations",
    (*_ON_THREAD, "endGlobalTid", "eventType", "text", "textId"),
)
OS_RUNTIME = EventTable(
    "OSRT_API",
    "calls that may block, of 5 us and more: waits",
    (*_ON_THREAD, "nameId"),
)
GPU_TABLES = (
    EventTable(
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "kernels",
        (*_ON_GPU, "demangledName", "shortName"),
        _gpu("kernel"),
    ),
    EventTable(
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "copies",
        (*_ON_GPU, "bytes", "copyKind", "srcKind", "dstKind"),
        _gpu("memcpy"),
    ),
    EventTable(
        "CUPTI_ACTIVITY_KIND_MEMSET",
        "memsets",
        (*_ON_GPU, "bytes", "memKind"),
        _gpu("memset"),
    ),
    EventTable(
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        "CUDA graphs that were traced as a whole",
        (*_ON_GPU, "graphId"),
        _gpu("graph"),
    ),
    EventTable(
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        "synchronisations",
        (*_ON_GPU, "syncType"),
        _gpu("sync"),
    ),
)
EVENT_TABLES = (RUNTIME, NVTX, OS_RUNTIME, *GPU_TABLES)
TEXT_COLUMNS = ("text", "value", "name")

# Tables beside them: name -> what is read, and the columns.
OTHER_TABLES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "StringIds": ("names, which other tables have as numbers", ("id", "value")),
    "PROCESSES": ("names of processes", ("globalPid", "name")),
    "ThreadNames": ("names of threads", ("globalTid", "nameId")),
    "TARGET_INFO_SESSION_START_TIME": ("when the session began: the real clock", ("utcEpochNs",)),
    "TARGET_INFO_SYSTEM_ENV": ("the name of the machine", ("name", "value")),
    "TARGET_INFO_GPU": ("models of the GPUs", ("id", "name")),
    "META_DATA_EXPORT": ("the versions of the tool and of the schema", ("name", "value")),
}


@dataclass(frozen=True)
class Enumeration:
    """Numbers of a column that NVIDIA names; the export may have a table with the names."""

    table: str
    meanings: Mapping[str, int]
    """Name in the table -> what it is here."""
    documented: Mapping[int, int] = field(default_factory=dict)
    """Number -> what it is here, in exports without the table."""


def _enumeration(table: str, prefix: str, names: Mapping[int, tuple[str, int]]) -> Enumeration:
    return Enumeration(
        table,
        {prefix + name: meaning for name, meaning in names.values()},
        {number: meaning for number, (_, meaning) in names.items()},
    )


# What they are here: the numbers of GpuDetail::how (csrc/trace/layout/cuda_interval.h), CUPTI's.
COPY_KINDS = _enumeration(
    "ENUM_CUDA_MEMCPY_OPER",
    "CUDA_MEMCPY_KIND_",
    {
        0: ("UNKNOWN", 0),
        1: ("HTOD", 1),
        2: ("DTOH", 2),
        3: ("HTOA", 3),
        4: ("ATOH", 4),
        5: ("ATOA", 5),
        6: ("ATOD", 6),
        7: ("DTOA", 7),
        8: ("DTOD", 8),
        9: ("HTOH", 9),
        10: ("PTOP", 10),
        11: ("UVM_HTOD", 1),
        12: ("UVM_DTOH", 2),
        13: ("UVM_DTOD", 8),
    },
)
# Directions of these copies end on the host.
TO_HOST = (2, 4)
MEMORY_KINDS = _enumeration(
    "ENUM_CUDA_MEM_KIND",
    "CUDA_MEMOPR_MEMORY_KIND_",
    {
        0: ("PAGEABLE", 1),
        1: ("PINNED", 2),
        2: ("DEVICE", 3),
        3: ("ARRAY", 4),
        4: ("MANAGED", 5),
        5: ("DEVICE_STATIC", 6),
        6: ("MANAGED_STATIC", 7),
        7: ("UNKNOWN", 0),
    },
)
SYNC_TYPES = _enumeration(
    "ENUM_CUPTI_SYNC_TYPE",
    "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_",
    {
        0: ("UNKNOWN", 0),
        1: ("EVENT_SYNCHRONIZE", 1),
        2: ("STREAM_WAIT_EVENT", 2),
        3: ("STREAM_SYNCHRONIZE", 3),
        4: ("CONTEXT_SYNCHRONIZE", 4),
    },
)
PUSH_POP, START_END = 1, 2
NVTX_TYPES = Enumeration(
    "ENUM_NSYS_EVENT_TYPE",
    {"NvtxPushPopRange": PUSH_POP, "NvtxStartEndRange": START_END},
    {59: PUSH_POP, 60: START_END},
)
ENUMERATIONS = (COPY_KINDS, MEMORY_KINDS, SYNC_TYPES, NVTX_TYPES)

# Calls of the C library and of pthreads that Nsight Systems traces and that may block, by the kind
# of wait (docs/reference/semantics.md, "Waits"). The others are short, or no wait: open, ioctl.
WAITS: Mapping[str, tuple[str, ...]] = {
    "lock": (
        "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
        "pthread_mutex_lock", "pthread_mutex_timedlock", "pthread_rwlock_rdlock",
        "pthread_rwlock_wrlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock",
        "pthread_spin_lock", "pthread_barrier_wait", "sem_wait", "sem_timedwait", "sem_clockwait",
        "futex",
    ),
    "poll": ("poll", "ppoll", "select", "pselect", "pselect6", "epoll_wait", "epoll_pwait"),
    "descriptor": (
        "read", "readv", "pread", "pread64", "preadv", "write", "writev", "pwrite", "pwrite64",
        "fread", "fwrite", "fgets", "getline", "recv", "recvfrom", "recvmsg", "recvmmsg", "send",
        "sendto", "sendmsg", "sendmmsg", "sendfile", "sendfile64", "accept", "accept4", "connect",
        "flock", "lockf", "fsync", "fdatasync", "msync", "sync", "syncfs", "msgrcv", "msgsnd",
        "semop", "semtimedop", "mq_receive", "mq_timedreceive",
    ),
    "sleep": ("sleep", "usleep", "nanosleep", "clock_nanosleep", "pause", "sigsuspend"),
    "process": ("wait", "waitpid", "waitid", "wait3", "wait4"),
    "thread": ("pthread_join", "pthread_timedjoin_np", "pthread_clockjoin_np"),
}  # fmt: skip
LEAST_WAIT_NS = 5000

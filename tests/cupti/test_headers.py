"""The declarations of CUPTI in csrc/cupti, beside the headers of each release."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from support.cuda.cupti_headers import differences, enumerators, has, record_of, text
from support.cuda.cupti_releases import RELEASES, ROOT, Release, every_release

from rlscope.doctor.cupti import _REFUSALS

CUPTI = ROOT / "csrc" / "cupti"
TYPES = "cupti/types.h"
every = every_release(RELEASES)

# Our structs -> the activity kinds whose records they read, or NVIDIA's name.
RECORDS = {
    "ActivityKernel": ("KERNEL", "CONCURRENT_KERNEL"),
    "ActivityMemcpy": ("MEMCPY",),
    "ActivityMemcpyPeer": ("MEMCPY2",),
    "ActivityMemset": ("MEMSET",),
    "ActivitySynchronization": ("SYNCHRONIZATION",),
    "ActivityGraphTrace": ("GRAPH_TRACE",),
    "ActivityOverhead": ("OVERHEAD",),
}
OTHERS = {"CallbackData": "CUpti_CallbackData", "SubscriberParameters": "CUpti_SubscriberParams"}
# Our members -> NVIDIA's, where they are called something else: of records, and of each struct.
NAMES = {
    "device": "deviceId",
    "context": "contextId",
    "stream": "streamId",
    "correlation": "correlationId",
    "graph": "graphId",
    "graph_node": "graphNodeId",
    "reserved": "reserved0",
    "copy_kind": "copyKind",
    "source_kind": "srcKind",
    "destination_kind": "dstKind",
}
OWN_NAMES = {
    "ActivityKernel": {
        "cache_configuration": "cacheConfig",
        "shared_memory_configuration": "sharedMemoryConfig",
        "registers": "registersPerThread",
        "partition_requested": "partitionedGlobalCacheRequested",
        "partition_executed": "partitionedGlobalCacheExecuted",
        "grid": "gridX",
        "block": "blockX",
        "static_shared_memory": "staticSharedMemory",
        "dynamic_shared_memory": "dynamicSharedMemory",
        "local_per_thread": "localMemoryPerThread",
        "local_total": "localMemoryTotal",
        "grid_id": "gridId",
        "launch_type": "launchType",
        "shared_memory_requested": "isSharedMemoryCarveoutRequested",
        "shared_memory_executed": "sharedMemoryExecuted",
        "shared_memory_limit": "shmemLimitConfig",
    },
    "ActivityMemcpy": {"runtime_correlation": "runtimeCorrelationId"},
    "ActivityMemcpyPeer": {
        "source_device": "srcDeviceId",
        "source_context": "srcContextId",
        "destination_device": "dstDeviceId",
        "destination_context": "dstContextId",
    },
    "ActivityMemset": {"memory_kind": "memoryKind"},
    "ActivitySynchronization": {"event": "cudaEventId"},
    "ActivityOverhead": {"overhead_kind": "overheadKind", "object_kind": "objectKind"},
    "CallbackData": {
        "site": "callbackSite",
        "function_name": "functionName",
        "parameters": "functionParams",
        "return_value": "functionReturnValue",
        "symbol_name": "symbolName",
        "context": "context",
        "context_id": "contextUid",
        "correlation_data": "correlationData",
        "correlation_id": "correlationId",
    },
    "SubscriberParameters": {
        "size": "structSize",
        "name": "subscriberName",
        "holder": "oldSubscriberName",
        "holder_size": "oldSubscriberSize",
    },
}
NUMBERS = {
    "kActivityMemcpy": "CUPTI_ACTIVITY_KIND_MEMCPY",
    "kActivityMemset": "CUPTI_ACTIVITY_KIND_MEMSET",
    "kActivityKernel": "CUPTI_ACTIVITY_KIND_KERNEL",
    "kActivityConcurrentKernel": "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
    "kActivityOverhead": "CUPTI_ACTIVITY_KIND_OVERHEAD",
    "kActivityMemcpyPeer": "CUPTI_ACTIVITY_KIND_MEMCPY2",
    "kActivitySynchronization": "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "kActivityGraphTrace": "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "kDriverApi": "CUPTI_CB_DOMAIN_DRIVER_API",
    "kRuntimeApi": "CUPTI_CB_DOMAIN_RUNTIME_API",
    "kResource": "CUPTI_CB_DOMAIN_RESOURCE",
    "kModuleUnloadStarting": "CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING",
    "kEnter": "CUPTI_API_ENTER",
    "kExit": "CUPTI_API_EXIT",
}
# NVIDIA's types of functions that CUPTI calls -> ours.
CALLED_BACK = {
    "CUpti_CallbackFunc": "CuptiCallback",
    "CUpti_BuffersCallbackRequestFunc": "BufferRequested",
    "CUpti_BuffersCallbackCompleteFunc": "BufferCompleted",
}
RESULTS = {
    "kCuptiSuccess": "CUPTI_SUCCESS",
    "kCuptiNotCompatible": "CUPTI_ERROR_NOT_COMPATIBLE",
    "kCuptiVirtualisedDevice": "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED",
    "kCuptiNotInitialized": "CUPTI_ERROR_NOT_INITIALIZED",
    "kCuptiInsufficientPrivileges": "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
    "kCuptiSubscribersNotSupported": "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
    "kCuptiVirtualisedDevicePrivileges": "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES",
    "kCuptiConfidentialComputing": "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED",
    "kCuptiMiningDevice": "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED",
    "kCuptiInstance": "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED",
    "kCuptiLinkedDevices": "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED",
    "kCuptiWindowsSubsystem": "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED",
    "kCuptiUnknown": "CUPTI_ERROR_UNKNOWN",
}


def members(struct: str) -> list[str]:
    """The members of a struct of ours in order, without padding."""
    text = (CUPTI / "types.h").read_text()
    body = text.partition(f"struct {struct} {{")[2].partition("};")[0]
    names = re.findall(r"(\w+)(?:\[\d\])?;", body)
    return [name for name in names if not name.startswith("padding")]


@every
def test_members_lie_where_they_are_declared_and_are_as_wide(release: Release) -> None:
    theirs = {(ours, record_of(release, kind)) for ours, kinds in RECORDS.items() for kind in kinds}
    theirs |= {pair for pair in OTHERS.items() if has(release, "callbacks", pair[1])}
    pairs = {}
    for ours, struct in theirs:
        known = NAMES | OWN_NAMES.get(ours, {})
        for member in members(ours):
            own, foreign = f"rlscope::cupti::{ours}", known.get(member, member)
            pairs[f"{struct}.{foreign}"] = (
                f"offsetof({own}, {member})",
                f"offsetof({struct}, {foreign})",
            )
            one = f"{member}[0]" if member in ("grid", "block") else member
            pairs[f"{struct}.{foreign}, bytes"] = (
                f"sizeof({own}{{}}.{one})",
                f"sizeof({struct}{{}}.{foreign})",
            )
    assert len(pairs) > 200
    assert differences(release, pairs, own=[TYPES]) == {}


@every
def test_enumerators_are_as_declared(release: Release) -> None:
    pairs = {
        theirs: (f"rlscope::cupti::{ours}", theirs)
        for ours, theirs in (NUMBERS | RESULTS).items()
        if not theirs.startswith("CUPTI_ERROR_") or has(release, "result", theirs)
    }
    assert differences(release, pairs, own=[TYPES]) == {}


def test_every_number_that_is_declared_is_compared() -> None:
    text = (CUPTI / "types.h").read_text()
    declared = set(re.findall(r"\b(k[A-Z]\w+) =", text)) - {"kSubscriberNameBytes"}
    assert declared == NUMBERS.keys() | RESULTS.keys()


def looked_up() -> dict[str, str]:
    """Functions of CUPTI that the recorder looks up -> where it keeps them."""
    text = (CUPTI / "library.cc").read_text()
    return dict(re.findall(r'Find\(library, "(\w+)", &cupti\.(\w+)\)', text))


@every
def test_functions_take_and_return_what_is_declared(release: Release) -> None:
    pairs = {
        theirs: (f"Shape<rlscope::cupti::{ours}>::Number()", f"Shape<{theirs}>::Number()")
        for theirs, ours in CALLED_BACK.items()
    }
    pairs |= {
        name: (
            f"Shape<decltype(rlscope::cupti::Cupti::{member})>::Number()",
            f"Shape<decltype({name})>::Number()",
        )
        for name, member in looked_up().items()
        if name != "cuptiSubscribe_v2" or has(release, "callbacks", name)
    }
    assert len(pairs) > 14
    assert differences(release, pairs, own=["cupti/library.h"]) == {}


def test_a_difference_is_told_with_both_values() -> None:
    pairs = {"same": ("1 + 1", "2"), "other": ("3", "CUPTI_ACTIVITY_KIND_MEMSET")}
    assert differences(RELEASES[-1], pairs) == {"other": (3, 2)}


# ---- names --------------------------------------------------------------------------------------


def words(file: str, after: str) -> list[str]:
    """Names in a list of C++, in the order of CUPTI's numbers."""
    text = (ROOT / "csrc" / "python" / "trace_module" / file).read_text().partition(after)[2]
    return re.findall(r'"(\w+)"', text.partition("}")[0])


def word_of_copy(name: str) -> str:
    ends = {"H": "host", "D": "device", "A": "array", "P": "peer"}
    first, to, last = name[0], name[1:-1], name[-1]
    return f"{ends[first]}_to_{ends[last]}" if to == "TO" else name.lower()


def word_of_synchronization(name: str) -> str:
    renamed = {"UNKNOWN": "other", "CONTEXT_SYNCHRONIZE": "device"}
    return renamed.get(name, name.removesuffix("_SYNCHRONIZE").lower())


@every
@pytest.mark.parametrize(
    ("prefix", "word", "file", "after"),
    [
        ("CUPTI_ACTIVITY_MEMCPY_KIND_", word_of_copy, "gpu_work.cc", "& Directions()"),
        ("CUPTI_ACTIVITY_MEMORY_KIND_", str.lower, "gpu_work.cc", "& Memories()"),
        (
            "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_",
            word_of_synchronization,
            "cuda.cc",
            'Add("kind", Words{',
        ),
    ],
)
def test_names_of_numbers_are_those_of_the_headers(
    release: Release, prefix: str, word: Callable[[str], str], file: str, after: str
) -> None:
    names = enumerators(release, "activity", prefix)
    pairs = {name: (str(number), name) for number, name in enumerate(names)}
    assert differences(release, pairs) == {}
    assert [word(name.removeprefix(prefix)) for name in names] == words(file, after)


def test_every_refusal_that_doctor_explains_is_a_result() -> None:
    """By the newest headers: results are only ever added."""
    newest = max(RELEASES, key=lambda release: release.version)
    known = re.findall(r"CUPTI_(?:ERROR_)?\w+\s*=\s*(\d+)", text(newest, "result"))
    assert set(_REFUSALS) <= set(map(int, known))

"""The simulated CUPTI's numbers, beside the headers and the library of the release that it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.cuda.cupti_headers import differences, enumerators, functions, has, members, record_of
from support.cuda.cupti_releases import ROOT, SIMULATED, Release, every_release, exported
from support.cuda.simcuda_runs import run_simulated

SIMCUDA = ROOT / "tests" / "simcuda"
every = every_release(SIMULATED)

# Columns of core/cupti_versions.h -> the activity kinds whose records have that size.
SIZES = {
    "kernel_bytes": ("KERNEL", "CONCURRENT_KERNEL"),
    "memcpy_bytes": ("MEMCPY",),
    "peer_memcpy_bytes": ("MEMCPY2",),
    "memset_bytes": ("MEMSET",),
    "synchronization_bytes": ("SYNCHRONIZATION",),
    "api_bytes": ("DRIVER", "RUNTIME"),
    "graph_bytes": ("GRAPH_TRACE",),
    "overhead_bytes": ("OVERHEAD",),
    "external_bytes": ("EXTERNAL_CORRELATION",),
}
NUMBERS = {
    "kMemcpyKind": "CUPTI_ACTIVITY_KIND_MEMCPY",
    "kMemsetKind": "CUPTI_ACTIVITY_KIND_MEMSET",
    "kKernelKind": "CUPTI_ACTIVITY_KIND_KERNEL",
    "kDriverKind": "CUPTI_ACTIVITY_KIND_DRIVER",
    "kRuntimeKind": "CUPTI_ACTIVITY_KIND_RUNTIME",
    "kConcurrentKernelKind": "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
    "kOverheadKind": "CUPTI_ACTIVITY_KIND_OVERHEAD",
    "kPeerMemcpyKind": "CUPTI_ACTIVITY_KIND_MEMCPY2",
    "kSynchronizationKind": "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "kExternalCorrelationKind": "CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION",
    "kGraphTraceKind": "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "kHostToDevice": "CUPTI_ACTIVITY_MEMCPY_KIND_HTOD",
    "kDeviceToHost": "CUPTI_ACTIVITY_MEMCPY_KIND_DTOH",
    "kDeviceToDevice": "CUPTI_ACTIVITY_MEMCPY_KIND_DTOD",
    "kHostToHost": "CUPTI_ACTIVITY_MEMCPY_KIND_HTOH",
    "kPeer": "CUPTI_ACTIVITY_MEMCPY_KIND_PTOP",
    "MemoryKind::kUnknown": "CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN",
    "MemoryKind::kPageable": "CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE",
    "MemoryKind::kPinned": "CUPTI_ACTIVITY_MEMORY_KIND_PINNED",
    "MemoryKind::kDevice": "CUPTI_ACTIVITY_MEMORY_KIND_DEVICE",
    "MemoryKind::kManaged": "CUPTI_ACTIVITY_MEMORY_KIND_MANAGED",
    "kEventSync": "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE",
    "kStreamWaitEvent": "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT",
    "kStreamSync": "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE",
    "kContextSync": "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE",
    "kBufferFlush": "CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH",
    "kThreadObject": "CUPTI_ACTIVITY_OBJECT_THREAD",
    "kDriver": "CUPTI_CB_DOMAIN_DRIVER_API",
    "kRuntime": "CUPTI_CB_DOMAIN_RUNTIME_API",
    "kContextCreated": "CUPTI_CBID_RESOURCE_CONTEXT_CREATED",
    "kContextDestroyStarting": "CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING",
    "kStreamCreated": "CUPTI_CBID_RESOURCE_STREAM_CREATED",
    "kStreamDestroyStarting": "CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING",
    "kInitFinished": "CUPTI_CBID_RESOURCE_CU_INIT_FINISHED",
    "kModuleLoaded": "CUPTI_CBID_RESOURCE_MODULE_LOADED",
    "kModuleUnloadStarting": "CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING",
    "kCuptiSuccess": "CUPTI_SUCCESS",
    "kCuptiInvalidParameter": "CUPTI_ERROR_INVALID_PARAMETER",
    "kCuptiInvalidOperation": "CUPTI_ERROR_INVALID_OPERATION",
    "kCuptiMaxLimitReached": "CUPTI_ERROR_MAX_LIMIT_REACHED",
    "kCuptiNotCompatible": "CUPTI_ERROR_NOT_COMPATIBLE",
    "kCuptiNotInitialized": "CUPTI_ERROR_NOT_INITIALIZED",
    "kCuptiQueueEmpty": "CUPTI_ERROR_QUEUE_EMPTY",
    "kCuptiInvalidKind": "CUPTI_ERROR_INVALID_KIND",
    "kCuptiNotSupported": "CUPTI_ERROR_NOT_SUPPORTED",
    "kCuptiInsufficientPrivileges": "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
    "kCuptiMultipleSubscribers": "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
    "kCuptiUnknown": "CUPTI_ERROR_UNKNOWN",
}
STRUCTS = {
    ("CallbackData", "CUpti_CallbackData"): "site=callbackSite function_name=functionName "
    "parameters=functionParams return_value=functionReturnValue symbol=symbolName context=context "
    "context_id=contextUid correlation_data=correlationData correlation=correlationId",
    ("ResourceData", "CUpti_ResourceData"): "context=context resource=resourceHandle.stream "
    "descriptor=resourceDescriptor",
    ("SubscriberParameters", "CUpti_SubscriberParams"): "bytes=structSize name=subscriberName "
    "old_name=oldSubscriberName old_name_bytes=oldSubscriberSize",
}


@every
def test_its_row_is_that_of_the_headers(release: Release) -> None:
    row = f'simcuda::FindCuptiVersion("{release.name}", "")'
    last = enumerators(release, "activity", "CUPTI_ACTIVITY_KIND_")[-1]
    pairs = {
        "number": (f"{row}.number", "CUPTI_API_VERSION"),
        "last_kind": (f"{row}.last_kind", last),
        "runtime": (f"{row}.runtime_cbid_max", "CUPTI_RUNTIME_TRACE_CBID_SIZE - 1"),
        "driver": (f"{row}.driver_cbid_max", "CUPTI_DRIVER_TRACE_CBID_SIZE - 1"),
    }
    pairs |= {
        f"{column} of {kind}": (f"{row}.{column}", f"sizeof({record_of(release, kind)})")
        for column, kinds in SIZES.items()
        for kind in kinds
    }
    assert differences(release, pairs, own=["core/cupti_versions.h"]) == {}


@every
def test_numbers_are_those_of_the_headers(release: Release) -> None:
    pairs = {theirs: (f"simcuda::{ours}", theirs) for ours, theirs in NUMBERS.items()}
    nothing = "CUPTI_SYNCHRONIZATION_INVALID_VALUE"
    pairs[nothing] = ("simcuda::kNoId", f"static_cast<uint32_t>({nothing})")
    per_thread = "CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER"
    if has(release, "activity", per_thread):
        pairs[per_thread] = ("simcuda::kPerThreadBuffers", per_thread)
    own = ["core/interface.h", "cupti/buffers.h", "cupti/records.h", "cupti/status.h"]
    assert differences(release, pairs, own=own) == {}


def layouts() -> list[tuple[str, str, str, str]]:
    """Each field's namespace, kind, own name and NVIDIA's."""
    text = (SIMCUDA / "cupti" / "layouts.h").read_text()
    found = []
    for space, kind, body in re.findall(
        r"namespace (\w+) \{  // (\w+)\n(.*?)\n\}", text, re.DOTALL
    ):
        for name, comment in re.findall(r"Field k(\w+) = .*?;(?:  // (\S+))?$", body, re.MULTILINE):
            found.append((space, kind, f"k{name}", comment or name[0].lower() + name[1:]))
    return found


@every
def test_fields_lie_where_the_headers_have_them(release: Release) -> None:
    pairs = {}
    for space, kind, ours, theirs in layouts():
        struct = record_of(release, kind)
        if theirs.partition(".")[0] not in members(release, "activity", struct):
            continue  # of a later release
        field = f"simcuda::{space}::{ours}"
        pairs[f"{struct}.{theirs}"] = (f"{field}.offset", f"offsetof({struct}, {theirs})")
        pairs[f"{struct}.{theirs}, bytes"] = (f"{field}.bytes", f"sizeof({struct}{{}}.{theirs})")
    assert len(pairs) > 160
    for (ours, struct), names in STRUCTS.items():
        if not has(release, "callbacks", struct):
            continue  # before 13.0
        for own, _, theirs in (name.partition("=") for name in names.split()):
            pairs[f"{struct}.{theirs}"] = (
                f"offsetof(simcuda::{ours}, {own})",
                f"offsetof({struct}, {theirs})",
            )
    own_headers = ["cupti/layouts.h", "cupti/callback_data.h"]
    assert differences(release, pairs, own=own_headers) == {}


# ---- functions ----------------------------------------------------------------------------------


def facts(file: str) -> list[list[str]]:
    lines = (SIMCUDA / "facts" / file).read_text().splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


# The simulated driver's functions are those of 13.0.
RENAMED = {"cuStreamBeginCaptureToCig": "cuStreamCreateForCaptureToCig"}


def plain(name: str) -> str:
    """A name without the variant that a release made of a function: what the id is of."""
    return re.sub(r"^__|_v\d(?=_|$)", "", RENAMED.get(name, name))


@every
@pytest.mark.parametrize(("domain", "column"), [("driver", 1), ("runtime", None)])
def test_callback_ids_are_those_of_the_headers(
    release: Release, domain: str, column: int | None
) -> None:
    column = column or (1 if release.major < 13 else 2)
    names = functions(release, domain)
    wrong = {
        row[0]: names[int(row[column])]
        for row in facts(f"{domain}_functions.txt")
        if row[column] != "-" and int(row[column]) in names
        if plain(names[int(row[column])]) != plain(row[0])
    }
    assert wrong == {}


@every
def test_it_exports_what_the_release_exports(tmp_path: Path, release: Release) -> None:
    major = max(release.major, 12)  # CUDA 11's libraries go by the name of CUDA 12's
    print_folders = ["sh", "-c", "echo $LD_LIBRARY_PATH"]
    done = run_simulated(tmp_path, print_folders, "--cuda", str(major), "--cupti", release.name)
    name = f"libcupti.so.{major}"
    folders = [Path(folder) for folder in done.out.strip().split(":")]
    (library,) = (folder / name for folder in folders if (folder / name).exists())
    real = {export.replace(release.library.name, name) for export in exported(release.library)}
    assert exported(library) == real

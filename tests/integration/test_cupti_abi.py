"""Our declarations of CUPTI against whatever headers of it are installed; skipped without any."""

from __future__ import annotations

import glob
import os
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = sysconfig.get_paths()["purelib"]
FOLDERS = [
    os.path.join(os.environ.get("CUDA_HOME", "/nowhere"), "include"),
    *glob.glob("/usr/local/cuda*/include"),
    *glob.glob("/usr/local/cuda*/extras/CUPTI/include"),
    *glob.glob(f"{SITE}/nvidia/cu*/include"),
    *glob.glob(f"{SITE}/nvidia/cuda_cupti/include"),
]
HEADERS = sorted({os.path.realpath(f) for f in FOLDERS if os.path.exists(f"{f}/cupti.h")})

# Ours -> theirs, without the number that grows with every release; then our fields -> theirs.
STRUCTS = {
    "ActivityKernel": "CUpti_ActivityKernel",
    "ActivityMemcpy": "CUpti_ActivityMemcpy",
    "ActivityMemcpyPeer": "CUpti_ActivityMemcpyPtoP",
    "ActivityMemset": "CUpti_ActivityMemset",
    "ActivitySynchronization": "CUpti_ActivitySynchronization",
    "ActivityGraphTrace": "CUpti_ActivityGraphTrace",
    "ActivityOverhead": "CUpti_ActivityOverhead",
    "CallbackData": "CUpti_CallbackData",
    "SubscriberParameters": "CUpti_SubscriberParams",
}
FIELDS = {
    "ActivityKernel": "registers=registersPerThread start end device=deviceId context=contextId "
    "stream=streamId grid=gridX block=blockX static_shared_memory=staticSharedMemory "
    "dynamic_shared_memory=dynamicSharedMemory correlation=correlationId name graph=graphId",
    "ActivityMemcpy": "copy_kind=copyKind source_kind=srcKind destination_kind=dstKind bytes start "
    "end device=deviceId context=contextId stream=streamId correlation=correlationId graph=graphId",
    "ActivityMemcpyPeer": "copy_kind=copyKind source_kind=srcKind destination_kind=dstKind bytes "
    "start end device=deviceId context=contextId stream=streamId correlation=correlationId "
    "graph=graphId",
    "ActivityMemset": "bytes start end device=deviceId context=contextId stream=streamId "
    "correlation=correlationId memory_kind=memoryKind graph=graphId",
    "ActivitySynchronization": "type start end correlation=correlationId context=contextId "
    "stream=streamId",
    "ActivityGraphTrace": "correlation=correlationId start end device=deviceId graph=graphId "
    "context=contextId stream=streamId",
    "ActivityOverhead": "overhead_kind=overheadKind start end",
    "CallbackData": "site=callbackSite function_name=functionName return_value=functionReturnValue "
    "context_id=contextUid correlation_id=correlationId",
    "SubscriberParameters": "size=structSize name=subscriberName holder=oldSubscriberName "
    "holder_size=oldSubscriberSize",
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
    "kCuptiNotCompatible": "CUPTI_ERROR_NOT_COMPATIBLE",
    "kCuptiVirtualisedDevice": "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED",
    "kCuptiInsufficientPrivileges": "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
    "kCuptiSubscribersNotSupported": "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
    "kCuptiVirtualisedDevicePrivileges": "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES",
    "kCuptiConfidentialComputing": "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED",
    "kCuptiMiningDevice": "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED",
    "kCuptiInstance": "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED",
    "kCuptiWindowsSubsystem": "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED",
}
# What a function that is always recorded does; others may be frequent and do nothing on a device.
WORK = re.compile(
    "Launch|Memcpy|Memset|Prefetch|Malloc|Alloc|Free|[Rr]egister|Synchronize|Query|Record|Wait|Capture"
    "|StreamCreate|Graph|Load|DeviceReset"
)

needs_headers = pytest.mark.skipif(not HEADERS, reason="no CUPTI headers are installed")


def newest(folder: str, prefix: str) -> str:
    """The struct of the highest number, which the library of these headers writes."""
    text = "".join(path.read_text() for path in Path(folder).glob("cupti_*.h"))
    numbers = {int(found or 1) for found in re.findall(rf"\b{prefix}(\d*);", text)}
    assert numbers, f"no {prefix} in {folder}"
    return prefix if numbers == {1} else f"{prefix}{max(numbers)}"


def program(folder: str) -> str:
    """A source of static assertions that holds where both declarations agree."""
    lines = ["#include <cupti.h>", '#include "capture/cupti_types.h"']
    callbacks = (Path(folder) / "cupti_callbacks.h").read_text()
    for ours, prefix in STRUCTS.items():
        if ours == "SubscriberParameters" and prefix not in callbacks:
            continue  # before 13.0
        theirs = newest(folder, prefix)
        for field in FIELDS[ours].split():
            own, _, foreign = field.partition("=")
            lines.append(
                f"static_assert(offsetof(rlscope::capture::{ours}, {own}) == "
                f'offsetof({theirs}, {foreign or own}), "{theirs}.{foreign or own}");'
            )
    results = (Path(folder) / "cupti_result.h").read_text()
    for own, foreign in NUMBERS.items():
        if foreign.startswith("CUPTI_ERROR_") and foreign not in results:
            continue  # an older CUPTI never answers it
        lines.append(
            f"static_assert(static_cast<int>(rlscope::capture::{own}) == "
            f'static_cast<int>({foreign}), "{foreign}");'
        )
    return "\n".join(lines) + "\n"


def compiles(folder: str, source: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "abi.cc"
    file.write_text(source)
    command = ["g++", "-std=c++17", "-fsyntax-only", f"-I{folder}", f"-I{ROOT}/csrc", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@needs_headers
@pytest.mark.parametrize("folder", HEADERS)
def test_offsets_and_numbers_are_those_of_the_headers(folder: str, tmp_path: Path) -> None:
    source = program(folder)
    done = compiles(folder, source, tmp_path)
    assert done.returncode == 0, done.stderr
    moved = source.replace("ActivityKernel, start) ==", "ActivityKernel, end) ==")
    assert compiles(folder, moved, tmp_path).returncode != 0, "the assertions assert nothing"


def ids(table: str) -> list[int]:
    """The callback ids of a table in api_calls.cc."""
    text = (ROOT / "csrc/capture/api_calls.cc").read_text()
    body = text.partition(f"constexpr Ids {table}[] = {{")[2].partition("\n};")[0]
    pairs = re.findall(r"\{(\d+), (\d+)\}", re.sub(r"//[^\n]*", "", body))
    return [number for first, last in pairs for number in range(int(first), int(last) + 1)]


@needs_headers
@pytest.mark.parametrize("folder", HEADERS)
@pytest.mark.parametrize(
    ("table", "header", "prefix"),
    [
        ("kRuntimeIds", "cupti_runtime_cbid.h", "CUPTI_RUNTIME_TRACE_CBID_(?:__)?cuda"),
        ("kDriverIds", "cupti_driver_cbid.h", "CUPTI_DRIVER_TRACE_CBID_cu"),
    ],
)
def test_watched_functions_do_what_is_recorded(
    folder: str, table: str, header: str, prefix: str
) -> None:
    text = (Path(folder) / header).read_text()
    names = {int(number): name for name, number in re.findall(rf"{prefix}(\w+)\s*=\s*(\d+)", text)}
    watched = ids(table)
    assert len(watched) > 100
    assert len(set(watched)) == len(watched)
    assert not [names[i] for i in watched if i in names and not WORK.search(names[i])]
    work = re.compile(
        r"^(Launch(Cooperative)?Kernel|Memcpy|Memset|Malloc|MemAlloc|Free|MemFree|GraphLaunch"
        r"|StreamSynchronize)"
    )
    obsolete = {i for i, name in names.items() if i < 82 and table == "kDriverIds"}  # before 4.0
    missing = {names[i] for i in names if work.search(names[i])} - {
        names[i] for i in (*watched, *obsolete) if i in names
    }
    assert not missing

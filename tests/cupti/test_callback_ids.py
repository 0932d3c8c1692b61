"""The callback ids of csrc/cupti, beside the functions that releases give them."""

from __future__ import annotations

import re

import pytest
from support.cuda.cupti_headers import functions
from support.cuda.cupti_releases import RELEASES, ROOT, SIMULATED, Release, every_release, simulated

CUPTI = ROOT / "csrc" / "cupti"
WATCHED_CALLS = (CUPTI / "watched_calls.cc").read_text()
CALLBACKS = (CUPTI / "callbacks.cc").read_text()
every = every_release(RELEASES)
every_table = pytest.mark.parametrize(
    ("table", "domain"), [("kRuntimeIds", "runtime"), ("kDriverIds", "driver")]
)

# What is recorded without --cuda-api=all (docs/guide/cuda.md), and what looks like it and is not:
# functions that only describe, that other libraries' objects need, or that no program can call.
WATCHED = re.compile(
    "Launch|Memcpy|Memset|Prefetch|Malloc|Alloc|Free|Mem(Create|Release|Map|Unmap|SetAccess"
    "|AddressReserve)|Host(Unr|R)egister|Synchronize|Query|(Record|Wait)Event|EventRecord"
    "|Begin(Rec|C)apture|EndCapture|StreamCreate|Graph(Instantiate|Launch|Upload|ExecUpdate)|DeviceReset"
    "|(Module|Library)Load|FuncLoad"
)
NOT_WATCHED = re.compile(
    r"Node|GetAlloc|NNSetAllocator|RetainAllocation|GetLoadingMode|EndpointQuery|MemMapArray"
    r"|cuStream(Begin|End)(Rec|C)apture|CaptureToCig|cu64|cudaLaunch(_ptsz)?$|cuLaunch(Grid(Async)?)?$"
    r"|cuBinaryFree|cuGraphLaunchWithArguments|cuSubgridScheduleLaunch"
)


def lines(table: str) -> list[tuple[list[int], list[str]]]:
    """Each line of a table in watched_calls.cc: its ids, and what their functions begin with."""
    body = WATCHED_CALLS.partition(f"constexpr Ids {table}[] = {{\n")[2].partition("\n};")[0]
    found = []
    for line in body.splitlines():
        pairs = re.findall(r"\{(\d+), (\d+)\}", line)
        ids = [number for first, last in pairs for number in range(int(first), int(last) + 1)]
        found.append((ids, re.sub(r" \(.*", "", line.partition("// ")[2]).split(", ")))
    return found


def short(name: str) -> str:
    """A function's name after cuda or cu."""
    return re.sub(r"^(__)?cu(da)?", "", name)


def is_obsolete(number: int) -> bool:
    """Driver functions for 32-bit addresses, which programs from before CUDA 3.2 call."""
    return 22 < number < 82


@every
@every_table
def test_each_function_is_what_its_line_says(release: Release, table: str, domain: str) -> None:
    names = functions(release, domain)
    for ids, beginnings in lines(table):
        found = [short(names[number]) for number in ids if number in names]
        assert not [name for name in found if not name.startswith(tuple(beginnings))], beginnings


@every_table
def test_every_line_says_nothing_else(table: str, domain: str) -> None:
    if len(SIMULATED) < len(simulated()):
        pytest.skip("not every release was fetched")
    names = [functions(release, domain) for release in RELEASES]
    for ids, beginnings in lines(table):
        found = [short(each[number]) for each in names for number in ids if number in each]
        assert all(any(name.startswith(word) for name in found) for word in beginnings), beginnings


@every
@every_table
def test_no_function_is_left_out_or_twice(release: Release, table: str, domain: str) -> None:
    watched = [number for ids, _ in lines(table) for number in ids]
    assert len(watched) == len(set(watched)) > 100
    missing = {
        name
        for number, name in functions(release, domain).items()
        if number not in watched
        and WATCHED.search(name)
        and not NOT_WATCHED.search(name)
        and not (domain == "driver" and is_obsolete(number))
    }
    assert not missing


def among(function: str, domain: str) -> list[int]:
    """Ids that one of the functions of callbacks.cc picks out."""
    body = CALLBACKS.partition(f"bool {function}(")[2].partition("\n}")[0]
    return [int(n) for n in re.findall(rf"k{domain}\[\] = \{{(.*?)\}}", body)[0].split(", ")]


@every
@pytest.mark.parametrize("domain", ["Runtime", "Driver"])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("IsSynchronization", r"\w+Synchronize(_v2)?|Memcpy((HtoD|DtoH)_v2)?"),
        ("IsLaunch", r"LaunchKernel(Ex|ExC)?"),
    ],
)
def test_what_is_told_from_others_is_all_of_its_kind(
    release: Release, domain: str, function: str, expected: str
) -> None:
    names = functions(release, domain.lower())
    found = {number: re.sub("_pt[ds][sz]$", "", short(name)) for number, name in names.items()}
    kind = {number for number, name in found.items() if re.fullmatch(expected, name)}
    if domain == "Driver":
        kind -= {number for number in kind if found[number] == "Memcpy"}
    assert set(among(function, domain)) & names.keys() == kind


@every
@pytest.mark.parametrize(
    ("function", "expected"),
    [("BeginsCapture", r"StreamBegin(Rec|C)apture(ToGraph)?"), ("EndsCapture", "StreamEndCapture")],
)
def test_captures_are_known_by_the_calls_around_them(
    release: Release, function: str, expected: str
) -> None:
    names = functions(release, "runtime")
    found = {number: re.sub("_ptsz$", "", short(name)) for number, name in names.items()}
    kind = {number for number, name in found.items() if re.fullmatch(expected, name)}
    assert set(among(function, "Runtime")) & names.keys() == kind

"""Numbers of CUPTI's headers, as the compiler has them, beside numbers of this repository."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from support.cuda.cupti_releases import ROOT, Release

STAND_IN = ROOT / "tests" / "cupti" / "stand_in"
OWN_FOLDERS = (ROOT / "csrc", ROOT / "tests" / "simcuda")
HEADERS = ("activity", "callbacks", "driver_cbid", "result", "runtime_cbid", "version")

# The sizes of what a function type takes and returns, as one number.
SHAPE = """
#include <cstddef>
#include <cstdio>
#include <initializer_list>
template <class Type>
constexpr unsigned long long kSize = sizeof(Type);
template <>
constexpr unsigned long long kSize<void> = 0;
template <class Function>
struct Shape;
template <class Result, class... Arguments>
struct Shape<Result(Arguments...)> {
  static constexpr unsigned long long Number() {
    unsigned long long number = 1;
    for (auto size : {kSize<Result>, kSize<Arguments>...}) number = number * 16 + size;
    return number;
  }
};
template <class Result, class... Arguments>
struct Shape<Result (*)(Arguments...)> : Shape<Result(Arguments...)> {};
"""


def differences(
    release: Release, pairs: Mapping[str, tuple[str, str]], *, own: Iterable[str] = ()
) -> dict[str, tuple[int, int]]:
    """Pairs of C++ expressions, ours and NVIDIA's, that differ, with their two values.

    Args:
        own: headers of this repository that the first ones need.
    """
    includes = [f"cupti_{name}.h" for name in HEADERS] + list(own)
    lines = [f'#include "{include}"' for include in includes]
    lines += [SHAPE, "int main() {"]
    lines += [
        f'  std::printf("%lld %lld\\n", static_cast<long long>({ours}), '
        f"static_cast<long long>({theirs}));"
        for ours, theirs in pairs.values()
    ]
    values = [tuple(map(int, line.split())) for line in _run(release, "\n".join([*lines, "}\n"]))]
    both = {name: (first, second) for name, (first, second) in zip(pairs, values, strict=True)}
    return {name: value for name, value in both.items() if value[0] != value[1]}


def _run(release: Release, source: str) -> list[str]:
    """What a program that includes these headers prints."""
    folders = [STAND_IN, release.include, *OWN_FOLDERS]
    with tempfile.TemporaryDirectory() as temporary:
        file, program = Path(temporary, "numbers.cc"), Path(temporary, "numbers")
        file.write_text(source)
        command = ["g++", "-std=c++17", "-O0", *(f"-I{folder}" for folder in folders)]
        done = subprocess.run(
            [*command, str(file), "-o", str(program)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        done = subprocess.run([program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@cache
def text(release: Release, header: str) -> str:
    """A header, without what it says in comments."""
    source = (release.include / f"cupti_{header}.h").read_text(errors="replace")
    return re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)


def enumerators(release: Release, header: str, prefix: str) -> list[str]:
    """Names that begin so and get a value, but for the ones that only widen the type."""
    names = re.findall(rf"\b({prefix}\w+)\s*=", text(release, header))
    return [name for name in dict.fromkeys(names) if not name.endswith(("_FORCE_INT", "_SIZE"))]


def has(release: Release, header: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text(release, header)) is not None


def members(release: Release, header: str, struct: str) -> list[str]:
    """Names of a struct's members, and of what they consist of."""
    before, found, _ = text(release, header).partition(f"}} {struct};")
    assert found, f"no {struct} in {release}"
    return re.findall(r"(\w+)(?:\[\d+\])?;", before.rpartition("typedef struct")[2])


def functions(release: Release, domain: str) -> dict[int, str]:
    """Names by callback id, without the release that a function came with: cudaMemcpy_ptds.

    A function that is kept secret is called cuda271 or reserved806; those are left out.
    """
    prefix = f"CUPTI_{domain.upper()}_TRACE_CBID_"
    found = re.findall(rf"{prefix}(\w+)\s*=\s*(\d+)", text(release, f"{domain}_cbid"))
    names = {int(number): re.sub(r"_v\d{4,5}$", "", name) for name, number in found}
    return {
        number: name
        for number, name in names.items()
        if not re.fullmatch(r"(cuda|reserved)\d+|INVALID|SIZE|FORCE_INT", name)
    }


def record_of(release: Release, kind: str) -> str:
    """The struct of an activity kind's records, by the comment of its enumerator."""
    source = (release.include / "cupti_activity.h").read_text(errors="replace")
    before, found, _ = source.partition(f"  CUPTI_ACTIVITY_KIND_{kind} ")
    assert found, f"no activity kind {kind} in {release}"
    comment = before.rpartition("/**")[2]
    return re.findall(r"\bCUpti_Activity\w+", comment)[-1]

"""Turns facts/ into C++: a table of functions, a symbol for each unwritten one, and the exports.

    generate_functions.py driver  OUTPUT_FOLDER
    generate_functions.py runtime OUTPUT_FOLDER 12|13
    generate_functions.py cupti   OUTPUT_FOLDER SONAME FAMILY
    generate_functions.py families

A family is a set of functions that CUPTI exports, called after the first release that has it; the
last form prints them. Symbols are weak: a function written by hand takes its name's place.
"""

import sys
from collections.abc import Callable
from pathlib import Path

FACTS = Path(__file__).parent / "facts"

STUBS = """// Generated from facts/.
#include "core/functions.h"

namespace simcuda {{
const ApiFunction kFunctions[] = {{
{rows}
}};
const size_t kFunctionCount = sizeof(kFunctions) / sizeof(kFunctions[0]);
}}  // namespace simcuda

#define SIM_STUB(name) \\
  extern "C" __attribute__((weak, visibility("default"))) int name() {{ \
    return simcuda::Unsupported(#name); \
  }}
{stubs}
"""


def facts(name: str) -> list[list[str]]:
    """The words of each line, comments left out."""
    lines = (FACTS / name).read_text().splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


def release(text: str) -> tuple[int, ...]:
    """The major and minor of a release, in whatever length it is given."""
    return tuple(int(part) for part in text.split(".")[:2])


def families() -> list[str]:
    """The releases from which on CUPTI exports something else than before."""
    return sorted({row[1] for row in facts("cupti_functions.txt")}, key=release)


def family_of(wanted: str) -> str:
    """The newest family that is not newer than a release."""
    return [each for each in families() if release(each) <= release(wanted)][-1]


def version_script(node: str, names: list[str]) -> str:
    return f"{node} {{\n  global: {' '.join(f'{name};' for name in names)}\n  local: *;\n}};\n"


def api_stubs(functions: list[tuple[str, str]], domain: str) -> str:
    rows = "\n".join(f'    {{"{name}", {domain}, {cbid}}},' for name, cbid in functions)
    stubs = "\n".join(f"SIM_STUB({name})" for name, _ in functions)
    return STUBS.format(rows=rows, stubs=stubs)


def driver(folder: Path) -> None:
    functions = sorted((name, cbid) for name, cbid in facts("driver_functions.txt"))
    (folder / "functions.cc").write_text(api_stubs(functions, "kDriver"))
    names = [name for name, _ in functions] + ["simcuda_core"]
    (folder / "exports.map").write_text(version_script("", names))
    rows = "\n".join(f'    {{"{a}", "{b}", "{c}"}},' for a, b, c in facts("driver_variants.txt"))
    (folder / "driver").mkdir(exist_ok=True)
    (folder / "driver" / "variants.h").write_text(
        "// Generated from facts/driver_variants.txt.\n#pragma once\n\nnamespace simcuda {\n"
        "struct Variant {\n  const char* name;\n  const char* of_12;\n  const char* of_13;\n};\n"
        f"constexpr Variant kVariants[] = {{\n{rows}\n}};\n}}  // namespace simcuda\n"
    )


def runtime(folder: Path, major: str) -> None:
    column = {"12": 1, "13": 2}[major]
    rows = [(row[0], row[column]) for row in facts("runtime_functions.txt") if row[column] != "-"]
    (folder / "functions.cc").write_text(api_stubs(sorted(rows), "kRuntime"))
    (folder / "exports.map").write_text(
        version_script(f"libcudart.so.{major}", [name for name, _ in rows])
    )


def cupti(folder: Path, soname: str, family: str) -> None:
    rows = facts("cupti_functions.txt")
    exported = [
        name
        for name, first, *last in rows
        if release(first) <= release(family) and all(release(family) <= release(n) for n in last)
    ]
    stubs = "\n".join(f"SIM_STUB({name})" for name, *_ in rows)
    (folder / "stubs.cc").write_text(
        "// Generated from facts/cupti_functions.txt: a function without code is not supported.\n"
        '#define SIM_STUB(name) \\\n  extern "C" __attribute__((weak, visibility("default"))) '
        f"int name() {{ return 27; }}\n{stubs}\n"
    )
    (folder / "exports.map").write_text(version_script(soname, exported))


def main() -> None:
    if sys.argv[1] == "families":
        print(";".join(families()))
        return
    domain, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    makers: dict[str, Callable[..., None]] = {"driver": driver, "runtime": runtime, "cupti": cupti}
    makers[domain](folder, *sys.argv[3:])


if __name__ == "__main__":
    main()

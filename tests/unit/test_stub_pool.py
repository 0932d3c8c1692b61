"""The stub pool as assembled for each CPU: a cross compiler stands in for the machine."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CSRC = Path(__file__).resolve().parent.parent.parent / "csrc"
STUBS = int(re.findall(r"RLSCOPE_STUBS (\d+)", (CSRC / "interception/stub_count.h").read_text())[0])
ENTRIES_AT, ENTRY_BYTES = 16, 16  # csrc/interception/call_layout.h
LOOKED_AT = [*range(256), *range(STUBS - 256, STUBS)]


def tool(*names: str) -> str:
    """The first of these programs that is installed."""
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"none of {', '.join(names)} is installed")
    return found


def disassemble(cpu: str, stub_bytes: int, folder: Path) -> dict[int, list[str]]:
    """The instructions of the stubs at the pool's two ends, each with its relocation."""
    compiler = tool("clang", "clang-14")
    objdump = tool("llvm-objdump", "llvm-objdump-14")
    nm = tool("llvm-nm", "llvm-nm-14")
    pool = folder / "pool.o"
    source = CSRC / f"interception/stubs_{cpu}.S"
    target = f"--target={cpu}-linux-gnu"
    subprocess.run([compiler, target, f"-I{CSRC}", "-c", str(source), "-o", str(pool)], check=True)

    def output(*command: str) -> str:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    symbols = output(nm, str(pool))
    found = re.search(r"^(\w+) \w rlscope_stubs$", symbols, re.MULTILINE)
    assert found is not None
    start = int(found[1], 16)
    assert start % stub_bytes == 0
    end = start + STUBS * stub_bytes
    listings = [
        output(
            objdump, "-d", "-r", "--no-show-raw-insn", f"--start-address={first}",
            f"--stop-address={last}", str(pool),
        )
        for first, last in (
            (start, start + 256 * stub_bytes), (end - 256 * stub_bytes, end + stub_bytes),
        )
    ]  # fmt: skip
    by_stub: dict[int, list[str]] = {}
    lines = re.findall(r"^\s*([0-9a-f]+):\s+(.*?)\s*$", "".join(listings), re.MULTILINE)
    for at, text in lines:
        stub = (int(at, 16) - start) // stub_bytes
        words = " ".join(re.sub(r"\s+# 0x.*", "", text).split())
        if words.startswith("R_"):
            by_stub[stub][-1] += f" -> {words}"
        else:
            by_stub.setdefault(stub, []).append(words)
    return by_stub


@pytest.mark.parametrize(
    ("cpu", "stub_bytes", "code"),
    [
        (
            "x86_64",
            32,
            [
                r"endbr64",
                r"pushq %rax",
                r"leaq \(%rip\), %r9 -> R_X86_64_PC32 rlscope_entry_table\+0x{entry:x}",
                r"callq? .*(<rlscope_begin>|rlscope_begin.*)",
                r"callq? \*.* -> R_X86_64_PC32 rlscope_entry_table\+0x{entry:x}",
                r"jmp .*(<rlscope_end>|rlscope_end.*)",
            ],
        ),
        (
            "aarch64",
            16,
            [
                r"(bti c|hint #(34|0x22))",
                r"(mov|movz) w5, #{index}( .*)?",
                r"b .* -> R_AARCH64_JUMP26 rlscope_call",
            ],
        ),
    ],
)
def test_each_stub_leads_to_its_own_entry(
    tmp_path: Path, cpu: str, stub_bytes: int, code: list[str]
) -> None:
    by_stub = disassemble(cpu, stub_bytes, tmp_path)
    assert sorted(by_stub) == LOOKED_AT  # and so the last one is where it must be
    for index, found in by_stub.items():
        entry = ENTRIES_AT + ENTRY_BYTES * index - 4  # from the end of its four bytes
        expected = [line.format(index=index, entry=entry) for line in code]
        assert len(found) >= len(expected)
        for line, wanted in zip(found, expected, strict=False):
            assert re.fullmatch(wanted, line), (index, line, wanted)
        assert all(text.startswith("nop") for text in found[len(code) :])

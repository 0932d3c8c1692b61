"""The stub pool as assembled for each CPU: a cross compiler stands in for the machine."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CSRC = Path(__file__).resolve().parent.parent.parent / "csrc"
STUBS = int(re.findall(r"RLSCOPE_STUBS (\d+)", (CSRC / "native_calls/stub_count.h").read_text())[0])
STUB_BYTES = 16
LOOKED_AT = [*range(256), *range(STUBS - 256, STUBS)]


def tool(*names: str) -> str:
    """The first of these programs that is installed."""
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"none of {', '.join(names)} is installed")
    return found


def disassemble(target: str, folder: Path) -> list[tuple[int, str]]:
    """(offset, instruction) of the pool's two ends."""
    compiler = tool("clang", "clang-14")
    objdump = tool("llvm-objdump", "llvm-objdump-14")
    pool = folder / "pool.o"
    source = CSRC / "native_calls/stub_pool.S"
    command = [compiler, f"--target={target}", f"-I{CSRC}", "-c", str(source), "-o", str(pool)]
    subprocess.run(command, check=True)
    listings = (
        subprocess.run(
            [objdump, "-d", "-r", "--no-show-raw-insn", *ends, str(pool)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for ends in (
            [f"--stop-address={256 * STUB_BYTES}"],
            [f"--start-address={(STUBS - 256) * STUB_BYTES}"],
        )
    )
    lines = re.findall(r"^\s*([0-9a-f]+):\s+(.*?)\s*$", "".join(listings), re.MULTILINE)
    return [(int(offset, 16), " ".join(text.split())) for offset, text in lines]


@pytest.mark.parametrize(
    ("target", "marker", "index", "jump"),
    [
        ("x86_64-linux-gnu", "endbr64", r"movl \$(\d+), %r9d", "jmp"),
        ("aarch64-linux-gnu", r"(bti c|hint #(34|0x22))", r"mov w5, #(\d+)", "b"),
    ],
)
def test_each_stub_gives_its_number_and_jumps_to_the_one_function(
    tmp_path: Path, target: str, marker: str, index: str, jump: str
) -> None:
    code = disassemble(target, tmp_path)
    relocated = {offset for offset, text in code if re.search(r"R_\w+\s+rlscope_call", text)}
    by_stub: dict[int, list[str]] = {}
    for offset, text in code:
        if not text.startswith("R_"):
            by_stub.setdefault(offset // STUB_BYTES, []).append(text)
    assert sorted(by_stub) == LOOKED_AT  # and so the last one is where it must be
    assert len(relocated) == len(LOOKED_AT)
    for number, (first, second, third, *padding) in by_stub.items():
        assert re.fullmatch(marker, first)
        found = re.match(index, second)
        assert found is not None and int(found[1]) == number
        assert third.split()[0] == jump
        assert all(text.startswith("nop") for text in padding)

"""The witness (tests/gpu/programs/witness.c): what CUPTI gives a client other than the recorder."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2] / "gpu" / "programs" / "witness.c"
RECORDS, CALLS = "records.txt", "calls.txt"


def compile_witness(folder: Path) -> Path:
    """The injection library; RuntimeError with the compiler's words where that fails."""
    library = folder / "witness.so"
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"cc: {done.stderr.strip()[-300:]}")
    return library


def witness_environment(
    library: Path, place: Path, level: str = "graph", cupti: Iterable[str] = ()
) -> dict[str, str]:
    """The variables of a program that the witness writes about, into the folder `place`.

    Args:
        level: `graph`: launches of graphs; `node`: their kernels.
        cupti: folders to look for CUPTI in, where the loader finds none.
    """
    place.mkdir(parents=True, exist_ok=True)
    return {
        "CUDA_INJECTION64_PATH": str(library),
        "WITNESS_FOLDER": str(place),
        "WITNESS_LEVEL": level,
        "WITNESS_CUPTI": ":".join(cupti),
    }


def put_facts(place: Path, said: dict[str, Any], level: str) -> dict[str, Any]:
    """Into the first line of the records: what their program did, as records at that level are."""
    facts = dict(said)
    if level == "node" and "graph_kernels" in said:
        facts |= {"kernels": said["kernels"] + said["graph_kernels"], "graphs": 0}
    file = place / RECORDS
    first, _, rest = file.read_text().partition("\n")
    file.write_text(json.dumps({**json.loads(first), **facts}) + "\n" + rest)
    return facts


def kinds_of(place: Path) -> Counter[int]:
    """How many records of each of CUPTI's kinds; a record begins with its kind."""
    lines = (place / RECORDS).read_text().splitlines()[1:]
    return Counter(int.from_bytes(bytes.fromhex(line[:8]), "little") for line in lines)

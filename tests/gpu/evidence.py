"""What steps leave behind, packed into few files that stay whole whenever the run is cut.

Each step is one member, `<step>.tar.gz`, of evidence-1.tar, evidence-2.tar, ...; what it left in
data/ is one of data-1.tar, ... A file takes its new member under another name first.
"""

from __future__ import annotations

import io
import os
import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path

MEBIBYTE = 1 << 20
FILE_BYTES = 15 * MEBIBYTE
"""The most that one packed file has."""
FILES = {"evidence": 2, "data": 3}
"""How many there may be: with results.jsonl and log.txt fewer than eight."""
STEP_BYTES = {True: 2 * MEBIBYTE, False: 5 * MEBIBYTE}
"""What is packed of a step that passed, and of one that failed; before compression."""
DATA_BYTES = 30 * MEBIBYTE
MADE_AGAIN = {"tables", "rings", "built", "__pycache__"}


class Evidence:
    """The packed files of one call."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.left_out: list[str] = []
        """What found no place, in words."""

    def add(self, step: str, left: Path, *, passed: bool) -> None:
        """Packs what a step left in the folder `left`: its data, and the smallest of the rest."""
        data = left / "data"
        self._pack("data", step, left, _within(data, DATA_BYTES))
        rest = (file for file in _within(left, STEP_BYTES[passed]) if data not in file.parents)
        self._pack("evidence", step, left, rest)

    def _pack(self, kind: str, step: str, left: Path, files: Iterable[Path]) -> None:
        chosen = sorted(files)
        if not chosen:
            return
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=6) as archive:
            for file in chosen:
                archive.add(file, f"{step}/{file.relative_to(left)}")
        for number in range(1, FILES[kind] + 1):
            target = self._folder / f"{kind}-{number}.tar"
            taken = target.stat().st_size if target.exists() else 0
            if taken + len(packed.getbuffer()) <= FILE_BYTES:
                return _append(target, f"{step}.tar.gz", packed.getvalue())
        self.left_out.append(f"{kind} of {step}: {len(packed.getbuffer()) / MEBIBYTE:.1f} MiB")


def _within(folder: Path, most: int) -> list[Path]:
    """Files below a folder, the small ones first, that take no more than so many bytes together."""
    chosen, taken = [], 0
    for size, file in sorted((file.stat().st_size, file) for file in _files(folder)):
        taken += size
        if taken > most:
            break
        chosen.append(file)
    return chosen


def _files(folder: Path) -> Iterable[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in MADE_AGAIN]
        files = (Path(place, name) for name in names)
        yield from (file for file in files if file.is_file() and not file.is_symlink())


def _append(target: Path, name: str, content: bytes) -> None:
    growing = target.with_suffix(".part")
    if target.exists():
        shutil.copyfile(target, growing)
    with tarfile.open(growing, "a") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    os.replace(growing, target)

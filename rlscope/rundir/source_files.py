"""DIR/sources.jsonl: the text of the program's own files in which threads were found."""

from __future__ import annotations

import json
import os

from rlscope.rundir import regular_files

FILE = "sources.jsonl"
MOST_BYTES = 16 << 20
BEGINNING = b'{"file": '
"""What the file begins with; --force knows it by that."""


def append(directory: str, file: str, text: str) -> int:
    """Returns how many bytes were written. Raises OSError."""
    line = f"{json.dumps({'file': file, 'text': text})}\n".encode()
    return regular_files.append(directory, FILE, line)


def read(root: str | os.PathLike[str]) -> dict[str, str]:
    """The text of each file, the first one that was kept; a damaged line is left out."""
    try:
        content = regular_files.read(root, FILE, MOST_BYTES)
    except OSError:
        return {}
    texts: dict[str, str] = {}
    for line in content.split(b"\n"):
        found = _parse(line)
        if found is not None:
            texts.setdefault(*found)
    return texts


def _parse(line: bytes) -> tuple[str, str] | None:
    try:
        values = json.loads(line)
        file, text = values["file"], values["text"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return (file, text) if isinstance(file, str) and isinstance(text, str) else None

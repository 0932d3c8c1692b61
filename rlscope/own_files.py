"""Files of ours in folders where a user's may lie, too: known by their whole names."""

import contextlib
import os
import re
from collections.abc import Iterator

# A file of one relation, relative to the relation's folder: rlscope/trace/store.py.
TABLE_PART = r"(process_id=\d+/)?part\.(parquet|\d+\.tmp)"


def find(folder: str, names: re.Pattern[str]) -> Iterator[tuple[str, list[str]]]:
    """`folder` and those in it, deepest first, each with its files of ours; follows no link.

    `names` match paths relative to `folder`.
    """
    if os.path.islink(folder):
        return
    for parent, _, files in os.walk(folder, topdown=False):
        paths = [os.path.join(parent, file) for file in files]
        yield parent, [path for path in paths if names.fullmatch(os.path.relpath(path, folder))]


def remove(folder: str, names: re.Pattern[str]) -> None:
    """Removes files of ours below `folder`, then folders that are empty.

    Raises:
        OSError: one cannot be removed.
    """
    for parent, files in find(folder, names):
        for file in files:
            os.unlink(file)
        with contextlib.suppress(OSError):  # somebody else's files are in it
            os.rmdir(parent)

"""Files of ours in folders where a user's may lie, too: known by their whole names.

`files` match paths relative to the folder that is looked through. Symbolic links are not followed.
"""

import os
import re
from collections.abc import Container, Iterator
from contextlib import suppress

from rlscope.rundir import regular_files

# A file of one relation, relative to the relation's folder (rlscope/relations/files/places.py).
# Older releases made a folder for each process.
TABLE_PART = r"(process_id=\d+/)?part(-\d+)?\.(parquet|\d+\.tmp)"
# A folder of rings that lies elsewhere: rlscope-<user>-<pid>-<ns>
# (csrc/trace/drain/control_page.cc).
_RING_FOLDER = re.compile(r"/(?:.*/)?rlscope-(\d+)-\d+-\d+")
# Ours lie no deeper below a folder that is looked through: breakdown/process_id=0.
_DEEPEST = 2
_LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def find(root: str, name: str, files: re.Pattern[str]) -> list[str]:
    """The folders below root/name, itself included, in which files of ours lie."""
    return [
        os.path.join(root, name, inside)
        for _, inside, _, names in _walk(root, name)
        if any(files.fullmatch(inside + each) for each in names)
    ]


def remove(root: str, name: str, files: re.Pattern[str]) -> None:
    """Removes files of ours below root/name, and each folder that held one and is empty then.

    Raises:
        OSError: a file cannot be removed.
    """
    held: set[str] = set()
    for folder, inside, folders, names in _walk(root, name):
        ours = [each for each in names if files.fullmatch(inside + each)]
        for each in ours:
            os.unlink(each, dir_fd=folder)
        emptied = [each for each in folders if f"{inside}{each}/" in held]
        removed = [each for each in emptied if _remove_empty(each, folder)]
        if ours or removed:
            held.add(inside)
    if "" in held:
        parent, _, last = name.rpartition("/")
        with regular_files.folder(root, parent) as above:
            _remove_empty(last, above)


def is_ring_folder(path: str, users: Container[int]) -> bool:
    """Whether rings of one of these users lie in a folder: it has their name, and its owner."""
    match = _RING_FOLDER.fullmatch(path)
    if match is None:
        return False
    try:
        with regular_files.folder(os.path.dirname(path), os.path.basename(path)) as folder:
            owner = os.fstat(folder).st_uid
    except OSError:
        return False
    return owner == int(match[1]) and owner in users


def _walk(root: str, name: str) -> Iterator[tuple[int, str, list[str], list[str]]]:
    """Folders, deepest first: a descriptor, the path, the names of folders and of files in it.

    What cannot be opened, and is no folder, holds nothing.
    """
    with suppress(OSError), regular_files.folder(root, name) as top:
        yield from _walk_in(top, ".", "")


def _walk_in(above: int, name: str, inside: str) -> Iterator[tuple[int, str, list[str], list[str]]]:
    try:
        folder = os.open(name, _LISTED, dir_fd=above)
    except OSError:
        return
    try:
        with os.scandir(folder) as entries:
            kinds = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        folders = [each for each, is_folder in kinds.items() if is_folder]
        for each in folders if inside.count("/") < _DEEPEST else ():
            yield from _walk_in(folder, each, f"{inside}{each}/")
        yield folder, inside, folders, [each for each in kinds if each not in folders]
    finally:
        os.close(folder)


def _remove_empty(name: str, above: int) -> bool:
    try:
        os.rmdir(name, dir_fd=above)
    except OSError:  # somebody else's files are in it
        return False
    return True

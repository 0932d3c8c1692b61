"""Tar archives of traces, such as those of tests/golden, for the tests that read them."""

from __future__ import annotations

import tarfile
from pathlib import Path, PurePosixPath


def unpack(archive: Path, folder: Path) -> None:
    """Writes what an archive holds into `folder`; refuses an archive that could write elsewhere.

    Python's own filter, `tarfile.data_filter`, is missing before 3.10.12 and 3.11.4. Python 3.12
    warns without a filter.
    """
    with tarfile.open(archive) as opened:
        for member in opened:
            _refuse_what_leads_elsewhere(member)
        opened.extraction_filter = getattr(tarfile, "data_filter", None)
        opened.extractall(folder)


def _refuse_what_leads_elsewhere(member: tarfile.TarInfo) -> None:
    path = PurePosixPath(member.name)
    if not (member.isfile() or member.isdir()) or path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{member.name} is no file or folder inside of its archive")

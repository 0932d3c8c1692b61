"""Archives are unpacked alike by every Python, and none of their members can lie elsewhere."""

from __future__ import annotations

import io
import tarfile
import warnings
from pathlib import Path

import pytest
from support.files.archives import unpack


def archive_of(member: tarfile.TarInfo, content: bytes, folder: Path) -> Path:
    path = folder / "archive.tar"
    member.size = len(content)
    with tarfile.open(path, "w") as archive:
        archive.addfile(member, io.BytesIO(content))
    return path


def link_to(target: str) -> tarfile.TarInfo:
    link = tarfile.TarInfo("link")
    link.type = tarfile.SYMTYPE
    link.linkname = target
    return link


def test_a_file_is_unpacked_without_a_warning(tmp_path: Path) -> None:
    archive = archive_of(tarfile.TarInfo("folder/file"), b"content", tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unpack(archive, tmp_path / "unpacked")
    assert (tmp_path / "unpacked" / "folder" / "file").read_bytes() == b"content"


@pytest.mark.parametrize(
    "member",
    [tarfile.TarInfo("../file"), tarfile.TarInfo("folder/../../file"), link_to("/etc/passwd")],
    ids=lambda member: member.name,
)
def test_what_leads_elsewhere_is_refused(tmp_path: Path, member: tarfile.TarInfo) -> None:
    archive = archive_of(member, b"", tmp_path)
    with pytest.raises(ValueError, match="is no file or folder inside"):
        unpack(archive, tmp_path / "unpacked")
    assert [path.name for path in tmp_path.iterdir()] == ["archive.tar"]


def test_an_absolute_path_is_refused(tmp_path: Path) -> None:
    archive = archive_of(tarfile.TarInfo(f"{tmp_path}/file"), b"", tmp_path)
    with pytest.raises(ValueError, match="is no file or folder inside"):
        unpack(archive, tmp_path / "unpacked")
    assert not (tmp_path / "file").exists()

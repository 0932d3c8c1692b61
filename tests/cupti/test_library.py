"""The library of each release: it has what the recorder and doctor look up in it, goes by a name
that they look for, and needs nothing but the C library."""

from __future__ import annotations

import re
import subprocess
from types import SimpleNamespace
from typing import Any

from support.cuda.cupti_releases import RELEASES, ROOT, Release, every_release, exported

from rlscope.doctor import probe_cuda

RECORDER = (ROOT / "csrc" / "cupti" / "library.cc").read_text()
FROM_13_0 = {"cuptiSubscribe_v2"}
SYSTEM = re.compile(r"(ld-linux-[\w-]+|lib(c|dl|m|pthread|rt|util|gcc_s))\.so\.\d+")
every = every_release(RELEASES)


def functions(release: Release) -> set[str]:
    """What its library exports, without versions."""
    return {name.partition("@")[0] for name in exported(release.library)}


def dynamic(release: Release, tag: str) -> list[str]:
    """Names of a kind in its library's dynamic section."""
    command = ["readelf", "--dynamic", "--wide", str(release.library)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return re.findall(rf"\({tag}\).*\[(.*)\]", done.stdout)


@every
def test_every_function_that_is_looked_up_is_exported(release: Release) -> None:
    looked_up = {*re.findall(r'Find\(library, "(\w+)"', RECORDER), *probe_cuda.FUNCTIONS}
    assert len(looked_up) > 12
    absent = FROM_13_0 if release.major < 13 else set()
    assert looked_up - functions(release) == absent


@every
def test_13_2_alone_is_taken_for_one_that_may_end_the_process(release: Release) -> None:
    library: Any = SimpleNamespace(**dict.fromkeys(functions(release)))
    assert probe_cuda.fails_to_refuse(library) == (release.version == (13, 2))


@every
def test_it_goes_by_a_name_that_is_looked_for(release: Release) -> None:
    assert dynamic(release, "SONAME") == [release.library.name]
    assert release.library.name in probe_cuda.SONAMES
    assert f'"{release.library.name}"' in RECORDER


@every
def test_it_needs_the_c_library_alone(release: Release) -> None:
    needed = dynamic(release, "NEEDED")
    assert "libc.so.6" in needed
    assert not [name for name in needed if not SYSTEM.fullmatch(name)]

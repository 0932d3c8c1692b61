"""The check of includes between folders of csrc/ finds what it is there for."""

from pathlib import Path

import pytest
from check_includes import violations

CSRC = Path(__file__).parents[2] / "csrc"


def violations_of(folder: Path, path: str, included: str) -> list[str]:
    """Of one file that includes one other; both are of csrc/."""
    for name in (included, path):
        (folder / "csrc" / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / "csrc" / included).write_text("")
    (folder / "csrc" / path).write_text(f'#include <stdint.h>\n\n#include "{included}"\n')
    return violations(folder / "csrc")


@pytest.mark.parametrize(
    ("path", "included", "says"),
    [
        ("trace/format/frame.h", "trace/write/sink.h", "trace/format must not include trace/write"),
        ("trace/write/chunks.h", "trace/drain/drain.h", "trace/write must not include trace/drain"),
        ("trace/read/decoder.h", "trace/write/chunks.h", "trace/read must not include trace/write"),
        ("trace/drain/drain.cc", "trace/read/reader.h", "trace/drain must not include trace/read"),
        ("trace/layout/record.h", "runtime/hot.h", "trace/layout must not include runtime"),
        ("preload/cudart/calls.h", "analysis/sweep/sweep.h", "preload must not include analysis"),
        ("trace/chunks.h", "base/clock.h", "trace is no layer"),
        ("base/clock.h", "trace/chunks.h", "base must not include trace"),
    ],
)
def test_an_include_that_goes_up_is_refused(
    tmp_path: Path, path: str, included: str, says: str
) -> None:
    assert f"csrc/{path}: {says}" in violations_of(tmp_path, path, included)


@pytest.mark.parametrize(
    ("path", "included"),
    [
        ("trace/directory/salvage.cc", "trace/drain/drain.h"),
        ("trace/drain/drain.cc", "trace/layout/record.h"),
        ("trace/read/cursor.cc", "trace/read/decoder.h"),
    ],
)
def test_an_include_that_goes_down_is_not(tmp_path: Path, path: str, included: str) -> None:
    found = violations_of(tmp_path, path, included)
    assert [line for line in found if path in line] == []


def test_nothing_in_csrc_includes_what_lies_above_it() -> None:
    assert violations(CSRC) == []

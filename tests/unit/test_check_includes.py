"""The check of includes between folders and files of csrc/ finds what it is there for."""

from pathlib import Path

import pytest
from check_includes import violations

CSRC = Path(__file__).parents[2] / "csrc"


def violations_of(folder: Path, path: str, included: str) -> list[str]:
    """What is wrong with one file that includes one other; both are of csrc/."""
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
        ("preload/cudart/calls.h", "analysis/keys/key.h", "preload must not include analysis/keys"),
        ("analysis/keys/key.h", "analysis/views/overlap.h", "keys must not include analysis/views"),
        (
            "analysis/gpu/gpu_merge.h",
            "analysis/threads/notes.h",
            "must not include analysis/threads",
        ),
        (
            "python/trace_module/writer.h",
            "python/runtime_module/phase.h",
            "python/trace_module must not include python/runtime_module",
        ),
        ("analysis/sweep.h", "base/clock.h", "analysis is no layer"),
        ("trace/chunks.h", "base/clock.h", "trace is no layer"),
        ("base/clock.h", "trace/chunks.h", "base must not include trace"),
    ],
)
def test_an_include_that_goes_up_is_refused(
    tmp_path: Path, path: str, included: str, says: str
) -> None:
    found = violations_of(tmp_path, path, included)
    assert [line for line in found if line.startswith(f"csrc/{path}: ") and line.endswith(says)]


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


def plant(folder: Path, includes: dict[str, list[str]]) -> list[str]:
    """What is found in files that include others, all of csrc/base."""
    base = folder / "csrc" / "base"
    base.mkdir(parents=True)
    for name, included in includes.items():
        lines = [f'#include "base/{each}"\n' for each in included]
        (base / name).write_text("".join(lines))
    return violations(folder / "csrc")


@pytest.mark.parametrize(
    ("includes", "way"),
    [
        ({"a.h": ["b.h"], "b.h": ["a.h"]}, ["a", "b"]),
        ({"a.h": [], "a.cc": ["a.h", "b.h"], "b.h": ["a.h"]}, ["a", "b"]),
        ({"a.h": [], "a_rest.cc": ["b.h"], "b.h": ["a.h"]}, ["a", "b"]),
        ({"a.h": [], "a_b_c.S": ["b.h"], "b.h": [], "b.cc": ["a.h"]}, ["a", "b"]),
        (
            {
                "a.h": ["b.h"],
                "b.h": ["c.h"],
                "c.h": [],
                "c.cc": ["c.h", "d.h"],
                "d.h": ["c.h", "a.h"],
                "e.h": ["a.h"],
            },
            ["a", "b", "c", "d"],
        ),
    ],
)
def test_a_circle_of_files_is_found(
    tmp_path: Path, includes: dict[str, list[str]], way: list[str]
) -> None:
    units = [f"base/{unit}" for unit in [*way, way[0]]]
    assert plant(tmp_path, includes) == [f"csrc: {' -> '.join(units)} is a circle"]


def test_every_circle_is_found_once(tmp_path: Path) -> None:
    includes = {"a.h": ["b.h"], "b.h": ["a.h", "c.h"], "c.h": ["d.h"], "d.h": ["c.h"]}
    assert plant(tmp_path, includes) == [
        "csrc: base/a -> base/b -> base/a is a circle",
        "csrc: base/c -> base/d -> base/c is a circle",
    ]


@pytest.mark.parametrize(
    "includes",
    [
        {"a.h": [], "a.cc": ["a.h", "b.h"], "b.h": [], "c.h": ["a.h", "b.h"]},
        # A source with a header of its own is no part of another's.
        {"a.h": [], "a_rest.h": ["a.h"], "a_rest.cc": ["a_rest.h", "b.h"], "b.h": ["a.h"]},
        # Nothing can include a source without one.
        {"a.cc": ["b.h"], "b.h": []},
    ],
)
def test_what_goes_one_way_is_no_circle(tmp_path: Path, includes: dict[str, list[str]]) -> None:
    assert plant(tmp_path, includes) == []


def test_nothing_in_csrc_includes_what_lies_above_it() -> None:
    assert violations(CSRC) == []

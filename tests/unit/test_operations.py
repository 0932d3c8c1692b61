"""Operations of a run, numbered over its processes."""

from __future__ import annotations

from typing import Any

import pytest

from rlscope.trace.operations import Operations


def swept(source: str) -> dict[str, Any]:
    """The table `operation` of a process with one operation besides (none)."""
    return {
        "path": ["(none)", "inference"],
        "name": ["(none)", "inference"],
        "parent": [-1, -1],
        "instances": [0, 5],
        "source": ["explicit", source],
    }


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (("automatic", "automatic"), "automatic"),
        (("automatic", "explicit"), "explicit"),
        (("explicit", "automatic"), "explicit"),
    ],
)
def test_a_path_that_any_process_annotates_is_explicit(
    sources: tuple[str, str], expected: str
) -> None:
    operations = Operations()
    numbers = [operations.number(swept(source)).tolist() for source in sources]
    assert numbers == [[-1, 0], [-1, 0]]
    assert operations.columns()["source"] == [expected]

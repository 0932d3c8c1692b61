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
    ("sources", "ids"),
    [
        (("automatic", "automatic"), (0, 0)),
        (("automatic", "explicit"), (0, 1)),
        (("explicit", "automatic", "explicit"), (0, 1, 0)),
    ],
)
def test_an_automatic_operation_is_not_the_annotated_one_of_its_path(
    sources: tuple[str, ...], ids: tuple[int, ...]
) -> None:
    operations = Operations()
    numbers = [operations.number(swept(source)).tolist() for source in sources]
    assert numbers == [[-1, number] for number in ids]
    assert operations.columns({})["source"] == list(dict.fromkeys(sources))

"""Operations of a run, numbered over its processes."""

from __future__ import annotations

from typing import Any

import pytest

from rlscope.auto.rules import METADATA
from rlscope.relations.rows.operations import RULES, Operations, read_rules


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


def test_an_automatic_operation_has_the_rule_that_its_processes_tell() -> None:
    operations = Operations()
    swept_paths = ["(none)", "compiled:f", "inference", "inference"]
    sources = ["explicit", "automatic", "explicit", "automatic"]
    operations.number(
        {"path": swept_paths, "name": swept_paths, "parent": [-1] * 4, "instances": [1] * 4,
         "source": sources}
    )  # fmt: skip
    rules = read_rules(['{"compiled": "c", "inference": "a"}', '{"inference": "b"}', "{", "[]"])
    assert operations.columns(rules)["rule"] == ["c", None, "a; b"]
    assert operations.columns({})["rule"] == [None] * 3


def test_rules_are_told_under_the_key_that_is_read() -> None:
    assert RULES == METADATA

"""A statement about calls of functions is asked only where one of them lies on a stack."""

from __future__ import annotations

from typing import Any

import pytest
from support.files.loop_rows import Time, loop_rows
from support.files.relation_rows import SECOND

from rlscope.analysis import statement
from rlscope.analysis.called_functions import rows_of_calls

QUESTION = "findings/library_function"
SAVE = ("/lib/torch/serialization.py", "save")


@pytest.mark.parametrize(
    ("functions", "is_asked"),
    [
        ([r".*/torch/serialization\.py:save"], True),
        ([r".*/json/.*:dump", r".*/torch/.*:(save|load)"], True),
        ([r".*/torch/.*:load", r"serialization\.py:save"], False),  # all of the text is compared
        ([r".*/torch/serialization\.py:sav"], False),
    ],
)
def test_what_no_stack_has_is_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, functions: list[str], is_asked: bool
) -> None:
    trace = loop_rows(Time("saving", "python", SECOND, 7, (SAVE,)))
    asked: dict[str, Any] = {"process_id": 0, "functions": functions}
    asked |= {"operations": [], "waits": False}
    expected = statement.run(
        loop_rows(Time("saving", "python", SECOND, 7, (SAVE,))), QUESTION, **asked
    )
    names: list[str] = []
    run = statement.run

    def noted(trace: Any, name: str, **parameters: Any) -> Any:
        names.append(name)
        return run(trace, name, **parameters)

    monkeypatch.setattr(statement, "run", noted)
    assert rows_of_calls(trace, QUESTION, **asked) == expected.to_dicts()
    assert bool(expected) == is_asked
    assert (QUESTION in names) == is_asked

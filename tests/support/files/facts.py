"""The facts of a sentence: its numbers, names and key words. Tests compare these, and not how the
sentence is worded:

    assert_says(text, "Simulation", "60.0 %", "60 ns", "100 ns", "31 ns", "wait")
"""

from __future__ import annotations

import re


def assert_says(text: str, *facts: str) -> None:
    """The text has these facts in this order, and no other number. A word may go on: "wait" is in
    "waits"; a fact with a number may not: "1 worker" is not in "1 workers", nor in "11 worker"."""
    rest, place = "", 0
    for fact in facts:
        end = r"(?!\w)" if re.search(r"\d", fact) else ""
        found = re.compile(rf"(?<![\w.,-]){re.escape(fact)}{end}", re.IGNORECASE).search(
            text, place
        )
        assert found is not None, f"{fact!r} is not in {text[place:]!r}"
        rest += text[place : found.start()]
        place = found.end()
    rest += text[place:]
    others = re.findall(r"\S*\d\S*", rest)
    assert others == [], f"{others} in {text!r}"

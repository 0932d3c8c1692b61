"""docs/troubleshooting.md has all that `rlscope doctor` can find wrong, as it says it."""

from __future__ import annotations

import troubleshooting

from rlscope.doctor import cupti


def test_the_page_says_what_the_doctor_says() -> None:
    page = troubleshooting.PAGE.read_text()
    again = "python tests/troubleshooting.py writes it anew"
    assert page == troubleshooting.written(page), again


def test_each_problem_that_the_doctor_knows_has_a_row() -> None:
    assert troubleshooting.sites_without_a_problem() == []
    page = troubleshooting.PAGE.read_text()
    assert all(f"({status})" in page for status in cupti._REFUSALS)

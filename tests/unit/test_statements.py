"""Where statements end."""

from __future__ import annotations

import pytest

from rlscope.relations.statements import is_complete, split


@pytest.mark.parametrize(
    ("text", "parts", "complete"),
    [
        ("", [], False),
        (" ;\n;", [], True),
        ("-- nothing ;", [], False),
        ("SELECT 1", ["SELECT 1"], False),
        ("SELECT 1; -- the end", ["SELECT 1"], True),
        ("SELECT 1 /* ; */; /* ; */", ["SELECT 1 /* ; */"], True),
        ("SELECT ';é;'; FROM a", ["SELECT ';é;'", "FROM a"], False),
        ('SELECT ";" -- ;\n; FROM a;', ['SELECT ";" -- ;', "FROM a"], True),
        ("SELECT $$ ; $$; FROM a;", ["SELECT $$ ; $$", "FROM a"], True),
        ("SELECT 'it''s;';", ["SELECT 'it''s;'"], True),
        ("SELECT 'no end;", ["SELECT 'no end;"], False),
        ("SELECT 1; 'no end;", ["SELECT 1", "'no end;"], False),
        ("SELECT 1; /* no end;", ["SELECT 1", "/* no end;"], False),
        ("SELECT '\udce9;é'; x", ["SELECT '\udce9;é'", "x"], False),
    ],
)
def test_a_statement_ends_at_a_semicolon_that_is_one(text, parts, complete):
    assert split(text) == parts
    assert is_complete(text) == complete


def test_a_pivot_is_one_statement():
    text = "PIVOT breakdown ON layer USING sum(duration_ns)"
    assert split(f"{text}; SELECT 1") == [text, "SELECT 1"]

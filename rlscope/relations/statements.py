"""Where the statements of a text of SQL end, and which of them only read.

One ends at each semicolon outside of quotes and comments: DuckDB's own tokens say so. Its list of
parsed statements would not do: PIVOT is two of them there, of which there is no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import duckdb

# Half a pair, which is no text to DuckDB; it takes three bytes, as what stands for it here does.
_NO_TEXT = re.compile("[\ud800-\udfff]")
# After white space and comments.
_FIRST_WORD = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/)*([A-Za-z]+)")
# Without comments, which nest: what is explained must be what DuckDB sees.
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(?:ANALYZE\s+)?(?:\([^()]*\)\s*(?=\w))?", re.IGNORECASE)


def split(text: str) -> list[str]:
    """The statements of a text, in order, without what ends them; comments alone are none."""
    data = text.encode(errors="surrogatepass")  # DuckDB counts bytes
    pieces, start, has_tokens = [], 0, False
    for offset in _token_starts(text):
        if data[offset : offset + 1] == b";":
            if has_tokens:
                pieces.append(data[start:offset])
            start, has_tokens = offset + 1, False
        else:
            has_tokens = True
    rest = data[start:]
    if has_tokens or not _is_comment(rest):
        pieces.append(rest)
    return [piece.decode(errors="surrogatepass").strip() for piece in pieces]


def is_complete(text: str) -> bool:
    """Whether the last statement of a text has its semicolon."""
    data = text.encode(errors="surrogatepass")
    starts = list(_token_starts(text))
    return (
        bool(starts)
        and data[starts[-1] : starts[-1] + 1] == b";"
        and _is_comment(data[starts[-1] + 1 :])
    )


def _token_starts(text: str) -> Iterator[int]:
    """Places of the tokens, up to a quote that has no end. Some releases call comments tokens."""
    for offset, kind in duckdb.tokenize(_NO_TEXT.sub("\ufffd", text)):
        if kind != duckdb.token_type.comment:
            yield offset


def _is_comment(rest: bytes) -> bool:
    """Whether what has no tokens is blank or comments, not a quote without an end."""
    rest = rest.strip()
    return not rest or rest.startswith(b"--") or (rest.startswith(b"/*") and b"*/" in rest)


def only_reads(part: Any) -> bool:
    """Whether a statement is a SELECT, or explains one; what EXPLAIN ANALYZE explains is run."""
    if part.type != duckdb.StatementType.EXPLAIN:
        return bool(part.type == duckdb.StatementType.SELECT)
    before = _EXPLAIN.match(part.query)
    if before is None:
        return False
    try:
        explained = duckdb.extract_statements(part.query[before.end() :])
    except duckdb.Error:
        return False
    return [each.type for each in explained] == [duckdb.StatementType.SELECT]


def command(part: Any) -> str:
    """The word that a statement begins with: DuckDB's own name of INSTALL is LOAD."""
    word = _FIRST_WORD.match(part.query)
    return word[1].upper() if word else str(part.type.name)

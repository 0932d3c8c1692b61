"""Where the statements of a text of SQL end: at each semicolon outside of quotes and comments.

DuckDB's own tokens say so. Its list of parsed statements would not do: PIVOT is two of them there,
of which there is no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import duckdb

# Half a pair, which is no text to DuckDB; it takes three bytes, as what stands for it here does.
_NO_TEXT = re.compile("[\ud800-\udfff]")


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

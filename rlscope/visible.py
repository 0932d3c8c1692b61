"""Text of a trace on a terminal or a page: names come from programs, and may hold anything.

A control character in a name would move the cursor, change colours or answer in the user's place.
"""


def visible(text: str) -> str:
    """The text without characters that would break a line, hide or command: they become escapes.

    >>> visible("up" + chr(27) + "[2J" + chr(10))
    'up\\\\x1b[2J\\\\n'
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def visible_lines(text: str) -> str:
    """The same for text of several lines, which stay lines."""
    return "\n".join(map(visible, text.split("\n")))


def _visible(character: str) -> str:
    import unicodedata  # which most texts need not have

    # Cc: control, Cf: invisible (bidirectional overrides), Cs: half of a pair, Zl and Zp: breaks.
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
        return character.encode("unicode_escape").decode("ascii")
    return character

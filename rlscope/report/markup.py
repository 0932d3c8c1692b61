"""Texts and values as parts of an HTML page, or of Markdown: nothing that a program names can be
markup or code."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from collections.abc import Iterable
from typing import Any

from rlscope.report import units

# What Markdown, or HTML inside of it, could take for a mark.
_MARK = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&$@:=^])")

# Escaped text between single backticks: it holds no tag.
_TICKED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def markdown(text: str) -> str:
    """The text with what would be a mark of Markdown escaped."""
    return _MARK.sub(r"\\\1", units.visible(text))


def escape(text: str) -> str:
    """The text, which may stand between tags or in an attribute."""
    return html.escape(units.visible(text))


def prose(text: str) -> str:
    """The same for text of lines that end where the page is full."""
    return escape(units.unbroken(text))


def sentence(text: str) -> str:
    """Prose in which `a command` between backticks is code; for text between tags only."""
    return _TICKED.sub(r"<code>\1</code>", prose(text))


def script_json(value: Any) -> str:
    """JSON that cannot end its <script> element, nor begin a comment in it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def json_element(value: Any, kind: str = "") -> str:
    """The value, for a script of the page."""
    return f'<script type="application/json"{kind}>{script_json(value)}</script>'


def packed_element(text: str, name: str) -> str:
    """A long text, compressed: `unpacked` in templates/page.js reads it."""
    packed = base64.b64encode(zlib.compress(text.encode(), level=9)).decode()
    return f'<script type="text/plain" id="{name}">{packed}</script>'


def select(names: Iterable[str]) -> str:
    """A list to choose from; the first one is chosen."""
    options = "".join(
        f'<option value="{escape(name)}">{escape(units.label(name))}</option>' for name in names
    )
    # autocomplete off: a reloaded page shows what it draws, the first one.
    return f'<label>Show <select autocomplete="off">{options}</select></label>'

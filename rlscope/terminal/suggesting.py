"""A parser that names the option that was meant."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

_UNKNOWN = re.compile(r"unrecognized arguments: (--[^\s=]+)")


class SuggestingParser(argparse.ArgumentParser):
    """Adds the nearest option to what argparse says of an unknown one."""

    def error(self, message: str) -> NoReturn:
        found = _UNKNOWN.match(message)
        super().error(f"{message}{self._meant(found[1])}" if found else message)

    def _meant(self, option: str) -> str:
        from difflib import get_close_matches  # 2 ms, and only for an option that is wrong

        near = get_close_matches(option, self._option_string_actions, n=1)
        return f"; did you mean {near[0]}?" if near else ""

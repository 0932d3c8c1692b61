"""The commands of a page, as a shell would run them: `of_page(text, folder)`."""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
from pathlib import Path

Command = list[str]

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ASKS = re.compile(r"^(?:rls-prof|rlscope|for) ", re.MULTILINE)
_SAY = "python3 -c 'import json, sys; print(json.dumps(sys.argv[1:]))'"
_FUNCTIONS = "\n".join(f'{name}() {{ {_SAY} {name} "$@"; }}' for name in ("rls-prof", "rlscope"))


def of_page(text: str, folder: Path) -> list[Command]:
    """The words of each command of rlscope in the blocks that begin with one, in their order.

    Args:
        folder: an empty one, in which no pattern without quotes has a match.
    """
    blocks = [block for kind, block in _BLOCK.findall(text) if not kind and _ASKS.match(block)]
    done = subprocess.run(
        ["bash", "-e"], input="\n".join([_FUNCTIONS, *blocks]), cwd=folder, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def options(command: Command) -> argparse.Namespace:
    """As the verb reads them. Fails if there is no such verb or option."""
    name, *words = command
    verb = "prof" if name == "rls-prof" else words.pop(0)
    parser = argparse.ArgumentParser(exit_on_error=False)
    importlib.import_module(f"rlscope.commands.{verb}").prepare(parser)
    return parser.parse_args(words)

"""Checks that nothing uses what only a later patch release of Python has: 3.10.12, but not 3.10.0.

pyproject.toml promises each release of each minor version. Fixes of security holes add functions
and parameters to minor versions that are years old. Distributions have the releases before that,
too: Debian 12 has 3.11.2. mypy, ruff and vermin know minor versions only.

Usage: check_oldest_python.py FILE...   Python or Markdown; in Markdown, what is marked as Python

A use is allowed where `if sys.version_info >= (3, 11, 4):` rules older releases out. Another way is
getattr(tarfile, "data_filter", None).
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

Release: TypeAlias = tuple[int, ...]

OLDEST: Release = (3, 10)

# The first release of each minor version that has it, as CPython's documentation (versionadded,
# versionchanged) and the comments and stubtest_allowlists of typeshed say. A minor version after
# the last one that is named has it from the start; one before the first has it never.
# `mypy.stubtest` under an old release lists what that release lacks.
_TAR_FILTERS = "3.10.12 3.11.4"
_EMAIL_CHECKS = "3.10.15 3.11.10 3.12.5"
_EXPAT_DEFERRAL = "3.10.14 3.11.9 3.12.3"
_MARKUP_LIMITS = "3.10.20 3.11.15 3.12.13 3.13.10 3.14.1"
_EXPAT_PROTECTION = "3.10.19 3.11.14 3.12.12 3.13.4 3.14.6"
_REAL_PATHS = "3.10.18 3.11.13 3.12.11 3.13.4"

# What lies in a module, by its whole name.
NAMES = {
    "email.errors.HeaderWriteError": _EMAIL_CHECKS,
    "os.path.ALLOW_MISSING": _REAL_PATHS,
    "sys.flags.int_max_str_digits": "3.10.7",
    "sys.get_int_max_str_digits": "3.10.7",
    "sys.int_info.default_max_str_digits": "3.10.7",
    "sys.int_info.str_digits_check_threshold": "3.10.7",
    "sys.set_int_max_str_digits": "3.10.7",
    "tarfile.AbsoluteLinkError": _TAR_FILTERS,
    "tarfile.AbsolutePathError": _TAR_FILTERS,
    "tarfile.FilterError": _TAR_FILTERS,
    "tarfile.LinkFallbackError": _REAL_PATHS,
    "tarfile.LinkOutsideDestinationError": _TAR_FILTERS,
    "tarfile.OutsideDestinationError": _TAR_FILTERS,
    "tarfile.SpecialFileError": _TAR_FILTERS,
    "tarfile.data_filter": _TAR_FILTERS,
    "tarfile.fully_trusted_filter": _TAR_FILTERS,
    "tarfile.tar_filter": _TAR_FILTERS,
}
# A method that no other class has, by its own name: the class of an object is not known here.
# XMLParser.flush is missing for that reason.
METHODS = {
    "GetReparseDeferralEnabled": _EXPAT_DEFERRAL,
    "SetAllocTrackerActivationThreshold": _MARKUP_LIMITS,
    "SetAllocTrackerMaximumAmplification": _MARKUP_LIMITS,
    "SetBillionLaughsAttackProtectionActivationThreshold": _EXPAT_PROTECTION,
    "SetBillionLaughsAttackProtectionMaximumAmplification": _EXPAT_PROTECTION,
    "SetReparseDeferralEnabled": _EXPAT_DEFERRAL,
}
# A parameter, by the own name of the function or method, too.
PARAMETERS = {
    ("EmailPolicy", "verify_generated_headers"): _EMAIL_CHECKS,
    ("HTMLParser", "scripting"): _MARKUP_LIMITS,
    ("create_task", "eager_start"): "3.13.3",
    ("extract", "filter"): _TAR_FILTERS,
    ("extractall", "filter"): _TAR_FILTERS,
    ("getaddresses", "strict"): _EMAIL_CHECKS,
    ("parseaddr", "strict"): _EMAIL_CHECKS,
    ("replace", "linkname"): _TAR_FILTERS,
    ("replace", "mtime"): _TAR_FILTERS,
    ("unpack_archive", "filter"): _TAR_FILTERS,
}

# Whose programs are examples of what is found.
OWN_TEST = "test_check_oldest_python.py"
MARKDOWN_PROGRAM = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def has(oldest: Release, firsts: str) -> bool:
    """Whether each release from `oldest` on has what `firsts` of the minor versions brought."""
    releases = [tuple(map(int, first.split("."))) for first in firsts.split()]
    return oldest[:2] >= releases[0][:2] and all(
        first <= oldest for first in releases if first[:2] >= oldest[:2]
    )


class Uses(ast.NodeVisitor):
    """Finds the uses in one program, each as its line and what it says of it."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str]] = []
        self._oldest = OLDEST
        self._modules: dict[str, str] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            root = alias.name.partition(".")[0]
            self._modules[alias.asname or root] = alias.name if alias.asname else root

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            name = f"{node.module}.{alias.name}"
            self._modules[alias.asname or alias.name] = name
            self._note(node, name, NAMES.get(name))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._whole_name(node)
        self._note(node, name, NAMES.get(name))
        self._note(node, node.attr, METHODS.get(node.attr))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = self._whole_name(node.func).rpartition(".")[2]
        for keyword in node.keywords:
            firsts = PARAMETERS.get((function, keyword.arg or ""))
            self._note(node, f"{function}({keyword.arg}=...)", firsts)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A test may hold the program that it runs: each of its uses has the line of the string."""
        if isinstance(node.value, str) and "import " in node.value:
            self.found += [(node.lineno, what) for _, what in uses(textwrap.dedent(node.value))]

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        before = self._oldest
        self._oldest = max(before, self._ruled_out_below(node.test))
        for statement in node.body:
            self.visit(statement)
        self._oldest = before
        for statement in node.orelse:
            self.visit(statement)

    def _note(self, node: ast.expr | ast.stmt, what: str, firsts: str | None) -> None:
        if firsts and not has(self._oldest, firsts):
            since = ", ".join(firsts.split())
            self.found.append((node.lineno, f"{what} is there from {since} on only"))

    def _whole_name(self, node: ast.AST) -> str:
        """`t.data_filter` after `import tarfile as t` is tarfile.data_filter."""
        if isinstance(node, ast.Attribute):
            return f"{self._whole_name(node.value)}.{node.attr}"
        return self._modules.get(node.id, node.id) if isinstance(node, ast.Name) else ""

    def _ruled_out_below(self, test: ast.expr) -> Release:
        """N of `sys.version_info >= N`; of any other condition the oldest release."""
        if (
            isinstance(test, ast.Compare)
            and self._whole_name(test.left) == "sys.version_info"
            and isinstance(test.ops[0], ast.GtE)
            and isinstance(test.comparators[0], ast.Tuple)
        ):
            release: Release = ast.literal_eval(test.comparators[0])
            return release
        return OLDEST


def uses(program: str) -> list[tuple[int, str]]:
    """What is no program has none: a sentence that says import, a part of a program."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError):
        return []
    visitor = Uses()
    visitor.visit(tree)
    return visitor.found


def programs(path: Path) -> Iterator[tuple[int, str]]:
    """Each program in a file, with the number of lines before it."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield 0, text
    for block in MARKDOWN_PROGRAM.finditer(text) if path.suffix == ".md" else ():
        yield text.count("\n", 0, block.start(1)), block[1]


def violations(paths: list[Path]) -> list[str]:
    return [
        f"{path}:{before + line}: {what}"
        for path in paths
        for before, program in programs(path)
        for line, what in uses(program)
    ]


if __name__ == "__main__":
    paths = [Path(name) for name in sys.argv[1:]]
    problems = violations([path for path in paths if path.name != OWN_TEST])
    print("\n".join(problems) or "oldest Python: ok")
    sys.exit(bool(problems))

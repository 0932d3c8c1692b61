"""The sentences that people read: of Markdown pages, and of the messages in Python and C++ code.

python tests/prose.py docs/guide README.md    how long they are, and those that need mending
"""

import ast
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MOST_WORDS = 30  # in nine of ten sentences of a page
MOST_WORDS_OF_MESSAGE = 20  # in nine of ten messages
FEWEST_WORDS = 5  # what is shorter is the cell of a table, or a label
FRONTED = re.compile(r"^(?:[^.!?]{0,40}: )?Of (?!course)")
# Messages say so in the middle, too, and "behind" where they mean "after".
UNFIT = re.compile(rf"{FRONTED.pattern}|[:;] of (?!course)|\bbehind\b", re.IGNORECASE)
_FENCE = re.compile(r"^([ \t]*)(```|~~~).*?^[ \t]*\2[ \t]*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LABEL = re.compile(r"^\([\w-]+\)=$")
_RULE = re.compile(r"^[|:\-\s]+$")
_ITEM = re.compile(r"^\s*(?:[*+-]|\d+\.)\s+")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`+[^`]+`+")
_SQL = re.compile(r"\s*(?:WITH|SELECT|FROM|INSERT|CREATE|COPY|DROP|SET|PRAGMA) ")
_EXAMPLE = 2  # blanks before a command in a verb's help
_EXPLAINED = 6  # blanks before its explanation; the command goes on at more
_APART = re.compile(r"(?<=\S) {2,}(?=\S)")
# Tokens of C++: a comment, an include, a raw literal, a literal, a character.
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|^\#include[^\n]*"
    r'|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:[^"\\\n]|\\.)*)"'
    r"|(?<!\d)'(?:[^'\\\n]|\\.)+'",
    re.MULTILINE | re.DOTALL,
)
_ESCAPES = {r"\n": "\n", r"\t": "\t", r"\"": '"', r"\\": "\\"}
_NO_TEXT = re.compile(r"%\d|%%\w|\{s:\w")  # assembly, and what Py_BuildValue() makes
_FORMAT = re.compile(r"%[.\d]*(?:l*[dux]|z?u|s|R)")
_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)[\"')*_]*\s+(?=[\"'(*_]*[A-Z`0-9])")


class Sentence(NamedTuple):
    """A sentence with the line on which its paragraph begins."""

    line: int
    text: str

    @property
    def words(self) -> int:
        """How many; a stretch of code is one."""
        return len(re.findall(r"[\w'’%/.+-]*\w[\w'’%/.+-]*", self.text))


def of_markdown(text: str) -> list[Sentence]:
    """The sentences of paragraphs, list items and cells of tables; code is left out."""
    found: list[Sentence] = []
    for line, block in _blocks(_blanked(text)):
        plain = _CODE.sub("code", _LINK.sub(r"\1", block))
        found.extend(Sentence(line, each) for each in split(plain))
    return [each for each in found if each.words >= FEWEST_WORDS]


def split(paragraph: str) -> list[str]:
    """A paragraph's sentences, on one line each."""
    one_line = " ".join(paragraph.split())
    return [each for each in _END.split(one_line) if re.search(r"\w", each)]


def _blanked(text: str) -> str:
    """Without code and comments, and with as many lines."""
    for pattern in (_FENCE, _COMMENT):
        text = pattern.sub(lambda match: "\n" * match[0].count("\n"), text)
    return text


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    begun, lines = 0, list[str]()
    for number, line in enumerate([*text.split("\n"), ""], 1):
        table = line.lstrip().startswith("|")
        starts = table or line.startswith("#") or _ITEM.match(line) is not None
        if lines and (not line.strip() or starts or _LABEL.match(line)):
            yield begun, " ".join(lines)
            lines = []
        if table and not _RULE.match(line):
            yield from ((number, cell) for cell in re.split(r"(?<!\\)\|", line) if cell.strip())
        elif line.strip() and not table and not line.startswith("#") and not _LABEL.match(line):
            begun = begun if lines else number
            lines.append(_ITEM.sub("", line))


def of_messages(source: str) -> list[Sentence]:
    """The sentences of string constants: what a program says. A value that
    is put into a message is one word; docstrings are no messages."""
    tree = ast.parse(source)
    docstrings = {id(each) for each in _docstrings(tree)}
    inside = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    found: list[Sentence] = []
    for node in ast.walk(tree):
        if id(node) in docstrings or id(node) in inside:
            continue
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and (text := _text_of(node)):
            plain = _CODE.sub("code", text)
            sentences = [
                Sentence(node.lineno, each) for part in _parts(plain) for each in split(part)
            ]
            found.extend(each for each in sentences if each.words >= FEWEST_WORDS)
    return found


def of_literals(source: str) -> list[Sentence]:
    """The sentences of string literals in C++; adjacent ones are one. What is put into a format is
    one word. A message that is put together of literals is as many."""
    found: list[Sentence] = []
    for line, text in _literals(source):
        if _NO_TEXT.search(text):
            continue
        plain = _FORMAT.sub("x", _CODE.sub("code", text))
        sentences = [Sentence(line, each) for part in _parts(plain) for each in split(part)]
        found.extend(each for each in sentences if each.words >= FEWEST_WORDS)
    return found


def _literals(source: str) -> Iterator[tuple[int, str]]:
    """Literals with the lines on which they begin."""
    begun, end, whole = 0, 0, ""
    for token in _TOKEN.finditer(source):
        text = token["text"] if token["raw"] is None else token["raw"]
        if text is None:
            continue
        if token["raw"] is None:
            text = re.sub(r"\\.", lambda escape: _ESCAPES.get(escape[0], " "), text)
        if whole and not source[end : token.start()].strip():
            whole += text
        else:
            yield begun, whole
            begun, whole = source.count("\n", 0, token.start()) + 1, text
        end = token.end()
    yield begun, whole


def _parts(text: str) -> Iterator[str]:
    """A message's paragraphs, and the explanations of its examples. SQL is none, nor is a
    command.

        rlscope runs                              this line is left out
            all below the working directory       this one is read
        rlscope summary runs/ppo    print it      the end of this one is read
    """
    if _SQL.match(text):
        return
    paragraph = list[str]()
    for line in [*text.split("\n"), ""]:
        indent = len(line) - len(line.lstrip(" "))
        if line.strip() and indent < _EXAMPLE:
            paragraph.append(line)
            continue
        yield " ".join(paragraph)
        paragraph = []
        if indent <= _EXPLAINED:
            own = line.strip()
            yield own if indent > _EXAMPLE else " ".join(_APART.split(own)[1:])


def _text_of(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    parts = [each.value if isinstance(each, ast.Constant) else "x" for each in node.values]
    return "".join(map(str, parts))


def _docstrings(tree: ast.AST) -> Iterator[ast.expr]:
    """Those of modules, classes and functions, and of fields below which they stand."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else []:
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                yield each.value


def of_file(path: Path) -> list[Sentence]:
    """The sentences of a page, or of the messages in code."""
    readers = {".md": of_markdown, ".py": of_messages, ".cc": of_literals, ".h": of_literals}
    return readers[path.suffix](path.read_text(encoding="utf-8"))


def needs_mending(path: Path, sentence: Sentence) -> bool:
    """Whether it is too long, or in the wrong order."""
    wrong = FRONTED if path.suffix == ".md" else UNFIT
    return sentence.words > MOST_WORDS or wrong.search(sentence.text) is not None


def ninetieth(sentences: list[Sentence]) -> int:
    """The number of words that nine sentences in ten do not exceed."""
    lengths = sorted(each.words for each in sentences)
    return lengths[(len(lengths) * 9 - 1) // 10] if lengths else 0


def main(arguments: list[str]) -> None:
    for argument in arguments:
        root = Path(argument)
        patterns = ("*.md", "*.py", "*.cc", "*.h")
        found_below = sorted(each for pattern in patterns for each in root.rglob(pattern))
        files = found_below if root.is_dir() else [root]
        for path in files:
            found = of_file(path)
            if not found:
                continue
            median = statistics.median(each.words for each in found)
            print(f"{path}: {len(found)} sentences, median {median:g}, p90 {ninetieth(found)}")
            for each in found:
                if needs_mending(path, each):
                    print(f"  {path}:{each.line}: ({each.words}) {each.text[:150]}")


if __name__ == "__main__":
    main(sys.argv[1:])

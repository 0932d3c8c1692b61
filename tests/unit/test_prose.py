"""Sentences that people read are short, and name their subject first: pages, and messages."""

from __future__ import annotations

from pathlib import Path

import prose
import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for pattern in (
        "README.md",
        "CONTRIBUTING.md",
        "docs/**/*.md",
        "docker/README.md",
        "tests/benchmarks/README.md",
    )
    for path in ROOT.glob(pattern)
)
# Comments of columns are sentences of docs/reference/sql.md, and are tested there.
MODULES = sorted(
    path
    for pattern in ("rlscope/**/*.py", "analysis/**/*.py", "csrc/**/*.cc", "csrc/**/*.h")
    for path in ROOT.glob(pattern)
    if "relations/schema" not in path.as_posix()
)


# ---- pages ---------------------------------------------------------------------------------------


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_sentences_of_a_page_are_short(path: Path) -> None:
    assert prose.ninetieth(prose.of_file(path)) <= prose.MOST_WORDS


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_no_sentence_of_a_page_opens_with_of(path: Path) -> None:
    fronted = [each for each in prose.of_file(path) if prose.FRONTED.search(each.text)]
    assert fronted == []


# ---- messages ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def messages() -> list[tuple[str, prose.Sentence]]:
    found = [(_name(path), each) for path in MODULES for each in prose.of_file(path)]
    assert len(found) > 500, "the search finds them"
    return found


def test_messages_are_short(messages: list[tuple[str, prose.Sentence]]) -> None:
    sentences = [each for _, each in messages]
    assert prose.ninetieth(sentences) <= prose.MOST_WORDS_OF_MESSAGE
    assert [each for each in messages if each[1].words > prose.MOST_WORDS] == []


def test_no_message_is_in_the_wrong_order(messages: list[tuple[str, prose.Sentence]]) -> None:
    assert [each for each in messages if prose.UNFIT.search(each[1].text)] == []


# ---- what the two are measured with --------------------------------------------------------------

PAGE = """\
# Of headings nothing is said

Of a page that is long
some sentences are long. This one is not! Neither is [this `one`](of.md), e.g. Perfetto's.

```
Of code nothing is said, however long it is.
```

* An item: Of items some are fronted.
* Of course this one is not fronted.

| option | meaning |
|---|---|
| `-o` | of a cell the sentence begins in lower case |

<!-- Of comments nothing is said, either. -->
"""


def test_a_page_has_paragraphs_items_and_cells() -> None:
    found = prose.of_markdown(PAGE)
    assert [(each.line, each.words) for each in found] == [
        (3, 10), (3, 6), (10, 7), (11, 7), (15, 9),
    ]  # fmt: skip
    fronted = [each.line for each in found if prose.FRONTED.search(each.text)]
    assert fronted == [3, 10]


def test_nine_of_ten_sentences_are_counted() -> None:
    def sentences(*lengths: int) -> list[prose.Sentence]:
        return [prose.Sentence(1, "word " * length) for length in lengths]

    assert prose.ninetieth(sentences(*range(1, 11))) == 9
    assert prose.ninetieth(sentences(*[5] * 18, 31, 31)) == 5
    assert prose.ninetieth(sentences(*[5] * 8, 31, 31)) == 31
    assert prose.ninetieth([]) == 0


MODULE = '''\
"""A docstring is no message, however long it is."""
COLUMN = "of its own: one that a table has"
QUERY = """
SELECT operation, sum(duration_ns) AS of_all_of_them FROM breakdown GROUP BY ALL ORDER BY 2 DESC
"""
HELP = """\\
Lists the runs below a folder
and their headlines.

examples:
  rlscope runs --sort length --since 7d --long
      also the command of each run
  rlscope query runs/ppo "SELECT operation, sum(duration_ns)
                          FROM breakdown WHERE operation != 'update' GROUP BY ALL"
  rlscope summary runs/ppo    prints the same once more, and nothing else
"""


def told(name, count):
    """Neither is this one of a function."""
    print(f"Of {name} there are {count:,} in `the code of it`; of others there are none.")
    raise ValueError("it is not behind the one before it")
'''


def test_a_module_has_its_strings_without_sql_and_commands() -> None:
    found = prose.of_messages(MODULE)
    assert {each.text for each in found} == {
        "of its own: one that a table has",
        "Lists the runs below a folder and their headlines.",
        "also the command of each run",
        "prints the same once more, and nothing else",
        "Of x there are x in code; of others there are none.",
        "it is not behind the one before it",
    }


SOURCE = r"""
#include "of a folder/and a file of it.h"
// "Of comments nothing is said, either."
const char* Why(char c) {
  asm("mov %0, %1 for no reader at all" : "=r"(c) : "r"(c));
  if (c == '"' && at < 65'536) return "the file ends in " "the middle";  // 'why not'"
  Fail("cannot read %s at byte %u: \"%.100s\"", path, at, said);
  return "the rings are lost, "
         "and so are their records";
}
constexpr char kRaw[] = R"(A raw literal says this. It has "quotes" in it, too.)";
"""


def test_a_source_file_of_cpp_has_its_literals() -> None:
    found = [(each.line, each.text) for each in prose.of_literals(SOURCE)]
    assert found == [
        (6, "the file ends in the middle"),
        (7, 'cannot read x at byte x: "x"'),
        (8, "the rings are lost, and so are their records"),
        (11, "A raw literal says this."),
        (11, 'It has "quotes" in it, too.'),
    ]


@pytest.mark.parametrize(
    ("text", "unfit"),
    [
        ("Of the time in native calls: x.", True),
        ("of a file, .gz at the end compresses it", True),
        ("default: date; of lengths the longest is first", True),
        ("--to is not behind --from", True),
        ("Of course it is.", False),
        ("the time of a run, and half of it", False),
        ("offline: the official one", False),
    ],
)
def test_messages_in_the_wrong_order_are_found(text: str, unfit: bool) -> None:
    assert bool(prose.UNFIT.search(text)) is unfit


def test_what_needs_mending_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"{'word ' * 31}.\n\nOf pages this is one.\n\nNot this one, no."
    (tmp_path / "page.md").write_text(text)
    (tmp_path / "module.py").write_text("print('x: it is not behind the other')\n")
    prose.main([str(tmp_path)])
    printed = [line.split(": ")[0].strip() for line in capsys.readouterr().out.splitlines()]
    page, module = tmp_path / "page.md", tmp_path / "module.py"
    assert printed == [str(module), f"{module}:1", str(page), f"{page}:1", f"{page}:3"]

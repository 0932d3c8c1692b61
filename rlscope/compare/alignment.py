"""Which lines of two texts of one file are the same line.

    base                    new
    1  import torch         1  import torch        the same
    2  x = slow(batch)      2  x = fast(batch)     changed: one line became one other
    3  log(x)                                      gone
    4  step(x)              3  step(x)             the same

docs/reference/semantics.md, "Lines of two programs".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

_MOST_LINES = 4_000
"""Lines between the first and the last difference up to which all are aligned: the time that takes
grows with their square."""
_RENAMED = 0.5
"""Part of the lines that a renamed file has in common with what it was."""


@dataclass(frozen=True)
class Alignment:
    """Lines are counted from 1 on."""

    new_of: dict[int, int] = field(default_factory=dict)
    """Line of the base -> line of the new text."""
    base_of: dict[int, int] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)
    """Lines of the base that have another text."""

    def add(self, base: int, new: int, *, changed: bool = False) -> None:
        """Both are one line, unless one of them has a partner."""
        if base in self.new_of or new in self.base_of:
            return
        self.new_of[base], self.base_of[new] = new, base
        if changed:
            self.changed.add(base)


def align(base: Sequence[str], new: Sequence[str]) -> Alignment:
    """Blanks at the ends of lines do not count."""
    texts = [[line.strip() for line in each] for each in (base, new)]
    found = Alignment()
    start, tail = _ends(*texts)
    base_middle, new_middle = (each[start : len(each) - tail] for each in texts)
    for place in range(start):
        found.add(place + 1, place + 1)
    for place in range(tail):
        found.add(len(texts[0]) - place, len(texts[1]) - place)
    replaced = list(_align_middles(found, base_middle, new_middle, start))
    _add_moved(found, texts)
    for one, other in replaced:
        if texts[0][one - 1] and texts[1][other - 1]:
            found.add(one, other, changed=True)
    return found


def _ends(base: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines are equal at the begin, and of the others at the end."""
    most = min(len(base), len(new))
    start = next((place for place in range(most) if base[place] != new[place]), most)
    tail = next((n for n in range(most - start) if base[-1 - n] != new[-1 - n]), most - start)
    return start, tail


def _align_middles(
    found: Alignment, base: Sequence[str], new: Sequence[str], start: int
) -> Iterator[tuple[int, int]]:
    """Adds equal lines. Gives those of blocks that were replaced by blocks as long."""
    if max(len(base), len(new)) > _MOST_LINES:
        return
    for kind, low, high, new_low, new_high in SequenceMatcher(None, base, new).get_opcodes():
        if kind == "equal":
            for place in range(high - low):
                found.add(start + low + place + 1, start + new_low + place + 1)
        elif kind == "replace" and high - low == new_high - new_low:
            for place in range(high - low):
                yield start + low + place + 1, start + new_low + place + 1


def _add_moved(found: Alignment, texts: Sequence[Sequence[str]]) -> None:
    """Texts that both files have once."""
    once = [_once(each) for each in texts]
    for text, line in once[0].items():
        if text and text in once[1]:
            found.add(line, once[1][text])


def _once(texts: Sequence[str]) -> dict[str, int]:
    counts = Counter(texts)
    return {text: line for line, text in enumerate(texts, 1) if counts[text] == 1}


def is_renamed(base: Sequence[str], new: Sequence[str]) -> bool:
    """Whether texts of two files have so much in common that one became the other."""
    return likeness(base, new) >= _RENAMED


def likeness(base: Sequence[str], new: Sequence[str]) -> float:
    """Part of their lines that two texts have in common, wherever they stand: 0 to 1."""
    counts = [Counter(filter(None, map(str.strip, each))) for each in (base, new)]
    lines = sum(each.total() for each in counts)
    return 2 * (counts[0] & counts[1]).total() / lines if lines else 0.0

"""Lines of the programs of two sides: where a line of a run is in the programs of both.

    run, /base/train.py, 68 --> Place("train.py", 68, 64, "loss.backward()")

docs/reference/semantics.md, "Lines of two programs".
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rlscope.compare import alignment
from rlscope.compare.alignment import Alignment
from rlscope.compare.measured import Measured
from rlscope.report import source_names

Text = tuple[str, ...]

_MOST_RENAMED = 30
"""Files of a side without a partner among which renamed ones are looked for."""


@dataclass(frozen=True)
class Place:
    """One line of the programs."""

    file: str
    """Its short name in the base; of a file that only the new runs have, in these."""
    new_file: str
    """The same in the new runs: another one if the file was renamed."""
    base_line: int | None
    """None: the base lacks it, or it is not known."""
    new_line: int | None
    text: str | None = None
    """That of the new program if it has the line; None: it is not known."""
    is_by_text: bool = False
    """Whether both programs were searched for it. Else it has its number in both, or the other
    one has no such file."""
    is_changed: bool = False
    """Whether the base has another text there."""

    @property
    def name(self) -> str:
        """ "train.py:68 -> 64", and without the second number where it is the same. A line that the
        base lacks is "train.py: -> 64"."""
        base, new = self.base_line, self.new_line
        if self.is_added:
            return f"{self.new_file}: -> {new}"
        if base is None or new is None:
            file = self.new_file if base is None else self.file
            return f"{file}:{new if base is None else base}"
        if self.new_file != self.file:
            return f"{self.file}:{base} -> {self.new_file}:{new}"
        return f"{self.file}:{base}" + (f" -> {new}" if base != new else "")

    @property
    def is_gone(self) -> bool:
        """Whether the new program is known to lack it."""
        return self.is_by_text and self.new_line is None

    @property
    def is_added(self) -> bool:
        """Whether the base is known to lack it."""
        return self.is_by_text and self.base_line is None


@dataclass(frozen=True)
class _Pair:
    """One file of both sides."""

    base: str | None
    """Path in the first run that has it; None: the side lacks it."""
    new: str | None
    texts: tuple[Text | None, Text | None] = (None, None)
    """None: not kept in some run of the side."""
    lines: Alignment | None = None
    """None: lines are the same by their numbers."""
    differing: Sequence[str] = ()
    """Sides whose runs have several texts: nothing is said of its lines."""


class _Side:
    """The files of some runs: each by its path in the first run that has it."""

    def __init__(self, runs: Sequence[Measured]) -> None:
        self.paths: list[str] = []
        self._first: dict[tuple[int, str], str] = {}
        self._texts: dict[str, list[Text | None]] = {}
        for run in runs:
            paths = list(dict.fromkeys(_files(run)))
            known = pairs(self.paths, paths)
            first_of = {new: base for base, new in known.items()}
            for path in paths:
                first = first_of.get(path, path)
                self._first[id(run), path] = first
                self._texts.setdefault(first, []).append(run.sources.get(path))
            self.paths += [path for path in paths if path not in first_of]

    def first(self, run: Measured, path: str) -> str | None:
        return self._first.get((id(run), path))

    def text(self, path: str | None) -> Text | None:
        """None: some run that has lines of the file does not have it."""
        texts = self._texts.get(path or "", [])
        return None if not texts or None in texts else texts[0]

    def differs(self, path: str | None) -> bool:
        return len({each for each in self._texts.get(path or "", []) if each is not None}) > 1

    @cached_property
    def names(self) -> dict[str, str]:
        return source_names.short(self.paths)


class Sources:
    """The files of both sides."""

    def __init__(self, base: Sequence[Measured], new: Sequence[Measured]) -> None:
        self._sides = (_Side(base), _Side(new))
        self._of_base = {id(run) for run in base}
        self._pairs = list(self._paired())
        self._by_path = [
            {path: pair for pair in self._pairs if (path := (pair.base, pair.new)[side])}
            for side in range(2)
        ]

    def place(self, run: Measured, file: str, line: int) -> Place | None:
        """None: nothing can be said of lines of this file."""
        pair = self._pair(run, file)
        if pair is None or pair.differing:
            return None
        is_base = id(run) in self._of_base
        if pair.lines is None:
            numbers = (line if pair.base else None, line if pair.new else None)
            text = None if None not in numbers else _line(pair.texts[0 if is_base else 1], line)
            return Place(*self._names(pair), *numbers, text)
        other = (pair.lines.new_of if is_base else pair.lines.base_of).get(line)
        base, new = (line, other) if is_base else (other, line)
        place = 1 if new is not None else 0
        text = _line(pair.texts[place], (base, new)[place])
        return Place(*self._names(pair), base, new, text, True, base in pair.lines.changed)

    def name(self, run: Measured, file: str) -> str:
        """The same for one file of both sides."""
        pair = self._pair(run, file)
        return os.path.basename(file) if pair is None else self._names(pair)[0]

    def warnings(self) -> Iterator[str]:
        """Files whose lines are not compared, or by their numbers only."""
        for pair in self._pairs:
            name = self._names(pair)[0]
            if pair.differing:
                sides = " and ".join(pair.differing)
                yield f"{name} differs between the runs of {sides}: its lines are not compared."
        numbered = [
            self._names(pair)[0]
            for pair in self._pairs
            if pair.base and pair.new and pair.lines is None and not pair.differing
        ]
        if numbered:
            yield (
                f"Not every run kept the text of {', '.join(sorted(numbered))}: lines are compared "
                "by their numbers."
            )

    def _pair(self, run: Measured, file: str) -> _Pair | None:
        side = 0 if id(run) in self._of_base else 1
        first = self._sides[side].first(run, file)
        return None if first is None else self._by_path[side].get(first)

    def _names(self, pair: _Pair) -> tuple[str, str]:
        base, new = (
            None if path is None else side.names[path]
            for side, path in zip(self._sides, (pair.base, pair.new), strict=True)
        )
        if base is None or new is None:
            return (base or new or "",) * 2
        # Another folder is no other name.
        return (base, base) if os.path.basename(base) == os.path.basename(new) else (base, new)

    def _paired(self) -> Iterator[_Pair]:
        base, new = self._sides
        found = pairs(base.paths, new.paths)
        left = [path for path in base.paths if path not in found]
        added = [path for path in new.paths if path not in found.values()]
        found |= self._renamed(left, added)
        for one, other in found.items():
            yield self._pair_of(one, other)
        for path in left:
            if path not in found:
                yield _Pair(path, None, (base.text(path), None), differing=_where(base, path, 0))
        for path in added:
            if path not in found.values():
                yield _Pair(None, path, (None, new.text(path)), differing=_where(new, path, 1))

    def _renamed(self, left: Sequence[str], added: Sequence[str]) -> dict[str, str]:
        """Files that are most like each other, one by one."""
        base, new = self._sides
        likeness = [
            (-alignment.likeness(text, other), one, two)
            for one in left[:_MOST_RENAMED]
            for two in added[:_MOST_RENAMED]
            if (text := base.text(one))
            and (other := new.text(two))
            and alignment.is_renamed(text, other)
        ]
        return _one_to_one((one, two) for _, one, two in sorted(likeness))

    def _pair_of(self, one: str, other: str) -> _Pair:
        base, new = self._sides
        differing = [*_where(base, one, 0), *_where(new, other, 1)]
        texts = (base.text(one), new.text(other))
        if differing or texts[0] is None or texts[1] is None:
            return _Pair(one, other, texts, None, differing)
        return _Pair(one, other, texts, alignment.align(texts[0], texts[1]))


def _where(side: _Side, path: str, place: int) -> list[str]:
    """The side, if its runs have several texts of a file."""
    return [("the base", "the new side")[place]] if side.differs(path) else []


def _files(run: Measured) -> Iterator[str]:
    yield from run.sources
    yield from (row["file"] for row in run.lines)


def _line(text: Text | None, number: int | None) -> str | None:
    """None: there is no such line."""
    if text is None or number is None or not 0 < number <= len(text):
        return None
    return text[number - 1].strip()


def pairs(base: Collection[str], new: Collection[str]) -> dict[str, str]:
    """Paths of one file: they end alike, and no other pair of theirs has more in common.

    >>> pairs(["/a/train.py", "/a/x/net.py"], ["/b/train.py", "/b/x/net.py", "/b/y/net.py"])
    {'/a/x/net.py': '/b/x/net.py', '/a/train.py': '/b/train.py'}
    """
    by_name: dict[str, list[str]] = {}
    for path in new:
        by_name.setdefault(os.path.basename(path), []).append(path)
    found = [
        (one != other, -_common(one, other), one, other)
        for one in base
        for other in by_name.get(os.path.basename(one), [])
    ]
    return _one_to_one((one, other) for *_, one, other in sorted(found))


def _one_to_one(ordered: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    taken = set()
    for one, other in ordered:
        if one not in found and other not in taken:
            found[one] = other
            taken.add(other)
    return found


def _common(one: str, other: str) -> int:
    """Parts at the end that two paths have in common."""
    parts = [reversed(path.split("/")) for path in (one, other)]
    count = 0
    for first, second in zip(*parts, strict=False):
        if first != second:
            break
        count += 1
    return count

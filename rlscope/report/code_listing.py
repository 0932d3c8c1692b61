"""Source text as a part of a page: its lines, and the data from which templates/code.js fills in
their times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlscope.report import units
from rlscope.report.markup import escape, json_element, prose, select
from rlscope.report.panel import Code, CodeFile, CodeLine

_OPEN = 3
"""Files whose lines are shown at once."""
_COLUMNS = {
    "own time": "number wide",
    "share": "number",
    "layers": "",
    "total": "number wide",
    "waiting": "number wide",
    "GPU": "number wide",
    "backward": "number wide",
    "line": "number",
    "source": "",
}
_NARROW = 2
"""Share and layers, which stand after the first column."""
_AFTER_TIMES = 2


def render(code: Code) -> str:
    """The element."""
    absent = {"GPU": not code.has_gpu, "backward": not code.backward_ns}
    columns = [each for each in _COLUMNS if not absent.get(each)]
    files = "\n".join(
        _file(code.key, file, columns, is_open=place < _OPEN)
        for place, file in enumerate(code.files)
    )
    return "\n".join(
        [
            f'<div class="code" id="{code.key}">',
            f'<div class="head"><ul class="legend"></ul>{select(code.choices)}</div>',
            '<ol class="jump" aria-label="Hottest lines"></ol>',
            files,
            json_element(_data(code)),
            "</div>",
        ]
    )


def _head(columns: Sequence[str]) -> str:
    cells = "".join(
        f'<th class="{_COLUMNS[name]}">{name}</th>' if _COLUMNS[name] else f"<th>{name}</th>"
        for name in columns
    )
    return f"<thead><tr>{cells}</tr></thead>"


def _data(code: Code) -> dict[str, object]:
    return {
        "lines": [units.visible(each) for each in code.lines],
        "choices": [*code.choices.values()],
        "layers": code.layers,
        "waiting": code.waiting,
        "gpu": code.has_gpu,
        "backward": code.backward_ns,
        "parts": code.parts,
        "whole_ns": code.whole_ns,
    }


def _file(key: str, file: CodeFile, columns: Sequence[str], *, is_open: bool) -> str:
    rows = "\n".join(_rows(key, file, len(columns) - _AFTER_TIMES))
    shown = " open" if is_open else ""
    return (
        f'<details{shown}><summary>{prose(file.title)}</summary>\n<p class="path">'
        f'{escape(file.path)}</p>\n<div class="scroll" tabindex="0" role="group" '
        f'aria-label="{escape(file.title)}"><table>{_head(columns)}\n<tbody>\n{rows}\n'
        "</tbody></table></div></details>"
    )


def _rows(key: str, file: CodeFile, times: int) -> Iterator[str]:
    """The lines, and a row for each stretch that is left out; `times`: how many cells have some."""
    before = 0
    for line in file.lines:
        yield from _fold(before + 1, line.number - 1, times)
        yield _line(key, line, times)
        before = line.number
    yield from _fold(before + 1, file.length, times)


def _no_times(times: int) -> str:
    wide = times - _NARROW - 1
    return f'<td class="wide"></td><td colspan="2"></td><td colspan="{wide}" class="wide"></td>'


def _fold(first: int, last: int, times: int) -> Iterator[str]:
    if first <= last:
        lines = f"line {first}" if first == last else f"lines {first} to {last}"
        yield f'<tr class="fold">{_no_times(times)}<td></td><td>… {lines}</td></tr>'


def _line(key: str, line: CodeLine, times: int) -> str:
    number = f'<th scope="row" class="number">{line.number}</th>'
    text = f"<td><code>{escape(line.text)}</code></td>"
    if line.place is None:
        return f"<tr>{_no_times(times)}{number}{text}</tr>"
    cells = '<td class="number wide"></td><td class="number"></td><td class="layers"></td>'
    cells += '<td class="number wide"></td>' * (times - _NARROW - 1)
    return f'<tr id="{key}-{line.place}" data-line="{line.place}">{cells}{number}{text}</tr>'

"""A flame graph as a part of a page: the data from which templates/flame.js draws it."""

from __future__ import annotations

from collections.abc import Iterable

from rlscope.report import units
from rlscope.report.markup import escape, json_element, select
from rlscope.report.panel import Flame


def render(flame: Flame) -> str:
    """The element."""
    key = flame.key
    return (
        f'<div class="flame" id="{key}">\n<div class="head"><ul class="legend"></ul>'
        f'<label>Search <input type="search" autocomplete="off"></label>'
        f'{select(flame.choices)}<button type="button">Zoom out</button></div>\n'
        f'<p class="found" aria-live="polite"></p>\n'
        f'<div class="frames" role="tree" aria-label="{escape(flame.title)}"></div>\n'
        f'<p class="chosen" aria-live="polite"></p>\n{json_element(_data(flame))}\n</div>'
    )


def _data(flame: Flame) -> dict[str, object]:
    texts = _Texts()
    frames = [
        [-1 if frame.caller is None else frame.caller, *texts.places(frame.name, frame.place)]
        for frame in flame.frames
    ]
    return {
        "texts": texts.all(),
        "frames": frames,
        "choices": [*flame.choices.values()],
        "layers": flame.layers,
        "parts": flame.parts,
    }


class _Texts:
    """Texts, each once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def places(self, *texts: str) -> Iterable[int]:
        return [self._places.setdefault(units.visible(text), len(self._places)) for text in texts]

    def all(self) -> list[str]:
        return list(self._places)

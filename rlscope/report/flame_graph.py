"""A flame graph as a part of a page: the data from which templates/flame.js draws it."""

from __future__ import annotations

from collections.abc import Iterable

from rlscope.report import units
from rlscope.report.markup import escape, json_element, select
from rlscope.report.panel import Flame


def render(flame: Flame) -> str:
    """The element."""
    key = flame.key
    search = '<label>Search <input type="search" autocomplete="off"></label>'
    choice = select(flame.choices)
    zoom = '<button type="button">Zoom out</button>'
    titles = list(flame.measures.values())
    tools = f"{_switch(flame)}{search}{choice}{zoom}"
    return "\n".join(
        [
            f'<div class="flame" id="{key}">',
            f'<div class="head"><ul class="legend"></ul>{tools}</div>',
            '<p class="found" aria-live="polite"></p>',
            f'<div class="frames" role="tree" aria-label="{escape(titles[0])}"></div>',
            '<p class="chosen" aria-live="polite"></p>',
            json_element(_data(flame)),
            "</div>",
        ]
    )


def _switch(flame: Flame) -> str:
    """What the reader chooses the measure with."""
    if len(flame.measures) == 1:
        return ""
    buttons = (
        f'<label><input type="radio" name="{flame.key}-width" autocomplete="off"'
        f"{' checked' if place == 0 else ''}> {escape(name)}</label>"
        for place, name in enumerate(flame.measures)
    )
    return f"<fieldset><legend>Width</legend>{' '.join(buttons)}</fieldset>"


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
        "measures": [*flame.measures.items()],
        "parts": flame.parts,
        "colours": flame.colours,
    }


class _Texts:
    """Texts, each once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def places(self, *texts: str) -> Iterable[int]:
        return [self._places.setdefault(units.visible(text), len(self._places)) for text in texts]

    def all(self) -> list[str]:
        return list(self._places)

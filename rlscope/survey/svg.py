"""Horizontal stacked bars as SVG, for pages that have no script."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from rlscope.report import units
from rlscope.survey.pictures import Picture

# Pixels.
_WIDTH, _NAMES, _ENDS = 860, 270, 130
_BAR, _GAP, _TOP, _BOTTOM = 18, 8, 56, 40
_LEGEND_STEP = 110
_LABEL = 38
_TICKS = 4


def bars(picture: Picture) -> str:
    """The file: title, legend, bars with their names and ends, axis. Same input, same bytes."""
    height = _TOP + len(picture.names) * (_BAR + _GAP) + _BOTTOM
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>{_text(picture.title)}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="8" y="18" font-size="14" font-weight="bold">{_text(picture.title)}</text>',
        *_legend(picture),
        *_axis(picture, height),
        *_rows(picture),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    return escape(units.visible(text))


def _legend(picture: Picture) -> Iterator[str]:
    for place, part in enumerate(picture.parts):
        x = _NAMES + place * _LEGEND_STEP
        if x + _LEGEND_STEP > _WIDTH + _LEGEND_STEP / 2:
            return
        yield f'<rect x="{x}" y="30" width="12" height="12" fill="{part.colour}"/>'
        yield f'<text x="{x + 17}" y="40">{_text(part.name)}</text>'


def _longest(picture: Picture) -> float:
    return (
        max(
            (
                sum(part.values[place] for part in picture.parts)
                for place in range(len(picture.names))
            ),
            default=0.0,
        )
        or 1.0
    )


def _scale(picture: Picture) -> float:
    return (_WIDTH - _NAMES - _ENDS) / _longest(picture)


def _axis(picture: Picture, height: int) -> Iterator[str]:
    bottom = height - _BOTTOM
    for tick in range(_TICKS + 1):
        value = _longest(picture) * tick / _TICKS
        x = _number(_NAMES + value * _scale(picture))
        yield f'<line x1="{x}" x2="{x}" y1="{_TOP - 4}" y2="{bottom}" stroke="#d9dee4"/>'
        yield (
            f'<text x="{x}" y="{bottom + 15}" text-anchor="middle" fill="#59626d">'
            f"{_text(units.digits(value))}</text>"
        )
    yield (f'<text x="{_NAMES}" y="{bottom + 32}" fill="#59626d">{_text(picture.axis)}</text>')


def _rows(picture: Picture) -> Iterator[str]:
    scale = _scale(picture)
    for place, name in enumerate(picture.names):
        y = _TOP + place * (_BAR + _GAP)
        shown = _text(units.label(name, _LABEL))
        yield f'<text x="{_NAMES - 8}" y="{y + 13}" text-anchor="end">{shown}</text>'
        x = float(_NAMES)
        for part in picture.parts:
            width = part.values[place] * scale
            if width:
                yield (
                    f'<rect x="{_number(x)}" y="{y}" width="{_number(width)}" height="{_BAR}" '
                    f'fill="{part.colour}"><title>{_text(part.name)}</title></rect>'
                )
            x += width
        end = _text(picture.ends[place])
        yield f'<text x="{_number(x + 6)}" y="{y + 13}" fill="#59626d">{end}</text>'


def _number(value: float) -> str:
    return f"{value:.1f}"

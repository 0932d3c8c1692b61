"""Horizontal stacked bars as SVG, for pages that have no script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from rlscope.report import units
from rlscope.report.figures.amounts import LINE, Interval, Part, reaches

# Pixels.
_WIDTH, _NAMES, _ENDS = 860, 270, 130
_BAR, _GAP, _TOP, _BOTTOM = 18, 8, 56, 40
_LEGEND_STEP, _LEGEND_LINE, _LEGEND_COLUMNS = 110, 18, 5
_LABEL = 38
_CAP = 8
_TICKS = 4


@dataclass(frozen=True)
class _Picture:
    title: str
    axis: str
    names: Sequence[str]
    parts: Sequence[Part]
    ends: Sequence[str]
    intervals: Sequence[Interval]


def bars(
    title: str,
    axis: str,
    names: Sequence[str],
    parts: Sequence[Part],
    ends: Sequence[str],
    intervals: Sequence[Interval] = (),
) -> str:
    """The file: title, legend, bars with their names and ends, axis. Same input, same bytes.

    Args:
        axis: what a bar's length is, with its unit.
        names: of the bars, from the top.
        parts: each with a value for every bar.
        ends: what is written at the end of each bar.
        intervals: one of each bar, drawn as a line.
    """
    picture = _Picture(title, axis, names, parts, ends, intervals)
    height = _top(picture) + len(picture.names) * (_BAR + _GAP) + _BOTTOM
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>{_text(picture.title)}</title>",
        *_patterns(picture),
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="8" y="18" font-size="14" font-weight="bold">{_text(picture.title)}</text>',
        *_legend(picture),
        *_axis(picture, height),
        *_rows(picture),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _patterns(picture: _Picture) -> Iterator[str]:
    """Stripes of each colour that needs them; the same colour has the same name in every figure,
    so that several may stand on one page."""
    for colour in sorted({part.colour for part in picture.parts if part.hatched}):
        yield (
            f'<defs><pattern id="{_pattern(colour)}" width="6" height="6" '
            'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            f'<rect width="6" height="6" fill="{colour}"/>'
            '<rect width="2" height="6" fill="#ffffff"/></pattern></defs>'
        )


def _pattern(colour: str) -> str:
    return f"rlscope-stripes-{colour.removeprefix('#')}"


def _fill(part: Part) -> str:
    return f"url(#{_pattern(part.colour)})" if part.hatched else part.colour


def _text(text: str) -> str:
    return escape(units.visible(text))


def _legend(picture: _Picture) -> Iterator[str]:
    for place, part in enumerate(picture.parts):
        line, column = divmod(place, _LEGEND_COLUMNS)
        x, y = _NAMES + column * _LEGEND_STEP, 30 + line * _LEGEND_LINE
        yield f'<rect x="{x}" y="{y}" width="12" height="12" fill="{_fill(part)}"/>'
        yield f'<text x="{x + 17}" y="{y + 10}">{_text(part.name)}</text>'


def _top(picture: _Picture) -> int:
    """Where the bars begin, below title and legend."""
    return _TOP + _LEGEND_LINE * (max(0, len(picture.parts) - 1) // _LEGEND_COLUMNS)


def _longest(picture: _Picture) -> float:
    return max(_reaches(picture), default=0.0) or 1.0


def _reaches(picture: _Picture) -> list[float]:
    return reaches(picture.parts, picture.intervals, len(picture.names))


def _scale(picture: _Picture) -> float:
    return (_WIDTH - _NAMES - _ENDS) / _longest(picture)


def _axis(picture: _Picture, height: int) -> Iterator[str]:
    bottom = height - _BOTTOM
    for tick in range(_TICKS + 1):
        value = _longest(picture) * tick / _TICKS
        x = _number(_NAMES + value * _scale(picture))
        yield f'<line x1="{x}" x2="{x}" y1="{_top(picture) - 4}" y2="{bottom}" stroke="#d9dee4"/>'
        yield (
            f'<text x="{x}" y="{bottom + 15}" text-anchor="middle" fill="#59626d">'
            f"{_text(units.digits(value))}</text>"
        )
    yield (f'<text x="{_NAMES}" y="{bottom + 32}" fill="#59626d">{_text(picture.axis)}</text>')


def _rows(picture: _Picture) -> Iterator[str]:
    scale, far = _scale(picture), _reaches(picture)
    for place, name in enumerate(picture.names):
        y = _top(picture) + place * (_BAR + _GAP)
        shown = _text(units.label(name, _LABEL))
        yield f'<text x="{_NAMES - 8}" y="{y + 13}" text-anchor="end">{shown}</text>'
        x = float(_NAMES)
        for part in picture.parts:
            width = part.values[place] * scale
            if width:
                yield (
                    f'<rect x="{_number(x)}" y="{y}" width="{_number(width)}" height="{_BAR}" '
                    f'fill="{_fill(part)}"><title>{_text(part.name)}</title></rect>'
                )
            x += width
        if place < len(picture.intervals) and (line := picture.intervals[place]):
            yield _line(_NAMES + line[0] * scale, _NAMES + line[1] * scale, y + _BAR / 2)
        x = _NAMES + far[place] * scale
        end = _text(picture.ends[place])
        yield f'<text x="{_number(x + 6)}" y="{y + 13}" fill="#59626d">{end}</text>'


def _line(left: float, right: float, y: float) -> str:
    """An interval, with a stroke at each end."""
    low, high, half = _number(left), _number(right), _CAP / 2
    path = f"M{low} {y:g}H{high}M{low} {y - half:g}v{_CAP}M{high} {y - half:g}v{_CAP}"
    return f'<path d="{path}" stroke="{LINE}" fill="none"/>'


def _number(value: float) -> str:
    return f"{value:.1f}"

"""Plots as inline SVG text: bars, histogram, heat map, scatter. Colours are CSS variables of the page, so that they follow its theme.

Every mark has a <title>, so that its value is told on hovering and to screen readers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

BINS = 24
WIDTH = 812.0
"""Pixels: that of a card of the page, so that text keeps its size."""
SERIES = 6
"""Colours there are; series beyond them share the grey one."""
_CHAR = 6.6
"""Width of a character of 12 px text, in px; labels are cut to fit."""


def _svg(width: float, height: float, label: str, marks: Sequence[str]) -> str:
    body = "\n".join(marks)
    return f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label)}" style="max-width:{width:g}px">\n{body}\n</svg>'


def _text(x: float, y: float, said: str, *, anchor: str = "start", kind: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(said)}</text>'


def _rect(x: float, y: float, width: float, height: float, title: str, *, style: str = "", kind: str = "mark") -> str:
    shape = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2"'
    return f'<rect {shape} class="{kind}"{f" style={chr(34)}{style}{chr(34)}" if style else ""}><title>{escape(title)}</title></rect>'


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"


def bars(counts: Mapping[str, int], *, label: str, most: int = 16) -> str:
    """Horizontal bars, longest first, each with its count and share; what is beyond `most` becomes one bar."""
    items = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if len(items) > most:
        rest = items[most - 1 :]
        items = [*items[: most - 1], (f"{len(rest)} others", sum(count for _, count in rest))]
    total, top = sum(counts.values()), max((count for _, count in items), default=1)
    left, width, line = 16 + _CHAR * min(26, max((len(name) for name, _ in items), default=1)), WIDTH, 26
    room = width - left - 100
    marks = []
    for index, (name, count) in enumerate(items):
        y = index * line
        marks.append(_text(left - 10, y + 16, _cut(name, 26), anchor="end"))
        marks.append(
            _rect(left, y + 4, max(1.5, room * count / top), line - 8, f"{name}: {count:,} ({count / total:.1%})")
        )
        marks.append(_text(left + room * count / top + 8, y + 16, f"{count:,} · {count / total:.0%}", kind="soft"))
    return _svg(width, max(1, len(items)) * line, label, marks)


def histogram(lengths: Mapping[int, int], *, label: str, axis: str) -> str:
    """Upright bars over whole numbers; the longest one percent goes into a last bar of its own, lest it flatten the rest."""
    step, last, counts = _binned(lengths)
    width, height, left, bottom = WIDTH, 240.0, 46.0, 40.0
    room, tall, top = (width - left - 8) / len(counts), height - bottom - 16, max(counts)
    marks = []
    for tick in _ticks(top):
        y = 16 + tall * (1 - tick / top)
        marks += [
            f'<line x1="{left}" x2="{width - 8}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>',
            _text(left - 8, y + 4, f"{tick:,}", anchor="end", kind="soft"),
        ]
    every = max(1, math.ceil(len(counts) / 12))
    for index, count in enumerate(counts):
        begin = index * step + 1
        overflow = last and index == len(counts) - 1
        span = f"{begin} or more" if overflow else f"{begin}" if step == 1 else f"{begin}-{begin + step - 1}"
        x, high = left + index * room, tall * count / top
        if count:
            thick = max(1.0, min(room - 2, 56.0))
            title = f"{span} {axis}: {count:,}"
            marks.append(_rect(x + (room - thick) / 2, 16 + tall - high, thick, high, title))
        if index % every == 0 or overflow:
            marks.append(
                _text(
                    x + room / 2, 16 + tall + 16, f"{begin}+" if overflow else f"{begin}", anchor="middle", kind="soft"
                )
            )
    marks.append(_text(left + (width - left) / 2, height - 4, axis, anchor="middle", kind="soft"))
    return _svg(width, height, label, marks)


def _binned(lengths: Mapping[int, int]) -> tuple[int, bool, list[int]]:
    """(bin width, whether the last bin is open, counts); the first bin begins at 1."""
    total, seen, edge = sum(lengths.values()), 0, 1
    for length in sorted(lengths):
        seen += lengths[length]
        edge = length
        if seen >= 0.99 * total:
            break
    step = max(1, math.ceil(edge / BINS))
    closed = math.ceil(edge / step)
    is_open = max(lengths) > closed * step
    counts = [0] * (closed + is_open)
    for length, count in lengths.items():
        counts[min(len(counts) - 1, max(0, (length - 1) // step))] += count
    return step, is_open, counts


def _ticks(top: int) -> list[int]:
    """Up to five round numbers from 0 to `top`."""
    raw = top / 4
    power = 10 ** math.floor(math.log10(raw)) if raw >= 1 else 1
    step = max(1, next(int(power * factor) for factor in (1, 2, 5, 10) if power * factor >= raw))
    return list(range(0, top + 1, step))


def heatmap(cells: Mapping[tuple[str, str], int], *, label: str, rows: Sequence[str], columns: Sequence[str]) -> str:
    """Counts by row and column: the more, the stronger the colour; a cell without rows stays a faint outline."""
    left = 20 + _CHAR * min(26, max(map(len, rows)))
    wide, high, top = min(72.0, max(34.0, (WIDTH - left) / len(columns))), 30.0, 26.0
    most = max(cells.values(), default=1)
    marks = [
        _text(left + (i + 0.5) * wide, top - 8, column, anchor="middle", kind="soft")
        for i, column in enumerate(columns)
    ]
    for j, row in enumerate(rows):
        y = top + j * high
        marks.append(_text(left - 10, y + 20, _cut(row, 26), anchor="end"))
        for i, column in enumerate(columns):
            count = cells.get((row, column), 0)
            x = left + i * wide
            # Counts of cells span magnitudes: the root keeps the rare ones apart from the empty ones.
            share = math.sqrt(count / most)
            style = f"fill-opacity:{0.12 + 0.88 * share:.2f}"
            title = f"{row}, {column}: {count:,} rows"
            if not count:
                marks.append(_rect(x + 1.5, y + 1.5, wide - 3, high - 3, title, kind="empty"))
                continue
            marks.append(_rect(x + 1.5, y + 1.5, wide - 3, high - 3, title, style=style))
            said = f"{count:,}" if count < 10_000 else f"{count / 1000:.0f}k"
            marks.append(_text(x + wide / 2, y + 20, said, anchor="middle", kind="on" if share > 0.75 else ""))
    return _svg(left + wide * len(columns) + 4, top + high * len(rows) + 4, label, marks)


@dataclass(frozen=True)
class Point:
    """One dot of a scatter: where (any unit), which series, and what it says."""

    x: float
    y: float
    series: int
    said: str
    foreign: bool = False
    """Drawn as a ring: it is of another dataset."""


def scatter(points: Sequence[Point], *, label: str) -> str:
    """Dots without axes: only their neighbourhood means something. Other datasets lie below, as rings."""
    width, height, margin = WIDTH, 520.0, 14.0
    x0, x1 = min(point.x for point in points), max(point.x for point in points)
    y0, y1 = min(point.y for point in points), max(point.y for point in points)
    radius = 4.5 if len(points) < 300 else 3.2 if len(points) < 1200 else 2.4
    marks = [f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" class="frame"/>']
    for point in sorted(points, key=lambda item: not item.foreign):
        x = margin + (width - 2 * margin) * ((point.x - x0) / (x1 - x0) if x1 > x0 else 0.5)
        y = margin + (height - 2 * margin) * ((point.y - y0) / (y1 - y0) if y1 > y0 else 0.5)
        kind = f"{'ring' if point.foreign else 'dot'} s{min(point.series, SERIES)}"
        title = f"<title>{escape(_cut(point.said, 160))}</title>"
        marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{kind}">{title}</circle>')
    return _svg(width, height, label, marks)


def legend(names: Sequence[tuple[str, bool]]) -> str:
    """(name, foreign) of the series in order."""
    items = []
    for index, (name, foreign) in enumerate(names):
        circle = f'<circle cx="7" cy="7" r="5" class="{"ring" if foreign else "dot"} s{min(index, SERIES)}"/>'
        items.append(f'<span><svg width="14" height="14" aria-hidden="true">{circle}</svg>{escape(name)}</span>')
    return f'<p class="legend">{"".join(items)}</p>'

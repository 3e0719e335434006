"""What an editor adds to a recording: title cards, slides, filmed advertisements and music, as inputs and filters of ffmpeg.

A show covers the whole picture from t_start to t_end (seconds): `title` and `lines` on a plain `colour`, or a `film`, which is moving
colour with a camera's noise. The product never imports this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
_CHORD = "+".join(
    f"0.05*sin(2*PI*{tone}*t)*(0.6+0.4*sin(2*PI*{beat}*t))" for tone, beat in ((220, 2), (277, 1), (330, 3))
)


class Edit(NamedTuple):
    """Further inputs, the filters over them, and the label of the picture that comes out."""

    inputs: list[str]
    filters: list[str]
    label: str


def music(seconds: float) -> list[str]:
    """Arguments of an input that sounds like simple music for so long."""
    return ["-f", "lavfi", "-t", f"{seconds:.3f}", "-i", f"aevalsrc={_CHORD}:s=22050"]


def picture(shows: Sequence[dict[str, Any]], size: tuple[int, int], first: int, folder: Path) -> Edit:
    """The shows laid over input 0, `size` pixels (width, height); `first` is the number of the next input, `folder` takes texts."""
    inputs: list[str] = []
    filters: list[str] = []
    label = "0:v"
    for number, show in enumerate(shows):
        start, end = show["t_start"], show["t_end"]
        when = f"enable='between(t,{start:.3f},{end:.3f})'"
        if show.get("film"):
            source = f"gradients=size={size[0]}x{size[1]}:rate=15:speed=0.02,noise=alls=6:allf=t,format=yuv420p"
            inputs += ["-f", "lavfi", "-t", f"{end - start:.3f}", "-i", source]
            filters.append(f"[{first + inputs.count('-i') - 1}:v]setpts=PTS+{start:.3f}/TB[film{number}]")
            filters.append(f"[{label}][film{number}]overlay=eof_action=pass:{when}[show{number}]")
        else:
            parts = [f"drawbox=w=iw:h=ih:t=fill:color={show.get('colour', '#203040')}:{when}"]
            for row, text in enumerate([show["title"], *show.get("lines", [])]):
                file = folder / f"show{number}-{row}.txt"
                file.write_text(text, encoding="utf-8")
                look = f"fontfile={FONT}:fontcolor=white:fontsize=h/{14 if row == 0 else 22}:x=w/8:y=h*{0.22 + 0.13 * row:.2f}"
                parts.append(f"drawtext=textfile={file}:{look}:{when}")
            filters.append(f"[{label}]{','.join(parts)}[show{number}]")
        label = f"show{number}"
    return Edit(inputs, filters, label)

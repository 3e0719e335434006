"""Reads an X session's windows from what wmctrl, xdotool and xwininfo print."""

from __future__ import annotations

import re

from cuamaster.records.trajectory import Window

_TREE_LINE = re.compile(r"^(\s*)(0x[0-9a-f]+) .*?(\d+)x(\d+)[+-]-?\d+[+-]-?\d+\s+\+(-?\d+)\+(-?\d+)\s*$")


def parse_windows(text: str) -> tuple[Window | None, tuple[Window, ...]]:
    """(active window, all windows bottom to top of wmctrl's list) from the sections `active`, `windows`, `tree`.

    Geometry is the outer frame in pixels. What is shown on all desktops (background, panels) is left out.
    """
    sections = dict(re.findall(r"^== (\w+)\n(.*?)(?=^== |\Z)", text, re.MULTILINE | re.DOTALL))
    frames = _frames(sections.get("tree", ""))
    active_text = sections.get("active", "").strip()
    active_id = int(active_text) if active_text.isdigit() else 0
    active: Window | None = None
    windows = []
    for line in sections.get("windows", "").splitlines():
        fields = line.split(None, 4)  # id, desktop, instance.class, host, title
        if len(fields) < 4 or fields[1] == "-1":
            continue
        number = int(fields[0], 16)
        x, y, width, height = frames.get(number, (0, 0, 0, 0))
        title = fields[4] if len(fields) > 4 else ""
        window = Window(app=_app(fields[2]), title=title, x=x, y=y, width=width, height=height)
        windows.append(window)
        if number == active_id:
            active = window
    return active, tuple(windows)


def _frames(tree: str) -> dict[int, tuple[int, int, int, int]]:
    """Window id -> geometry of the top-level window it lives in (x, y, width, height)."""
    found: dict[int, tuple[int, int, int, int]] = {}
    top_indent: int | None = None
    top = (0, 0, 0, 0)
    for line in tree.splitlines():
        match = _TREE_LINE.match(line)
        if match is None:
            continue
        indent = len(match.group(1))
        if top_indent is None:
            top_indent = indent
        if indent <= top_indent:
            width, height, x, y = (int(match.group(index)) for index in (3, 4, 5, 6))
            top = (x, y, width, height)
        found[int(match.group(2), 16)] = top
    return found


def _app(wm_class: str) -> str:
    """`lxterminal.Lxterminal` -> `lxterminal`: the instance part, lower case, which is the program's name."""
    return wm_class.split(".")[0].lower()

"""Reads an X session's windows from what the guest's `windows` program prints."""

from __future__ import annotations

from collections.abc import Mapping

from cuamaster.records.trajectory import Window


def parse_windows(text: str, apps: Mapping[str, str] | None = None) -> tuple[Window | None, tuple[Window, ...]]:
    """(active window, all windows, bottom first) from its lines; geometry is the outer frame in pixels.

    What is shown on all desktops (background, panels) is left out. The application is what `apps` has for the window's class
    (lower case), else the class's instance part in lower case, which is the program's name.
    """
    first, *lines = text.split("\n")  # a title may hold what else ends a line in Unicode
    active_id = first.removeprefix("active ")
    active: Window | None = None
    windows = []
    for line in lines:
        fields = line.split("\t", 8)  # id, desktop, instance, class, x, y, width, height, title
        if len(fields) < 9 or fields[1] == "-1":
            continue
        x, y, width, height = map(int, fields[4:8])
        app = (apps or {}).get(fields[3].lower(), fields[2].lower())
        window = Window(app=app, title=fields[8], x=x, y=y, width=width, height=height)
        windows.append(window)
        if fields[0] == active_id:
            active = window
    return active, tuple(windows)

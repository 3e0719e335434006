"""Performs `tool.call`: read-only tools that answer in text, by the names of `records.tools`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cuamaster.errors import InvalidAction, MissingCapability
from cuamaster.ports import Desktop, ScreenReader
from cuamaster.records.tools import TOOLS


def call_tool(name: str, arguments: Mapping[str, Any], desktop: Desktop, reader: ScreenReader) -> str:
    """The tool's answer; raises InvalidAction for an unknown tool or argument, DesktopFault when the desktop fails."""
    if name not in _TOOLS:
        raise InvalidAction(
            f"unknown tool {name!r}", field="name", hint=f"one of {', '.join(tool.name for tool in TOOLS)}"
        )
    if arguments:
        raise InvalidAction(f"{name} takes no arguments, got {sorted(arguments)}", field="arguments")
    try:
        return _TOOLS[name](desktop, reader)
    except MissingCapability as exc:
        raise InvalidAction(f"{name}: {exc.message}", field="name") from exc


def _screen_text(desktop: Desktop, reader: ScreenReader) -> str:
    boxes = reader.read(desktop.screenshot().image)
    return "\n".join(box.text for box in sorted(boxes, key=lambda box: (round(box.center[1] / 12), box.x0)))


def _windows(desktop: Desktop, reader: ScreenReader) -> str:  # noqa: ARG001 (one signature for all tools)
    state = desktop.state()
    focus = (state.active.app, state.active.title) if state.active else None
    lines = [
        f"{window.app}: {window.title}{' (focus)' if (window.app, window.title) == focus else ''}"
        for window in state.windows
    ]
    return "\n".join(lines) or "no windows"


def _clipboard(desktop: Desktop, reader: ScreenReader) -> str:  # noqa: ARG001
    result = desktop.shell("xclip -selection clipboard -o")
    return result.stdout if result.exit_code == 0 else "the clipboard is empty"


_TOOLS: Mapping[str, Callable[[Desktop, ScreenReader], str]] = {
    "screen.text": _screen_text,
    "windows.list": _windows,
    "clipboard.read": _clipboard,
}

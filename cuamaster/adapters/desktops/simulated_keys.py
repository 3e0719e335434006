"""What typed text and key presses do on the simulated desktop."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from cuamaster.adapters.desktops.simulated_windows import (
    CalculatorWindow,
    DialogWindow,
    EditorWindow,
    FilesWindow,
    TerminalWindow,
)
from cuamaster.adapters.desktops.simulated_world import Menu, World

RunLine = Callable[[TerminalWindow, str], None]
"""Runs a terminal's typed line."""

_EDITOR_KEYS = {
    frozenset(("ctrl", "s")): "Save", frozenset(("ctrl", "shift", "s")): "Save As...", frozenset(("ctrl", "n")): "New",
    frozenset(("ctrl", "o")): "Open...", frozenset(("ctrl", "z")): "Undo", frozenset(("ctrl", "x")): "Cut",
    frozenset(("ctrl", "c")): "Copy", frozenset(("ctrl", "v")): "Paste", frozenset(("ctrl", "a")): "Select All",
}  # fmt: skip
_FILES_KEYS = {
    frozenset(("ctrl", "x")): "Cut", frozenset(("ctrl", "c")): "Copy", frozenset(("ctrl", "v")): "Paste",
    frozenset(("ctrl", "h")): "Show Hidden", frozenset(("delete",)): "Move to Trash", frozenset(("f2",)): "Rename...",
    frozenset(("alt", "up")): "Parent Folder", frozenset(("alt", "home")): "Home Folder", frozenset(("f4",)): "Open Current Folder in Terminal",
}  # fmt: skip


def type_text(world: World, text: str, run_line: RunLine) -> None:
    """Type into whatever has the focus."""
    for character in text:
        window = world.active
        if character == "\n":
            press(world, frozenset(("enter",)), run_line)
        elif character == "\t" and not isinstance(window, EditorWindow):
            continue
        elif isinstance(window, DialogWindow):
            window.field = character if window.selected else window.field + character
            window.selected = False
        elif isinstance(window, EditorWindow):
            window.insert(character)
        elif isinstance(window, TerminalWindow):
            window.typed += character
        elif isinstance(window, CalculatorWindow):
            window.key(character)
        elif isinstance(window, FilesWindow) and window.location is not None:
            window.location += character


def press(world: World, keys: frozenset[str], run_line: RunLine) -> None:
    """Press keys together; what means nothing here does nothing."""
    window = world.active
    if world.menu is not None:
        world.menu = None if "escape" in keys else world.menu
        return
    if window is None:
        return
    if keys == {"alt", "f4"}:
        world.close_window(window)
    elif isinstance(window, DialogWindow):
        _press_dialog(world, window, keys)
    elif isinstance(window, EditorWindow):
        _press_editor(world, window, keys)
    elif isinstance(window, FilesWindow):
        _press_files(world, window, keys)
    elif isinstance(window, CalculatorWindow):
        _press_calculator(window, keys)
    elif isinstance(window, TerminalWindow):
        _press_terminal(world, window, keys, run_line)


def _choose(world: World, item: str) -> None:
    world.menu = Menu((item,), 0, 0)
    world.choose(item)


def _character(keys: frozenset[str]) -> str | None:
    plain = keys - {"shift"}
    if len(plain) != 1 or plain & {"ctrl", "alt", "super"}:
        return None
    name = next(iter(plain))
    name = " " if name == "space" else name
    return (name.upper() if "shift" in keys else name) if len(name) == 1 else None


def _press_dialog(world: World, window: DialogWindow, keys: frozenset[str]) -> None:
    if keys == {"enter"}:
        world.confirm(window)
    elif keys == {"escape"}:
        world.windows.remove(window)
    elif keys == {"ctrl", "a"}:
        window.selected = True
    elif keys == {"ctrl", "v"} and world.clipboard:
        type_text(world, world.clipboard.split("\n")[0], lambda _window, _line: None)
    elif keys & {"backspace", "delete"}:
        window.field = "" if window.selected else window.field[:-1]
        window.selected = False
    elif character := _character(keys):
        type_text(world, character, lambda _window, _line: None)


def _press_editor(world: World, window: EditorWindow, keys: frozenset[str]) -> None:
    select = "shift" in keys
    name = next(iter(keys - {"shift", "ctrl"}), "")
    if keys in _EDITOR_KEYS:
        _choose(world, _EDITOR_KEYS[keys])
    elif keys == {"enter"}:
        window.insert("\n")
    elif keys == {"tab"}:
        window.insert("\t")
    elif name in ("backspace", "delete"):
        if window.cursor == window.anchor:
            window.anchor = max(0, min(len(window.text), window.cursor + (-1 if name == "backspace" else 1)))
        window.insert("")
    elif name == "home":
        window.move(0 if "ctrl" in keys else window.line_start(), select=select)
    elif name == "end":
        window.move(len(window.text) if "ctrl" in keys else window.line_end(), select=select)
    elif name in ("left", "right"):
        window.move(window.cursor + (1 if name == "right" else -1), select=select)
    elif character := _character(keys):
        window.insert(character)


def _press_files(world: World, window: FilesWindow, keys: frozenset[str]) -> None:
    if window.location is not None:
        if keys == {"enter"}:
            target = world.files.absolute(window.location, window.folder)
            window.location = None
            if world.files.is_dir(target):
                window.folder, window.selected = target, None
        elif keys == {"escape"}:
            window.location = None
        elif keys == {"backspace"}:
            window.location = window.location[:-1]
        elif character := _character(keys):
            window.location += character
    elif keys == {"ctrl", "l"}:
        window.location = ""
    elif keys == {"enter"} and window.selected:
        world.open_path(window, posixpath.join(window.folder, window.selected))
    elif keys in _FILES_KEYS:
        _choose(world, _FILES_KEYS[keys])


def _press_calculator(window: CalculatorWindow, keys: frozenset[str]) -> None:
    if keys in ({"enter"}, {"kpenter"}):
        window.key("=")
    elif keys == {"escape"}:
        window.key("AC")
    elif keys == {"backspace"}:
        window.display = window.display[:-1] or "0"
    elif character := _character(keys):
        window.key(character)


def _press_terminal(world: World, window: TerminalWindow, keys: frozenset[str], run_line: RunLine) -> None:
    if keys == {"enter"}:
        line, window.typed = window.typed, ""
        window.lines.append(window.prompt + line)
        run_line(window, line)
    elif keys == {"backspace"}:
        window.typed = window.typed[:-1]
    elif keys == {"ctrl", "c"}:
        window.lines.append(f"{window.prompt}{window.typed}^C")
        window.typed = ""
    elif keys in ({"ctrl", "shift", "v"}, {"shift", "insert"}):
        type_text(world, world.clipboard or "", run_line)
    elif character := _character(keys):
        window.typed += character

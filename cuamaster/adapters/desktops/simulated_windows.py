"""The simulated desktop's windows: text editor, file manager, terminal, calculator and dialogs, as plain data."""

from __future__ import annotations

import math
import posixpath
import re
from dataclasses import dataclass, field

from cuamaster.adapters.desktops.simulated_files import HOME


@dataclass
class SimWindow:
    """A window: outer frame in pixels, title bar included."""

    app: str
    x: int = 320
    y: int = 132
    width: int = 640
    height: int = 500

    @property
    def title(self) -> str:
        return self.app.title()

    menus: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass
class EditorWindow(SimWindow):
    """A mousepad-like editor: `anchor` is the other end of the selection, `undo` former texts."""

    app: str = "mousepad"
    path: str | None = None
    text: str = ""
    saved: str = ""
    cursor: int = 0
    anchor: int = 0
    undo: list[str] = field(default_factory=list)
    menus: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("File", ("New", "Open...", "Save", "Save As...", "Close Window")),
        ("Edit", ("Undo", "Cut", "Copy", "Paste", "Delete", "Select All")),
        ("View", ("Line Numbers", "Toolbar", "Statusbar")),
        ("Document", ("Word Wrap", "Auto Indent")),
    )

    @property
    def title(self) -> str:
        name = "Untitled 1" if self.path is None else self.path.replace(HOME, "~", 1)
        return f"{'*' if self.text != self.saved else ''}{name} - Mousepad"

    def selection(self) -> tuple[int, int]:
        return min(self.cursor, self.anchor), max(self.cursor, self.anchor)

    def insert(self, text: str) -> None:
        """Replace the selection by `text`."""
        start, end = self.selection()
        self.undo.append(self.text)
        self.text = self.text[:start] + text + self.text[end:]
        self.cursor = self.anchor = start + len(text)

    def move(self, to: int, *, select: bool) -> None:
        self.cursor = max(0, min(len(self.text), to))
        if not select:
            self.anchor = self.cursor

    def line_start(self) -> int:
        return self.text.rfind("\n", 0, self.cursor) + 1

    def line_end(self) -> int:
        end = self.text.find("\n", self.cursor)
        return len(self.text) if end < 0 else end


@dataclass
class FilesWindow(SimWindow):
    """A pcmanfm-like file manager showing one folder."""

    app: str = "pcmanfm"
    x: int = 190
    y: int = 90
    width: int = 900
    height: int = 560
    folder: str = HOME
    selected: str | None = None
    hidden: bool = False
    location: str | None = None
    menus: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("File", ("New Window", "Create New...", "Close Window")),
        ("Edit", ("Cut", "Copy", "Paste", "Move to Trash", "Rename...")),
        ("Go", ("Parent Folder", "Home Folder")),
        ("View", ("Show Hidden",)),
        ("Tools", ("Open Current Folder in Terminal",)),
    )

    @property
    def title(self) -> str:
        return posixpath.basename(self.folder) or "/"


@dataclass
class TerminalWindow(SimWindow):
    """An lxterminal-like terminal: finished lines, and the one being typed."""

    app: str = "lxterminal"
    x: int = 300
    y: int = 150
    cwd: str = HOME
    lines: list[str] = field(default_factory=list)
    typed: str = ""
    menus: tuple[tuple[str, tuple[str, ...]], ...] = (("File", ("Close Window",)), ("Edit", ("Copy", "Paste")))

    @property
    def prompt(self) -> str:
        return f"user@desk:{self.cwd.replace(HOME, '~', 1)}$ "

    @property
    def title(self) -> str:
        return f"user@desk: {self.cwd.replace(HOME, '~', 1)}"


@dataclass
class CalculatorWindow(SimWindow):
    """A galculator-like pocket calculator: `display` is what was typed, or the result once `done`."""

    app: str = "galculator"
    x: int = 420
    y: int = 180
    width: int = 360
    height: int = 330
    display: str = "0"
    done: bool = True
    scientific: bool = False
    menus: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("File", ("Quit",)),
        ("Edit", ("Copy Display Value", "Paste and Append to Display Value")),
        ("View", ("Basic Mode", "Scientific Mode")),
    )

    @property
    def title(self) -> str:
        return "galculator"

    def key(self, name: str) -> None:
        """A button or a typed character; an impossible calculation shows E."""
        if name == "AC":
            self.display, self.done = "0", True
        elif name in ("=", "sqrt"):
            try:
                value = calculate(self.display)
                self.display = plain_number(math.sqrt(value) if name == "sqrt" else value)
            except (ValueError, ZeroDivisionError):
                self.display = "E"
            self.done = True
        elif name in "0123456789.+-*/()":
            fresh = self.done and (name.isdigit() or name in "(." or self.display == "E")
            self.display, self.done = ("" if fresh else self.display) + name, False


def plain_number(value: float) -> str:
    """At most 12 significant digits, no exponent for whole numbers."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.12g}"


def calculate(text: str) -> float:
    """The value of `+ - * / ( )` over decimal numbers; raises ValueError for anything else, ZeroDivisionError."""
    tokens = re.findall(r"\d+\.?\d*|\.\d+|\S", text)

    def take(*wanted: str) -> str | None:
        return tokens.pop(0) if tokens and tokens[0] in wanted else None

    def total() -> float:
        value = product()
        while operator := take("+", "-"):
            value = value + product() if operator == "+" else value - product()
        return value

    def product() -> float:
        value = factor()
        while operator := take("*", "/"):
            value = value * factor() if operator == "*" else value / factor()
        return value

    def factor() -> float:
        if take("-"):
            return -factor()
        if take("("):
            value = total()
            if not take(")"):
                raise ValueError("unclosed parenthesis")
            return value
        if not tokens:
            raise ValueError("a number is missing")
        return float(tokens.pop(0))

    value = total()
    if tokens:
        raise ValueError(f"unexpected {tokens[0]}")
    return value


@dataclass
class DialogWindow(SimWindow):
    """A modal dialog with one text field; `purpose` says what its confirmation does to `owner`, `subject` to which file."""

    x: int = 380
    y: int = 250
    width: int = 520
    height: int = 170
    heading: str = ""
    purpose: str = ""
    subject: str = ""
    field: str = ""
    selected: bool = True
    confirm: str = "OK"
    owner: SimWindow | None = None

    @property
    def title(self) -> str:
        return self.heading

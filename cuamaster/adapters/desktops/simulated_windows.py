"""The simulated desktop's windows: a text editor, a file manager, a terminal and their dialogs, as plain data."""

from __future__ import annotations

import posixpath
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

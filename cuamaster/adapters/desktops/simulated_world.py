"""Everything the simulated desktop is made of, and what clicks and keys do to it; a deep copy is a snapshot."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

from cuamaster.adapters.desktops.simulated_files import HOME, Files
from cuamaster.adapters.desktops.simulated_records import RECORD_APPS, RecordsWindow, apply
from cuamaster.adapters.desktops.simulated_windows import (
    CalculatorWindow,
    DialogWindow,
    EditorWindow,
    FilesWindow,
    SimWindow,
    TerminalWindow,
)

SCREEN = (1280, 800)
"""Width and height in pixels, as the guest image has them."""
BAR = 32
"""Height of the panel at the bottom of the screen."""
_LEAST = 120
APPS = ("mousepad", "pcmanfm", "galculator", "lxterminal")
_VIEW = "org.xfce.mousepad.preferences.view"
_WINDOW = "org.xfce.mousepad.preferences.window"
_TOGGLES = {
    "Line Numbers": (_VIEW, "show-line-numbers"),
    "Word Wrap": (_VIEW, "word-wrap"),
    "Auto Indent": (_VIEW, "auto-indent"),
    "Toolbar": (_WINDOW, "toolbar-visible"),
    "Statusbar": (_WINDOW, "statusbar-visible"),
}


@dataclass
class Menu:
    """An open menu: items and where they hang."""

    items: tuple[str, ...]
    x: int
    y: int
    subject: str | None = None


@dataclass
class World:
    """The whole state. `windows` bottom to top, the last one active; `clock` in seconds since the epoch."""

    files: Files = field(default_factory=Files)
    windows: list[SimWindow] = field(default_factory=list)
    menu: Menu | None = None
    clipboard: str | None = None
    carried: tuple[str, bool] | None = None
    screen: tuple[int, int] = SCREEN
    pointer: tuple[int, int] = (640, 400)
    held: set[str] = field(default_factory=set)
    clock: float = 1_700_000_000.0
    icons: tuple[str, ...] = ()
    """Applications that stand on the desktop itself, beside those of the panel."""
    settings: dict[tuple[str, str], str] = field(default_factory=lambda: dict.fromkeys(_TOGGLES.values(), "false"))

    @property
    def active(self) -> SimWindow | None:
        return self.windows[-1] if self.windows else None

    def launch(self, app: str, argument: str | None = None, cwd: str = HOME) -> None:
        """Open a window of an application, on a file or folder if one is given."""
        path = None if argument is None else self.files.absolute(argument, cwd)
        if app == "mousepad":
            text = self.files.read(path).decode("utf-8", "replace") if path and self.files.is_file(path) else ""
            self.windows.append(EditorWindow(path=path, text=text, saved=text))
        elif app == "pcmanfm":
            self.windows.append(FilesWindow(folder=path if path and self.files.is_dir(path) else HOME))
        elif app == "galculator":
            self.windows.append(CalculatorWindow())
        elif app in RECORD_APPS:
            self.windows.append(RecordsWindow(app=app, kinds=RECORD_APPS[app]))
        else:
            self.windows.append(TerminalWindow(cwd=cwd))
        self._cascade(self.windows[-1])

    def _cascade(self, window: SimWindow) -> None:
        """Two windows never cover each other completely, and none is larger than what the screen has left for it."""
        taken = {(item.x, item.y) for item in self.windows if item is not window}
        while (window.x, window.y) in taken:
            window.x, window.y = window.x + 24, window.y + 24
        window.width = max(_LEAST, min(window.width, self.screen[0] - window.x))
        window.height = max(_LEAST, min(window.height, self.screen[1] - BAR - window.y))

    def raise_window(self, window: SimWindow) -> None:
        """Bring to the front, its dialogs above it."""
        family = [window, *(item for item in self.windows if isinstance(item, DialogWindow) and item.owner is window)]
        self.windows = [item for item in self.windows if item not in family] + family

    def close_window(self, window: SimWindow) -> None:
        """Close; an editor with unsaved text asks first."""
        if isinstance(window, EditorWindow) and window.text != window.saved:
            self._ask("Save Changes", "discard", "", "Don't Save", window)
            return
        self.windows = [
            item for item in self.windows if item is not window and getattr(item, "owner", None) is not window
        ]

    # --- menus

    def choose(self, item: str) -> None:
        """Pick an item of the open menu."""
        menu, window = self.menu, self.active
        self.menu = None
        if window is None or menu is None:
            return
        if item in _TOGGLES:
            key = _TOGGLES[item]
            self.settings[key] = "false" if self.settings[key] == "true" else "true"
        elif item in ("Close Window", "Quit"):
            self.close_window(window)
        elif isinstance(window, EditorWindow):
            self._editor_command(window, item)
        elif isinstance(window, FilesWindow):
            self._files_command(window, item, menu)
        elif isinstance(window, CalculatorWindow):
            self._calculator_command(window, item)
        elif isinstance(window, TerminalWindow) and item == "Paste":
            window.typed += self.clipboard or ""

    def _editor_command(self, window: EditorWindow, item: str) -> None:
        start, end = window.selection()
        match item:
            case "New":
                self.launch("mousepad")
            case "Open...":
                self._ask("Open File", "open", "", "Open", window)
            case "Save" if window.path is not None:
                self._save(window, window.path)
            case "Save" | "Save As...":
                self._ask("Save As", "save", posixpath.basename(window.path or "Untitled 1"), "Save", window)
            case "Undo" if window.undo:
                window.text = window.undo.pop()
                window.move(len(window.text), select=False)
            case "Cut" | "Copy" if start != end:
                self.clipboard = window.text[start:end]
                if item == "Cut":
                    window.insert("")
            case "Paste" if self.clipboard:
                window.insert(self.clipboard)
            case "Delete":
                window.insert("")
            case "Select All":
                window.anchor, window.cursor = 0, len(window.text)

    def _calculator_command(self, window: CalculatorWindow, item: str) -> None:
        if item == "Copy Display Value":
            self.clipboard = window.display
        elif item.startswith("Paste"):
            for character in self.clipboard or "":
                window.key(character)
        else:
            window.scientific = item == "Scientific Mode"

    def _files_command(self, window: FilesWindow, item: str, menu: Menu) -> None:
        subject = menu.subject or window.selected
        path = None if subject is None else posixpath.join(window.folder, subject)
        match item:
            case "New Window":
                self.launch("pcmanfm", window.folder)
            case "Create New...":
                self.menu = Menu(("Folder", "Empty File"), menu.x + 150, menu.y + 24)
            case "Folder" | "Empty File":
                self._ask("Create New", item, "New", "OK", window)
            case "Parent Folder":
                window.folder, window.selected = posixpath.dirname(window.folder), None
            case "Home Folder":
                window.folder, window.selected = HOME, None
            case "Show Hidden":
                window.hidden = not window.hidden
            case "Open Current Folder in Terminal":
                self.launch("lxterminal", cwd=window.folder)
            case "Paste" if self.carried is not None:
                source, keep = self.carried
                try:
                    self.files.copy(source, window.folder, keep=keep)
                except OSError:
                    return  # gone, or already here: nothing is pasted
                self.carried = self.carried if keep else None
            case "Cut" | "Copy" if path is not None:
                self.carried = (path, item == "Copy")
            case "Move to Trash" if path is not None:
                self.files.remove(path)
                window.selected = None
            case "Rename..." if path is not None:
                self._ask("Rename", "rename", posixpath.basename(path), "OK", window, subject=path)
            case "Open" if path is not None:
                self.open_path(window, path)

    def open_path(self, window: FilesWindow, path: str) -> None:
        """What a double click does."""
        if self.files.is_dir(path):
            window.folder, window.selected = path, None
        else:
            self.launch("mousepad", path)

    # --- dialogs

    def ask_record(self, window: RecordsWindow, label: str) -> None:
        """A button of a record-keeping application: ask which record."""
        self._ask(label, label.lower(), "", "OK", window)

    def _ask(self, heading: str, purpose: str, text: str, confirm: str, owner: SimWindow, *, subject: str = "") -> None:
        dialog = DialogWindow(
            app=owner.app, heading=heading, purpose=purpose, field=text, confirm=confirm, owner=owner, subject=subject
        )
        self.windows.append(dialog)

    def confirm(self, dialog: DialogWindow) -> None:
        """Press the dialog's confirming button; an impossible answer leaves it open."""
        owner = dialog.owner
        folder = owner.folder if isinstance(owner, FilesWindow) else HOME
        path = self.files.absolute(dialog.field, folder)
        try:
            if isinstance(owner, EditorWindow) and dialog.purpose == "save" and dialog.field:
                self._save(owner, path)
            elif isinstance(owner, EditorWindow) and dialog.purpose == "open":
                self.files.read(path)
                self.launch("mousepad", path)
            elif dialog.purpose == "Folder":
                self.files.make_dir(path)
            elif dialog.purpose == "Empty File":
                if self.files.exists(path):
                    raise FileExistsError(path)
                self.files.write(path, b"")
            elif dialog.purpose == "rename":
                self.files.copy(dialog.subject, path, keep=False)
            elif isinstance(owner, RecordsWindow):
                operation, kind = dialog.purpose.split(" ")
                apply(self.files, owner.app, operation, kind, dialog.field)
            elif isinstance(owner, EditorWindow) and dialog.purpose == "discard":
                owner.saved = owner.text
                self.close_window(owner)
        except (OSError, ValueError):
            return
        self.windows = [item for item in self.windows if item is not dialog]

    def _save(self, window: EditorWindow, path: str) -> None:
        self.files.write(
            path, (window.text if window.text.endswith("\n") or not window.text else window.text + "\n").encode()
        )
        window.path, window.saved = path, window.text

    def gsetting(self, schema: str, key: str) -> str | None:
        return self.settings.get((schema, key))

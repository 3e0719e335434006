"""Eight record-keeping applications of the simulated desktop, as data: each keeps kinds of records as files in its own folder.

They differ in names only. What a button does, its command does too (`ledger complete invoice amber-lake`), and neither does
anything while the application is not running.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cuamaster.adapters.desktops.simulated_files import HOME, Files
from cuamaster.adapters.desktops.simulated_windows import SimWindow

RECORDS_IMAGE = "records-desktop"
"""Name of the simulated image whose desktop has these applications."""
RECORD_APPS: Mapping[str, tuple[str, ...]] = {
    "ledger": ("invoice", "receipt", "budget", "refund"),
    "planner": ("meeting", "deadline", "holiday", "reminder"),
    "contacts": ("person", "company", "supplier", "friend"),
    "stock": ("part", "order", "pallet", "return"),
    "library": ("book", "loan", "author", "shelf"),
    "garden": ("bed", "plant", "seed", "harvest"),
    "kitchen": ("recipe", "menu", "supper", "supply"),
    "fleet": ("car", "trip", "repair", "driver"),
}
"""Application -> the kinds of records it keeps."""
OPERATIONS = ("new", "complete", "rename", "note", "remove")
EXCHANGE = ("share", "fetch")
"""Through ~/Shared, where the other applications find it."""


@dataclass
class RecordsWindow(SimWindow):
    """A button for every operation on every kind; a dialog of the world asks for its line."""

    x: int = 190
    y: int = 90
    width: int = 900
    height: int = 420
    kinds: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.app.capitalize()

    def rows(self) -> list[list[str]]:
        """The buttons' labels, a row a kind."""
        return [[f"{operation.capitalize()} {kind}" for operation in (*OPERATIONS, *EXCHANGE)] for kind in self.kinds]


def folder_of(app: str) -> str:
    """Where an application keeps its records."""
    return f"{HOME}/{app.capitalize()}"


def apply(files: Files, app: str, operation: str, kind: str, line: str) -> None:
    """Carry out one operation; `line` is a record's name, then (new, note, rename) a colon and a text or the new name.

    Raises OSError (no such record, there already, a folder is missing) and ValueError for what is no operation.
    """
    name, _, text = (part.strip() for part in line.partition(":"))
    if operation not in (*OPERATIONS, *EXCHANGE) or kind not in RECORD_APPS[app] or not name or "/" in name + text:
        raise ValueError(f"{app}: cannot {operation} {kind} {name}")
    home = folder_of(app)
    record, shared = f"{home}/{kind}-{name}.txt", f"{HOME}/Shared/{name}.txt"
    for folder in (home, f"{home}/Done", f"{HOME}/Shared"):
        files.make_dir(folder, parents=True)
    match operation:
        case "new":
            _absent(files, record)
            files.write(record, f"{text}\n".encode())
        case "complete":
            _absent(files, f"{home}/Done/{kind}-{name}.txt")
            files.copy(record, f"{home}/Done", keep=False)
        case "rename":
            _absent(files, f"{home}/{kind}-{text}.txt")
            files.copy(record, f"{home}/{kind}-{text}.txt", keep=False)
        case "note":
            files.write(record, files.read(record) + f"{text}\n".encode())
        case "remove":
            files.remove(record)
        case "share":
            _absent(files, shared)
            files.copy(record, shared)
        case "fetch":
            _absent(files, record)
            files.copy(shared, record)


def _absent(files: Files, path: str) -> None:
    if files.exists(path):
        raise FileExistsError("File exists")

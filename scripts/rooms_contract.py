"""An import-linter contract that holds the house's table: each room imports only the rooms its row names."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from importlinter import Contract, ContractCheck, fields, output

if TYPE_CHECKING:
    from grimp import ImportGraph

Table = dict[str, frozenset[str]]
PACKAGE = "cuamaster"


class RoomsContract(Contract):
    """Checks direct imports against an allow-list, so what no row names is forbidden.

    ``rooms`` holds lines ``room: room, room`` and ``libraries`` lines ``library: room, room``. Rooms are module
    names below ``cuamaster`` (``propagation.collection``) or top-level packages (``flows``). Rooms that do not
    exist yet are no error: a row may be written before its code.
    """

    rooms = fields.ListField(subfield=fields.StringField())
    libraries = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002 (import-linter's signature)
        """Compare every import in ``graph`` with the two tables."""
        # import-linter replaces the field objects by their parsed values.
        rooms, libraries = (parse_table(cast("list[str]", lines)) for lines in (self.rooms, self.libraries))
        faults = []
        for importer in sorted(graph.modules):
            if graph.is_module_squashed(importer):
                continue  # a library: what it imports is not ours to judge
            for imported in sorted(graph.find_modules_directly_imported_by(importer)):
                reason = fault(importer, imported, rooms, libraries)
                if reason:
                    details = graph.get_import_details(importer=importer, imported=imported)
                    line = details[0]["line_number"] if details else 0
                    faults.append(f"{importer}:{line} imports {imported}: {reason}")
        return ContractCheck(kept=not faults, metadata={"faults": faults})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print one line for each forbidden import."""
        for line in check.metadata["faults"]:
            output.print_error(line)
            output.new_line()


def parse_table(lines: list[str]) -> Table:
    """Turn lines ``name: a, b`` into a mapping from name to its set."""
    table: Table = {}
    for line in lines:
        name, _, names = line.partition(":")
        table[name.strip()] = frozenset(part.strip() for part in names.split(",") if part.strip())
    return table


def room_of(module: str, rooms: Table) -> str:
    """Name the room a module lives in: the longest row that is its prefix, else its own first part."""
    path = module.removeprefix(f"{PACKAGE}.")
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        name = ".".join(parts[:end])
        if name in rooms:
            return name
    return parts[0]


def fault(importer: str, imported: str, rooms: Table, libraries: Table) -> str | None:
    """Say why an import is forbidden, or None where it is allowed."""
    if importer == PACKAGE:
        return f"{PACKAGE}/__init__.py imports nothing, so that importing one room never loads another"
    here = room_of(importer, rooms)
    if imported == PACKAGE:
        return None  # only __version__ lives there
    if imported.startswith((f"{PACKAGE}.", "flows.")) or imported == "flows":
        there = room_of(imported, rooms)
        if here == there or there in rooms.get(here, frozenset()):
            return None
        return f"{here} may import {', '.join(sorted(rooms.get(here, ()))) or 'no other room'}"
    allowed = libraries.get(imported.split(".")[0])
    if allowed is None or here in allowed or here.split(".")[0] in allowed:
        return None
    return f"only {', '.join(sorted(allowed))} may use this library"

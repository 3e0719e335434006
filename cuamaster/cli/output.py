"""Rows on stdout, as a table for people or as JSON for scripts."""

from __future__ import annotations

import json
import sys
from typing import Any


def print_rows(rows: list[dict[str, Any]], *, as_json: bool, title: str = "", none: str = "") -> None:
    """One line a row; the columns are the first row's keys. `none`: what to say on stderr when there is no row."""
    if as_json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    if not rows:
        print(none or f"{title}: nothing to show".removeprefix(": "), file=sys.stderr)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, title_justify="left")
    for name in rows[0]:
        table.add_column(name, justify="right" if isinstance(rows[0][name], int) else "left", overflow="fold")
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    Console().print(table)

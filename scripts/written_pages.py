"""Writes a page that is made from the code, or says that it is not what the code says."""

from __future__ import annotations

import sys
from pathlib import Path


def write_or_check(page: Path, text: str, module: str) -> int:
    """Write `text`; with `--check` on the command line only compare. The exit code: 1 for a page that is not current."""
    if "--check" in sys.argv[1:]:
        current = page.exists() and page.read_text(encoding="utf-8") == text
        sys.stderr.write("" if current else f"{page} is not current: run python -m {module}\n")
        return 0 if current else 1
    page.write_text(text, encoding="utf-8")
    return 0

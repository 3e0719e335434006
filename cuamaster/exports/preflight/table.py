"""The table of all checks in docs/preflight.md, written from the code so that it cannot drift from it."""

from __future__ import annotations

from cuamaster.exports.preflight.problem import CHECKS, INTEGRITY


def table() -> str:
    """Markdown: check, level, what it wants, and whether every export is held to it."""
    lines = ["| check | level | it wants that | every export |", "|---|---|---|---|"]
    for name, (level, meaning) in CHECKS.items():
        lines.append(f"| `{name}` | {level} | {meaning} | {'yes' if name in INTEGRITY else ''} |")
    return "\n".join(lines)

"""Comparisons of texts under OSWorld's options as conditions: a plain one where there are none, else a pattern."""

from __future__ import annotations

import re
from typing import Literal

from cuamaster.errors import Unmappable
from cuamaster.records.condition import CommandOutput, FileText
from cuamaster.records.filling import names_in

_MAX_GOLD = 1 << 18
Match = Literal["equals", "contains"]


def output_text(command: str, text: str, match: Match = "equals", *, ignore_case: bool = False) -> CommandOutput:
    """What a command prints equals or contains a text."""
    if ignore_case or names_in(text):
        return CommandOutput(command=command, text=_pattern(text, match, ignore_case), match="regex")
    return CommandOutput(command=command, text=text, match=match)


def file_text(path: str, text: str, match: Match = "equals") -> FileText:
    """A file's text equals or contains a text."""
    if names_in(text):  # {braces} would read as a parameter; in a pattern they are escaped
        return FileText(path=path, text=_pattern(text, match, False), match="regex")
    return FileText(path=path, text=text, match=match)


def same_file_text(path: str, gold: bytes, *, ignore_blanks: bool, ignore_case: bool) -> FileText:
    """`compare_text_file` (evaluators/metrics/vscode.py): blanks of any kind and number count as one, none at the ends."""
    text = gold_text(gold)
    if ignore_blanks:
        words = r"\s+".join(re.escape(word) for word in text.split())
        return FileText(path=path, text=rf"{_flags(ignore_case)}\A\s*{words}\s*\Z", match="regex")
    if ignore_case:
        return FileText(path=path, text=_pattern(text, "equals", True), match="regex")
    return file_text(path, text)


def csv_text(path: str, gold: bytes, *, strict: bool, ignore_case: bool) -> FileText:
    """`compare_csv` (evaluators/metrics/table.py): line by line, blanks at the ends of lines left out unless `strict`."""
    lines = gold_text(gold).splitlines()
    if strict and not ignore_case:
        return file_text(path, "\n".join(lines) + "\n")
    return FileText(path=path, text=lines_pattern(lines, strip=not strict, ignore_case=ignore_case), match="regex")


def lines_pattern(lines: list[str], *, strip: bool, ignore_case: bool, open_end: bool = False) -> str:
    """Exactly these lines; `strip`: blanks around each do not count; `open_end`: empty lines at the end do not either."""
    around = r"[^\S\n]*" if strip else ""
    wanted = [f"{around}{re.escape(line.strip() if strip else line)}{around}" for line in lines]
    end = (
        r"\s*" if open_end else r"(?:\r?\n)?" if not lines or lines[-1].strip() else r"\r?\n"
    )  # an empty line has its end
    return _flags(ignore_case) + r"\A" + r"\r?\n".join(wanted) + end + r"\Z"


def gold_text(gold: bytes) -> str:
    """The text of a file to compare with; raises Unmappable when it is too long to travel in a condition, or no text."""
    if len(gold) > _MAX_GOLD:
        raise Unmappable(
            f"the expected text has more than {_MAX_GOLD >> 10} KiB", reason="too-big", names=("gold text",)
        )
    try:
        return gold.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise Unmappable(f"the expected file is no text: {exc}", reason="bad-file", names=("gold text",)) from exc


def _pattern(text: str, match: Match, ignore_case: bool) -> str:
    plain = re.escape(text.removesuffix("\n") if match == "equals" else text)
    return _flags(ignore_case) + (rf"\A{plain}\n?\Z" if match == "equals" else plain)


def _flags(ignore_case: bool) -> str:
    return "(?i)" if ignore_case else ""

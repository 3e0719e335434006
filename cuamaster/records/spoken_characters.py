"""What an operation is about in languages written without blanks: the text to type and the thing to click."""

from __future__ import annotations

import re

from cuamaster.records.lexicon import Lexicon
from cuamaster.records.verbs import verb_in_characters

_MARKS = " ，。、！？；：,.!?;:"
_OWNED = ("你的", "您的", "自己的", "あなたの")
_LINKS = "的上里中をにでのとはが"


def typed_in_characters(clause: str, table: Lexicon) -> str | None:
    """`输入文件名 notes.txt` -> notes.txt; None when the text is only described."""
    text = _about(clause, table).strip(_MARKS)
    if text.startswith(_OWNED):
        return None
    changed = True
    while changed:
        changed = False
        for carrier in sorted(table.nouns.carriers, key=len, reverse=True):
            if text.startswith(carrier):
                text, changed = text.removeprefix(carrier).strip(_MARKS), True
    for place in sorted(table.nouns.places, key=len, reverse=True):
        text = text.removesuffix(place).strip(_MARKS)
    return text or None


def named_in_characters(clause: str, table: Lexicon) -> tuple[str, str]:
    """Role and label: `打开文件菜单` -> menu, 文件; an empty label when nothing but a place is named."""
    text = _about(clause, table).strip(_MARKS)
    text = re.split("[，。、]", text, maxsplit=1)[0].strip(_MARKS)
    for word in sorted(table.nouns.skip, key=len, reverse=True):
        text = text.removeprefix(word).strip(_MARKS)
    role, text = "", text.rstrip(_LINKS)
    for noun in sorted(table.nouns.roles, key=len, reverse=True):
        if text.endswith(noun) and text != noun:
            role, text = table.nouns.roles[noun], text.removesuffix(noun)
            break
    text = text.strip(_MARKS).rstrip(_LINKS).strip(_MARKS)
    if not text or text in table.nouns.generic:
        return role or "area", ""
    return role, text


def _about(clause: str, table: Lexicon) -> str:
    """What is said after the verb, or before it where the verb comes last."""
    solid, places = "", []
    for place, letter in enumerate(clause):
        if not letter.isspace():
            solid += letter
            places.append(place)
    found = verb_in_characters(solid, table)
    if found is None:
        return clause
    _, begin, end = found
    if table.verb_last:
        return clause[: places[begin]]
    return clause[places[end] :] if end < len(places) else ""

"""One instruction sentence from the operations of a task: what is reached, not every click on the way."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cuamaster.records.lexicon import word_set
from cuamaster.records.speech import MENU_TITLES, Operation, clean
from cuamaster.records.spoken import (
    Named,
    drag_ends,
    named_place,
    named_target,
    scroll_direction,
    typed_text,
)
from cuamaster.records.spoken_keys import spoken_keys

_CONFIRM = word_set("ok okay yes save close apply done finish confirm create open")
_SAVING = ("save as", "save", "export", "export as")
_HOT_KEYS: dict[tuple[str, ...], str] = {
    ("ctrl", "s"): "save it", ("ctrl", "c"): "copy it", ("ctrl", "v"): "paste it", ("ctrl", "x"): "cut it", ("ctrl", "z"): "undo it",
    ("ctrl", "a"): "select everything",
}  # fmt: skip
_FOLDERS = ("folder", "new folder", "create folder", "create new folder")


def instruct(operations: Sequence[Operation], app_name: str, language: str = "en") -> str:
    """A goal in words, e.g. `In Mousepad, type "milk" and save it as "list.txt".`; never empty."""
    parts: list[str] = []
    chosen = Named(text="")  # what was clicked last says what a typed text is for
    for index, item in enumerate(operations):
        following = operations[index + 1] if index + 1 < len(operations) else None
        part = _part(item, following, chosen, parts[-1] if parts else "", language)
        if item.kind in ("click", "double_click"):
            chosen = named_target(item.clause.text, language) or Named(text="")
        elif item.kind == "key" and spoken_keys(item.clause.text) == ("ctrl", "shift", "s"):
            chosen = Named(text="save as")
        if part and (not parts or parts[-1] != part):
            parts.append(part)
    parts = _replacing(parts)
    if not parts:
        parts = [_lower(item.clause.text.strip(" .,")) for item in operations]
    sentence = parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
    return f"In {app_name}, {sentence}." if app_name else f"{sentence[:1].upper()}{sentence[1:]}."


def _replacing(parts: list[str]) -> list[str]:
    """What is typed in the two fields of a replace dialog is one goal; the way through the dialog goes without saying."""
    old = next(
        (m.group(1) for part in parts if (m := re.match(r'type (".+") in the (?:search|find)\b.* field$', part, re.I))),
        None,
    )
    place, new = next(
        (
            (i, m.group(1))
            for i, part in enumerate(parts)
            if (m := re.match(r'type (".+") in the replace\b.* field$', part, re.I))
        ),
        (0, None),
    )
    if old is None or new is None:
        return parts
    through = re.compile(
        r"(choose|click|tick|open|press) .*\b(replace|find)\b|type .* in the (search|find)\b.* field$", re.IGNORECASE
    )
    return [
        f"replace {old} with {new}" if index == place else part for index, part in enumerate(parts) if index == place or not through.match(part)
    ]  # fmt: skip


def _part(item: Operation, following: Operation | None, chosen: Named, before: str, language: str) -> str:
    text = item.clause.text
    if item.kind == "type":
        return _typing(item, chosen, language)
    if item.kind == "key":
        return _pressing(spoken_keys(text), before)
    if item.kind == "scroll":
        return f"scroll {scroll_direction(text, language)}"
    if item.kind == "drag":
        ends = drag_ends(text, language)
        return f"drag from {ends[0]} to {ends[1]}" if ends else _lower(text.strip(" .,"))
    named = named_target(text, language)
    if named is None or not named.text:
        return ""  # a click into the page only sets the focus
    label = named.text
    if item.kind == "double_click":
        return f'open "{label}"' if named.role in ("item", "icon") else f'double-click "{label}"'
    if item.kind == "right_click":
        return "" if following is not None and following.kind == "click" else f'right-click "{label}"'
    return _choosing(item, following, label, named.role, before)


def _pressing(keys: tuple[str, ...] | None, before: str) -> str:
    """What a hot key means in every program, else its name; Enter and Tab only end what was typed."""
    if not keys or keys in (("enter",), ("tab",)):
        return ""
    if keys == ("ctrl", "s") and before.startswith("save it as"):
        return ""
    if keys == ("ctrl", "shift", "s"):
        return ""  # asks for the name, which is told next
    return _HOT_KEYS.get(keys, f"press {'+'.join(key.capitalize() for key in keys)}")


def _choosing(item: Operation, following: Operation | None, label: str, role: str, before: str) -> str:
    low = label.lower().rstrip(".")
    if before and low != "save" and role == "button" and set(low.split()) <= _CONFIRM:
        return ""
    if before and low in ("ok", "close", "yes", "done", "apply"):
        return ""
    opens = low in MENU_TITLES and following is not None and following.kind == "click"
    if opens or (following is not None and (role in ("menu", "field") or following.elided)):
        return ""  # the way to an item, or the focus before typing
    if following is not None and not role and _goes_on(following):
        return ""
    if following is not None and following.kind == "type" and (low in _FOLDERS or low.startswith("save as")):
        return ""
    if low == "save":
        return "" if before.startswith("save it as") else "save it"
    verb = (
        clean(item.clause.text.split()[min(item.position, len(item.clause.text.split()) - 1)])
        if not item.elided
        else "choose"
    )
    if verb in ("tick", "untick", "check", "uncheck", "select", "open", "close", "toggle", "go"):
        return f"{verb} {'to ' if verb == 'go' else ''}{label}"
    return f"click {label}" if role in ("button", "icon") or verb in ("click", "press") else f"choose {label}"


def _goes_on(following: Operation) -> bool:
    """`click Create New and choose Folder`: the first label only opens the way to the second."""
    clause = following.clause
    verb = clean(clause.words[following.position].text)
    return (
        following.kind == "click"
        and clause.connective in ("and", "then", "and then")
        and verb in ("choose", "select", "pick")
    )


def _typing(item: Operation, chosen: Named, language: str) -> str:
    text = typed_text(item.clause.text, language)
    if text is None:
        return _lower(item.clause.text.strip(" .,"))
    label = chosen.text.lower()
    if label in _SAVING or label.startswith("save as"):
        return f'save it as "{text}"'
    if label in _FOLDERS:
        return f'create a folder named "{text}"'
    place = named_place(" ".join(item.clause.text.split()[: item.position]), language) or chosen
    return f'type "{text}" in the {place.text} field' if place.text and place.role == "field" else f'type "{text}"'


def _lower(text: str) -> str:
    words = text.split()
    while words and clean(words[0]) in ("and", "then", "now", "so", "next", "finally", "first"):
        words = words[1:]
    rest = " ".join(words)
    return rest[:1].lower() + rest[1:] if rest[1:2].islower() else rest

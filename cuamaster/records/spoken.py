"""What a spoken operation is about: the text to type, the thing to click, the ends of a drag, the direction to scroll."""

from __future__ import annotations

import re
from typing import Literal

from cuamaster.records.lexicon import LEXICONS, Lexicon, Nouns
from cuamaster.records.record import Record
from cuamaster.records.speech import clean, lexicon, operation_verb
from cuamaster.records.spoken_characters import named_in_characters, typed_in_characters
from cuamaster.records.verbs import fillers

_QUOTED = re.compile(r"[\"“„«「]([^\"”“»」]{1,120})[\"”“»」]|(?<!\w)['‘]([^'’]{1,120})['’](?!\w)")
_DRAG = tuple(
    re.compile(start + r" (?:the )?(?P<a>[^,]+?) (?:on ?to|into|to|over) (?:the )?(?P<b>[^,]+)$", re.IGNORECASE)
    for start in (r"\bfrom", r"\bdrag(?:ging)?")
)
_SPOKEN_DOT = re.compile(r"(?<=\w)\s+dot\s+(?=[a-z0-9]{1,5}\b)", re.IGNORECASE)
_LOOSE_DOT = re.compile(r"(?<=\w)\s+\.(?=[a-z0-9]{1,5}\b)", re.IGNORECASE)
_ASIDE = re.compile(
    r",\s|\s(?:again|here|there|now|which|because|so that|in order|next to|up here|down here|as you|so you|(?:that |and )?you(?:'ll|'re| can| want| need| see)?)(?=\s|$|[.,])"
)
"""Where a label ends and talk about it begins."""


class Named(Record):
    """A label as spoken and the role its noun gives ('' when none is said)."""

    text: str
    role: str = ""


def unspoken(text: str) -> str:
    """Written form of spoken file names: `report dot txt`, `report .txt` -> `report.txt`."""
    return _LOOSE_DOT.sub(".", _SPOKEN_DOT.sub(".", text))


def quoted_text(clause: str) -> str | None:
    """The first quoted stretch, without its quotes."""
    match = _QUOTED.search(clause)
    return None if match is None else (match.group(1) or match.group(2))


def typed_text(clause: str, language: str = "en") -> str | None:
    """The literal text a `type` clause dictates, or None when it only describes it ("type your name").

    >>> typed_text("Type the name groceries.txt")
    'groceries.txt'
    """
    quoted = quoted_text(clause)
    if quoted is not None:
        return quoted
    table = lexicon(language)
    if not table.spaced:
        return typed_in_characters(clause, table)
    verb = operation_verb(clause, language)
    if verb is None or verb[0] != "type":
        return None
    nouns = table.nouns
    rest = unspoken(" ".join(clause.split()[verb[1] + 1 :])).strip().rstrip(".,;:!?").split()
    rest = [word for place, word in enumerate(rest) if place or clean(word) not in table.subjects]
    described = bool(rest) and clean(rest[0]) in nouns.described
    if clean(clause.split()[verb[1]]) in ("name", "call", "rename", "fill", "search"):
        rest = _after_link(rest)
    if rest[:1] and clean(rest[0]) in ("in", "out") and len(rest) > 1:
        rest = rest[1:]
    if len(rest) > 1 and clean(rest[-1]) in nouns.particles:
        rest = rest[:-1]
    carriers = nouns.carriers | nouns.articles | {"new", "file"}
    while (
        len(rest) > 1
        and clean(rest[0]) in carriers
        and (clean(rest[0]) not in nouns.carriers or not _place(rest[1:], nouns))
    ):
        rest = rest[1:]
    for index in range(len(rest) - 1, 0, -1):
        if clean(rest[index]) in nouns.links and _place(rest[index + 1 :], nouns):
            rest = rest[:index]
            break
    if described or not rest or all(clean(word) in nouns.carriers | nouns.articles for word in rest):
        return None
    return " ".join(rest).strip().strip(",;:")


def _place(words: list[str], nouns: Nouns) -> bool:
    """Words that say where text goes or what it is: `in the name field`, `as the name`."""
    plain = [clean(word) for word in words]
    places = nouns.places | nouns.carriers
    return 0 < len(plain) <= 6 and (
        plain[-1] in places or (nouns.leading and any(word in places for word in plain[:2]))
    )


def _after_link(words: list[str]) -> list[str]:
    """`it to final.txt` -> `final.txt`."""
    links = ("it", "this", "to", "as", "for", "with")
    index = next((place for place, word in enumerate(words[:-1]) if clean(word) in links), None)
    while index is not None and index + 1 < len(words) and clean(words[index]) in links:
        index += 1
    return words if index is None else words[index:]


def named_target(clause: str, language: str = "en") -> Named | None:
    """The thing a click, drag or scroll clause names, with its role; None when nothing but a place is said.

    >>> named_target("Click the Search menu").text
    'Search'
    """
    quoted = quoted_text(clause)
    table = lexicon(language)
    if not table.spaced:
        role, text = named_in_characters(clause, table)
        return Named(text=quoted or text, role=role)
    for pattern, _ in table.manners:
        clause = pattern.sub("", clause)
    nouns, verb = table.nouns, operation_verb(clause, language)
    words = clause.strip().rstrip(".,;:!?").split()
    rest = words[verb[1] + 1 :] if verb is not None else words
    lead = words[: verb[1]] if verb is not None else []
    if (
        verb is not None
        and not rest
        and words[verb[1]][:1].isupper()
        and clean(words[verb[1]]) not in LEXICONS["en"].strong
    ):
        rest, lead = words[verb[1] :], []  # "File, Open": the verb is the label
    while rest and clean(rest[0]) in table.subjects:
        rest = rest[1:]
    if nouns.leading and not rest:
        rest, lead = _before_last_verb(lead, table), []
    bare = not any(clean(word) in nouns.articles for word in rest[:2])
    while rest and clean(rest[0]) in nouns.skip | table.fillers | set(table.conjunctions):
        rest = rest[1:]
    said = _ASIDE.split(" ".join(rest), maxsplit=1)[0] if rest else ""
    text = (nouns.tail.sub("", said) if nouns.tail else said).strip().rstrip(".,;:!?")
    role, parts = "", text.split()
    while len(parts) > 1 and clean(parts[0]) in nouns.articles:
        parts = parts[1:]
    before = nouns.leading and len(parts) > 1 and _is_role(parts[0], nouns, alone=True)  # "menú Archivo", "Menü Datei"
    if (
        parts
        and not before
        and _is_role(parts[-1], nouns, alone=len(parts) == 1)
        and not (bare and (len(parts) == 1 or nouns.leading))
    ):
        role, parts = nouns.roles[clean(parts[-1])], parts[:-1]
    if len(parts) > 1 and _is_role(parts[0], nouns, alone=True):  # "cell A1", "the folder reports"
        role, parts = nouns.roles[clean(parts[0])], parts[1:]
    while parts and clean(parts[0]) in nouns.skip:
        parts = parts[1:]
    while len(parts) > 1 and parts[-1] in (*table.conjunctions, "or", "then", "so"):
        parts = parts[:-1]
    text = quoted or " ".join(parts)
    label = quoted is not None or (before and text[:1].isupper())
    if not label and all(clean(part) in nouns.generic for part in text.split()):
        where = named_place(" ".join(lead), language)
        return Named(text="", role=role or "area") if where is None and rest else where
    return Named(text=text, role=role)


def _before_last_verb(words: list[str], table: Lexicon) -> list[str]:
    """What a verb at the end is about: `jetzt wollen wir auf Speichern klicken`."""
    while words and clean(words[0]) in fillers(table) | table.plans:
        words = words[1:]
    return words


def _is_role(word: str, nouns: Nouns, *, alone: bool) -> bool:
    """`menu` in "the File menu" is its kind; a capitalized "Cell" in "Format Cell" belongs to the label."""
    plain = clean(word)
    return plain in nouns.roles and (
        nouns.leading or word[:1].islower() or (not alone and plain in ("menu", "button", "tab", "icon", "checkbox"))
    )


def drag_ends(clause: str, language: str = "en") -> tuple[str, str] | None:
    """The two labels of `drag ... from A1 to B1`, or of `drag X to Y`; None when an end is not said."""
    own = lexicon(language).nouns.drag_from
    said = clause.strip().rstrip(".!?")
    match = next((found for pattern in ((own,) if own else _DRAG) if (found := pattern.search(said))), None)
    if match is None or clean(match["a"].split()[0]) in ("over", "down", "up", "across", "it", "and"):
        return None
    return match["a"].strip(), match["b"].strip()


def named_place(lead: str, language: str = "en") -> Named | None:
    """The place before a verb: `in the Search for field type` -> Search for, role field."""
    table = lexicon(language)
    words = [word for word in lead.split() if word]
    while words and clean(words[0]) in table.nouns.skip | fillers(table) | set(table.conjunctions):
        words = words[1:]
    roles = table.nouns.roles
    if table.nouns.leading and len(words) > 1 and clean(words[0]) in roles:
        return Named(text=" ".join(words[1:]), role=roles[clean(words[0])])
    if not words or clean(words[-1]) not in roles:
        return None
    text = " ".join(words[:-1])
    return Named(text=text, role=roles[clean(words[-1])]) if text else None


def scroll_direction(clause: str, language: str = "en") -> Literal["up", "down", "left", "right"]:
    """Where a `scroll` clause goes; down when it does not say."""
    table = lexicon(language)
    words = {clean(word) for word in clause.split()}

    def told(hints: frozenset[str]) -> bool:
        return bool(words & hints) if table.spaced else any(hint in clause for hint in hints)

    if told(table.up):
        return "up"
    return "left" if told(table.left) else "right" if told(table.right) else "down"

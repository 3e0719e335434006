"""What a spoken operation is about: the text to type, the keys to press, the thing to click, the direction to scroll."""

from __future__ import annotations

import re
from typing import Literal

from cuamaster.records.lexicon import LEXICONS, MODIFIER_WORDS, PLAIN_KEY_WORDS, ROLE_WORDS, SPOKEN_KEYS, word_set
from cuamaster.records.record import Record
from cuamaster.records.speech import clean, operation_verb

_QUOTED = re.compile(r"[\"“„«「]([^\"”“»」]{1,120})[\"”“»」]|(?<!\w)['‘]([^'’]{1,120})['’](?!\w)")
_DRAG = tuple(
    re.compile(start + r" (?:the )?(?P<a>[^,]+?) (?:on ?to|into|to|over) (?:the )?(?P<b>[^,]+)$", re.IGNORECASE)
    for start in (r"\bfrom", r"\bdrag(?:ging)?")
)
_SPOKEN_DOT = re.compile(r"(?<=\w)\s+dot\s+(?=[a-z0-9]{1,5}\b)", re.IGNORECASE)
_LOOSE_DOT = re.compile(r"(?<=\w)\s+\.(?=[a-z0-9]{1,5}\b)", re.IGNORECASE)
_ARTICLES = word_set("the a an your its this that it following")
_CARRIERS = word_set(
    "name word words text line title value number filename message sentence phrase command letter letters"
)
_LINKS = word_set("in into to as for called named")
_PLACES = word_set("field box cell page document dialog window editor name filename bar area column row here")
_SKIP = word_set("on in at to into onto over the a an your its this that of for")
_TAIL = re.compile(
    r"\s+(?:in|from|at|of|under|inside|within|on) (?:the|a|an|this|your|that) .*$"
    r"|\s+to (?:close|open|leave|save|remove|apply|confirm|finish|see|start|go|make|get|show) .*$",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r",\s|\s(?:again|here|there|now|which|because|so that|in order|next to|up here|down here|as you|so you|(?:that |and )?you(?:'ll|'re| can| want| need| see)?)(?=\s|$|[.,])"
)
"""Where a label ends and talk about it begins."""
_GENERIC = word_set("empty blank whole page area window document screen sheet cell desktop background it here there")


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
    verb = operation_verb(clause, language)
    if verb is None or verb[0] != "type":
        return None
    rest = unspoken(" ".join(clause.split()[verb[1] + 1 :])).strip().rstrip(".,;:!?").split()
    described = bool(rest) and clean(rest[0]) in ("your", "any", "some", "whatever", "something", "anything")
    if clean(clause.split()[verb[1]]) in ("name", "call", "rename", "fill", "search"):
        rest = _after_link(rest)
    if rest[:1] and clean(rest[0]) in ("in", "out") and len(rest) > 1:
        rest = rest[1:]
    while (
        len(rest) > 1
        and clean(rest[0]) in _ARTICLES | _CARRIERS | {"new", "file"}
        and (clean(rest[0]) not in _CARRIERS or not _place(rest[1:]))
    ):
        rest = rest[1:]
    for index in range(len(rest) - 1, 0, -1):
        if clean(rest[index]) in _LINKS and _place(rest[index + 1 :]):
            rest = rest[:index]
            break
    if described or not rest or all(clean(word) in _CARRIERS | _ARTICLES for word in rest):
        return None
    return " ".join(rest).strip().strip(",;:")


def _place(words: list[str]) -> bool:
    """Words that say where text goes or what it is: `in the name field`, `as the name`."""
    plain = [clean(word) for word in words]
    return 0 < len(plain) <= 6 and plain[-1] in _PLACES | _CARRIERS


def _after_link(words: list[str]) -> list[str]:
    """`it to final.txt` -> `final.txt`."""
    links = ("it", "this", "to", "as", "for", "with")
    index = next((place for place, word in enumerate(words[:-1]) if clean(word) in links), None)
    while index is not None and index + 1 < len(words) and clean(words[index]) in links:
        index += 1
    return words if index is None else words[index:]


def spoken_keys(clause: str) -> tuple[str, ...] | None:
    """Canonical keys of one hot key: `press control shift s` -> ('ctrl', 'shift', 's'); None when none is named."""
    words = [
        clean(part)
        for part in re.sub(
            r"(?<=\w)[+-](?=\w)", " ", clause.replace("page up", "pageup").replace("page down", "pagedown")
        ).split()
    ]
    verbs = {"press", "hit", "use", "hold", "type", "pressing", "hitting", "holding", "pressed", "drücke", "pulsa"}
    start = next((index + 1 for index, word in enumerate(words) if word in verbs), 0)
    keys: list[str] = []
    for word in words[start:]:
        if word in MODIFIER_WORDS:
            keys.append(SPOKEN_KEYS[word])
        elif (
            keys
            and keys[-1] in ("ctrl", "alt", "shift", "super")
            and ((len(word) == 1 and word.isalnum()) or word in SPOKEN_KEYS)
        ):
            if word not in ("plus",) or words[-1] == "plus":
                keys.append(SPOKEN_KEYS.get(word, word))
                break
        elif not keys and (word in PLAIN_KEY_WORDS or ("arrow" in words and word in ("up", "down", "left", "right"))):
            return (SPOKEN_KEYS[word],)
        elif not keys and len(word) == 1 and word.isalnum() and ("key" in words or word not in ("a", "i")):
            return (word,)
    return tuple(keys) if keys else None


def named_target(clause: str, language: str = "en") -> Named | None:
    """The thing a click, drag or scroll clause names, with its role; None when nothing but a place is said.

    >>> named_target("Click the Search menu").text
    'Search'
    """
    quoted = quoted_text(clause)
    verb = operation_verb(clause, language)
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
    bare = not any(clean(word) in ("the", "a", "an", "this", "that", "your") for word in rest[:2])
    while rest and clean(rest[0]) in _SKIP | {"and", "then", "now", "next", "up", "out"}:
        rest = rest[1:]
    text = _TAIL.sub("", _ASIDE.split(" ".join(rest), maxsplit=1)[0]).strip().rstrip(".,;:!?") if rest else ""
    role, parts = "", text.split()
    if parts and _is_role(parts[-1], alone=len(parts) == 1) and not (bare and len(parts) == 1):
        role, parts = ROLE_WORDS[clean(parts[-1])], parts[:-1]
    if len(parts) > 1 and _is_role(parts[0], alone=True):  # "cell A1", "the folder reports"
        role, parts = ROLE_WORDS[clean(parts[0])], parts[1:]
    while parts and clean(parts[0]) in _SKIP:
        parts = parts[1:]
    while len(parts) > 1 and parts[-1] in ("and", "or", "then", "so"):
        parts = parts[:-1]
    text = quoted or " ".join(parts)
    if (not text or all(part in _GENERIC for part in text.split())) and quoted is None:
        where = named_place(" ".join(lead))
        return Named(text="", role=role or "area") if where is None and rest else where
    return Named(text=text, role=role)


def _is_role(word: str, *, alone: bool) -> bool:
    """`menu` in "the File menu" is its kind; a capitalized "Cell" in "Format Cell" belongs to the label."""
    plain = clean(word)
    return plain in ROLE_WORDS and (
        word[:1].islower() or (not alone and plain in ("menu", "button", "tab", "icon", "checkbox"))
    )


def drag_ends(clause: str) -> tuple[str, str] | None:
    """The two labels of `drag ... from A1 to B1`, or of `drag X to Y`; None when an end is not said."""
    said = clause.strip().rstrip(".!?")
    match = next((found for pattern in _DRAG if (found := pattern.search(said))), None)
    if match is None or clean(match["a"].split()[0]) in ("over", "down", "up", "across", "it", "and"):
        return None
    return match["a"].strip(), match["b"].strip()


def named_place(lead: str) -> Named | None:
    """The place before a verb: `in the Search for field type` -> Search for, role field."""
    words = [word for word in lead.split() if word]
    while words and clean(words[0]) in _SKIP | {"then", "now", "next", "and", "first", "finally"}:
        words = words[1:]
    if not words or clean(words[-1]) not in ROLE_WORDS:
        return None
    text = " ".join(words[:-1])
    return Named(text=text, role=ROLE_WORDS[clean(words[-1])]) if text else None


def scroll_direction(clause: str) -> Literal["up", "down", "left", "right"]:
    """Where a `scroll` clause goes; down when it does not say."""
    words = {clean(word) for word in clause.split()}
    for direction, hints in (
        ("up", {"up", "top", "back", "upwards"}),
        ("left", {"left"}),
        ("right", {"right", "sideways"}),
    ):
        if words & hints:
            return direction  # type: ignore[return-value]
    return "down"

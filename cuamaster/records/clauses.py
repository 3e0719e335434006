"""Narration cut into atomic clauses: words with times, split at sentence ends, pauses, connectives and new verbs.

Source: CUA-Master's semantic path (split at connectives, keep clauses with an operation verb).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cuamaster.records.lexicon import Lexicon
from cuamaster.records.record import Record
from cuamaster.records.transcript import Sentence, Transcript, Word
from cuamaster.records.verbs import (
    DETERMINERS,
    FILLERS,
    MENU_TITLES,
    NOUN_BEFORE,
    PLANS,
    SECOND,
    clean,
    fillers,
    lexicon,
    operation_of,
)  # fmt: skip

PAUSE_SECONDS = 0.9
"""Silence between two words that ends a clause even without punctuation (espeak and people pause 0.3 s at a comma)."""
_END = re.compile(r"[.?!;:。？！；]+[\"'”’)]*$")
_CJK_BREAK = re.compile(r"([，。、！？；：])")
_OPENERS = tuple(
    phrase.split()
    for phrase in (
        "that's it", "thanks for", "thank you", "as you can", "so here", "so first", "so now", "so let's", "now let's", "okay", "now you'll",
        "and now", "don't forget", "please subscribe", "see you", "let's", "i'm going to", "we're going to", "you'll see", "welcome", "today",
    )
)  # fmt: skip
"""How people begin a new thought; automatic captions have no punctuation to show it."""


class Clause(Record):
    """A stretch of speech with at most one operation; seconds from the start of the video."""

    text: str
    start: float
    end: float
    words: tuple[Word, ...]
    connective: str = ""


def words_of(source: Transcript | Sequence[Sentence]) -> list[Word]:
    """All words in order of time; sentences without word times get interpolated ones."""
    sentences = source.sentences if isinstance(source, Transcript) else source
    return [
        word
        for sentence in sentences
        for word in (sentence.words or spread(sentence.text, sentence.start, sentence.end))
    ]


def spread(text: str, start: float, end: float) -> tuple[Word, ...]:
    """Words of a cue with times in proportion to their length (a word costs its letters plus one)."""
    parts = _CJK_BREAK.sub(r"\1 ", text).split()
    total = sum(len(part) + 1 for part in parts) or 1
    words, at = [], start
    for part in parts:
        until = at + (end - start) * (len(part) + 1) / total
        words.append(Word(text=part, start=round(at, 3), end=round(until, 3)))
        at = until
    return tuple(words)


def split_clauses(words: Sequence[Word], language: str = "en") -> list[Clause]:
    """Atomic clauses: cut at sentence ends, pauses, connectives, and before `and` or a comma that a verb follows."""
    table = lexicon(language)
    plain = [clean(word.text) for word in words]
    loose = unpunctuated(words)
    clauses: list[Clause] = []
    first, connective = 0, ""
    for index in range(1, len(words) + 1):
        joined = "" if index == len(words) else _connective(words, plain, index, table, loose, first)
        ended = index == len(words) or bool(_END.search(words[index - 1].text))
        paused = index < len(words) and words[index].start - words[index - 1].end >= PAUSE_SECONDS
        if ended or paused or joined:
            clauses.append(_clause(words[first:index], connective))
            first, connective = index, joined.strip()
    return [clause for clause in clauses if clause.words]


def unpunctuated(words: Sequence[Word]) -> bool:
    """Automatic captions: fewer than one sentence end in thirty words."""
    return sum(bool(_END.search(word.text)) for word in words) * 30 < len(words)


def ends_sentence(word: Word) -> bool:
    """The word carries a full stop or its like."""
    return bool(_END.search(word.text))


def _clause(words: Sequence[Word], connective: str) -> Clause:
    text = " ".join(word.text for word in words).strip(" ,")
    start, end = (words[0].start, words[-1].end) if words else (0.0, 0.0)
    return Clause(text=text, start=start, end=end, words=tuple(words), connective=connective)


def _connective(words: Sequence[Word], plain: list[str], index: int, table: Lexicon, loose: bool, first: int) -> str:
    """The connective that opens a new clause at `index`, or ''."""
    if index == first:
        return ""
    if not table.spaced:
        listed = words[index - 1].text.endswith(("，", "、", ",")) and operation_of(words[index].text, table)
        return next((item for item in table.connectives if plain[index].startswith(item)), "," if listed else "")
    before = plain[index - 1]
    for phrase in table.connectives:
        parts = phrase.split()
        if plain[index : index + len(parts)] == parts:
            label = words[index].text[:1].isupper() or before in DETERMINERS or before in table.strong
            if not label and not (before in table.conjunctions and index - 1 == first):
                return phrase
    joined = plain[index] in table.conjunctions
    if joined or words[index - 1].text.endswith(","):
        rest, raw = plain[index + joined : index + 6], [word.text for word in words[index + joined : index + 6]]
        if joined and before in ("click", "press", "hold") and rest[:1] in (["drag"], ["hold"], ["move"]):
            return ""  # "click and drag" is one movement
        if _after_menu(plain[first:index]) and raw[:1] and (raw[0][:1].isupper() or _is_short(words, index + joined)):
            return "then"  # "go to File, Open", "go to File and Export As", "open the format menu and sheet."
        while rest and rest[0] in fillers(table) | PLANS | table.plans:
            rest, raw = rest[1:], raw[1:]
        if (
            rest
            and raw[0][:1].islower()
            and (operation_of(" ".join(raw), table) or ("", 9))[1] <= int(rest[0] in SECOND)
        ):
            return plain[index] if joined else ","
    if loose and index - first > 1 and any(plain[index : index + len(phrase)] == phrase for phrase in _OPENERS):
        return " "
    if (
        loose
        and before not in NOUN_BEFORE
        and before not in table.strong
        and before not in (*SECOND, "and", "to", "by")
    ):
        head = plain[index + 1] if plain[index] in SECOND and index + 1 < len(plain) else plain[index]
        if head in table.strong and any(
            word in table.strong or word in table.weak for word in plain[first : index - 1]
        ):
            return " "  # automatic captions have no punctuation: a second verb begins a second action
    return ""


def _is_short(words: Sequence[Word], start: int) -> bool:
    """At most three words until the sentence ends."""
    return any(ends_sentence(word) for word in words[start : start + 3])


def _after_menu(plain: Sequence[str]) -> bool:
    """A verb and nothing but a menu's title: `now go to the file menu`."""
    said = [word for word in plain if word not in FILLERS | DETERMINERS | {"to", "on", "up", "menu"}]
    return len(said) == 2 and said[1] in MENU_TITLES and said[0] in ("go", "open", "click", "choose", "select")

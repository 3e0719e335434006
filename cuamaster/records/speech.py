"""Narration as operations: splits timed words into atomic clauses and finds the operation verb of each.

Pure functions over words; the reconstruction's semantic triggers and the embedded annotator read speech through these.
Source: CUA-Master's semantic path (split at connectives, keep clauses with an operation verb).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cuamaster.records.lexicon import LEXICONS, MODIFIER_WORDS, PLAIN_KEY_WORDS, Lexicon, word_set
from cuamaster.records.record import Record
from cuamaster.records.transcript import Sentence, Transcript, Word

PAUSE_SECONDS = 0.9
"""Silence between two words that ends a clause even without punctuation (espeak and people pause 0.3 s at a comma)."""

_END = re.compile(r"[.?!;:。？！；]+[\"'”’)]*$")
_CLEAN = re.compile(r"^[^\w]+|[^\w]+$")
_DETERMINERS = word_set("a an the this that these those your my our his her its no each every another of")
_NOUN_BEFORE = _DETERMINERS | word_set("single new which what some any")
_COMPOUNDS = {"type": word_set("file data document content font chart"), "click": frozenset({"mouse"})}
_HEDGES = word_set("don't dont not never without instead cannot can't if when whenever unless until before could would")
_FILLERS = word_set(
    "now then next first second third finally lastly so and please just simply again also okay ok well here after that "
    "but or once you i we afterwards all right alright good great there i'm we're you're"
)
_PLANS = word_set("will going gonna want wanted need have let lets let's us we'll i'll you'll can to try")
_PREPOSITIONS = word_set("in on from at under inside within into for")
_WIDGETS = word_set(
    "menu submenu button dialog dialogue tab icon checkbox box field toolbar sidebar panel dropdown file edit view insert "
    "format tools settings preferences"
)
"""Nouns (and menu titles everybody has) that turn a plan, "let's open the Edit menu", into an operation."""
_SECOND = {"right": "right_click", "double": "double_click", "left": "click", "middle": "click"}
_NOT_TICKED = word_set("that if whether out how what")


class Clause(Record):
    """A stretch of speech with at most one operation; seconds from the start of the video."""

    text: str
    start: float
    end: float
    words: tuple[Word, ...]
    connective: str = ""


class Operation(Record):
    """A clause that tells to do something: the kind of action and the time its verb is said."""

    clause: Clause
    kind: str
    position: int
    elided: bool = False

    @property
    def t(self) -> float:
        """Seconds: when the verb starts."""
        return self.clause.words[self.position].start


def clean(word: str) -> str:
    """Lower case without surrounding punctuation."""
    return _CLEAN.sub("", word.replace("’", "'")).lower()


def lexicon(language: str) -> Lexicon:
    """Table of a language given as `en`, `en-US`, `zh-Hans` ...; English when unknown."""
    return LEXICONS.get(language.lower().replace("_", "-").split("-")[0], LEXICONS["en"])


def operation_verb(clause: str, language: str = "en") -> tuple[str, int] | None:
    """The kind of action a clause commands and the index of its verb among the blank-separated words; None if none.

    Negated, conditional ("if you click"), and merely announced ("we will write a letter") operations are none.
    """
    table = lexicon(language)
    raw = clause.split()
    if not table.spaced:
        return _in_characters(raw, table)
    words = [clean(word) for word in raw]
    found = _first_verb(raw, words, table)
    if found is None:
        return None
    kind, index = found
    for later in range(index + 1, len(words)):  # "select the cells by dragging": the manner is the action
        manner = table.strong.get(words[later], "")
        if words[later - 1] in ("by", "and") and words[later].endswith("ing") and manner:
            kind, index = manner, later
            break
    return (_press(words[index + 1 :]) if kind == "press" else kind), index


def _first_verb(raw: list[str], words: list[str], table: Lexicon) -> tuple[str, int] | None:
    for index, word in enumerate(words):
        named = index > 0 and raw[index][:1].isupper() and not raw[index].isupper() and not raw[0].isupper()
        if named and not all(item in _FILLERS for item in words[:index]):
            continue  # "choose Find and Replace": a label, not a command
        before = words[index - 1] if index else ""
        first = index - 1 if before in _SECOND and word.startswith("click") else index
        if first and (words[first - 1] in _NOUN_BEFORE or words[first - 1] in _COMPOUNDS.get(word, ())):
            continue  # "the right click menu", "file type"
        if any(item in _HEDGES for item in words[:first]):
            return None
        kind = table.strong.get(word)
        if kind is not None:
            return (_SECOND.get(before, kind) if word.startswith("click") else kind), index
        kind = table.weak.get(word)
        if kind is not None and _commanded(words, index) and _weak_holds(words, index):
            return (_enter(words, index) if word == "enter" else kind), index
    return None


def _commanded(words: list[str], index: int) -> bool:
    """A weak verb is a command at the head of its clause, after fillers or a place ("in the menu, open ...")."""
    if words[index].endswith(("ed", "ing")) and index:
        return False
    lead = [word for word in words[:index] if word not in _FILLERS]
    if not lead:
        return not (index and words[index - 1] in ("i", "we", "you") and not _WIDGETS & set(words[index:]))
    if all(word in _PLANS for word in lead):
        return bool(_WIDGETS & set(words[index:]))
    return lead[0] in _PREPOSITIONS and words[index - 1] not in _PLANS


def _weak_holds(words: list[str], index: int) -> bool:
    """Some weak verbs are operations only with the right object: `use control c`, `check the box`, `name it x`."""
    word, rest = words[index], words[index + 1 :]
    if word in ("use", "hold"):
        return any(item in MODIFIER_WORDS or item in PLAIN_KEY_WORDS for item in rest)
    if word == "check":
        return not rest[:1] or rest[0] not in _NOT_TICKED
    if word == "move":
        return not {"mouse", "pointer", "cursor"} & set(rest) and rest[:1] != ["on"]
    if word in ("name", "call"):
        return rest[:1] in (["it"], ["this"], ["the"])
    if word == "fill":
        return rest[:1] in (["in"], ["out"], ["the"])
    return word != "go" or rest[:1] in (["to"], ["into"])


def _enter(words: list[str], index: int) -> str:
    """`enter` alone ends a clause as the key; with an object it means typing."""
    return "type" if index + 1 < len(words) and words[index + 1] != "key" else "key"


def _press(rest: list[str]) -> str:
    """Press or hit: a key when one is named before any widget, else a click."""
    for position, word in enumerate(rest):
        if word in ("key", "keys") or word in MODIFIER_WORDS or "+" in word:
            return "key"
        if word in PLAIN_KEY_WORDS:
            following = rest[position + 1] if position + 1 < len(rest) else ""
            return "click" if following in _WIDGETS else "key"
        if word in _WIDGETS:
            return "click"
    return "key" if rest and len(rest[-1]) == 1 and rest[-1].isalnum() and rest[-1] not in ("a", "i") else "click"


def _in_characters(raw: list[str], table: Lexicon) -> tuple[str, int] | None:
    joined = "".join(raw)
    for verbs in (table.strong, table.weak):
        hits = [(joined.find(verb), -len(verb), verb) for verb in verbs if verb in joined]
        if hits:
            at, _, verb = min(hits)
            lengths = 0
            for index, word in enumerate(raw):
                lengths += len(word)
                if lengths > at:
                    kind = verbs[verb]
                    return (
                        ("key" if "键" in joined or "キー" in joined else "click") if kind == "press" else kind
                    ), index
    return None


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
    parts = text.split()
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
    unpunctuated = sum(bool(_END.search(word.text)) for word in words) * 30 < len(words)
    clauses: list[Clause] = []
    first, connective = 0, ""
    for index in range(1, len(words) + 1):
        joined = "" if index == len(words) else _connective(words, plain, index, table, unpunctuated, first)
        ended = index == len(words) or bool(_END.search(words[index - 1].text))
        paused = index < len(words) and words[index].start - words[index - 1].end >= PAUSE_SECONDS
        if ended or paused or joined:
            clauses.append(_clause(words[first:index], connective))
            first, connective = index, joined.strip()
    return [clause for clause in clauses if clause.words]


def _clause(words: Sequence[Word], connective: str) -> Clause:
    text = " ".join(word.text for word in words).strip(" ,")
    start, end = (words[0].start, words[-1].end) if words else (0.0, 0.0)
    return Clause(text=text, start=start, end=end, words=tuple(words), connective=connective)


def _connective(words: Sequence[Word], plain: list[str], index: int, table: Lexicon, loose: bool, first: int) -> str:
    """The connective that opens a new clause at `index`, or ''."""
    if index == first:
        return ""
    if not table.spaced:
        return next((item for item in table.connectives if plain[index].startswith(item)), "")
    before = plain[index - 1]
    for phrase in table.connectives:
        parts = phrase.split()
        if plain[index : index + len(parts)] == parts:
            label = words[index].text[:1].isupper() or before in _DETERMINERS or before in table.strong
            if not label and not (before == "and" and index - 1 == first):
                return phrase
    after_comma = words[index - 1].text.endswith(",")
    if plain[index] == "and" or after_comma:
        rest = list(plain[index + (plain[index] == "and") : index + 6])
        raw = [word.text for word in words[index + (plain[index] == "and") : index + 6]]
        while rest and rest[0] in _FILLERS:
            rest, raw = rest[1:], raw[1:]
        if rest and raw[0][:1].islower() and (operation_verb(" ".join(raw)) or ("", 9))[1] <= int(rest[0] in _SECOND):
            return plain[index] if plain[index] == "and" else ","
    if (
        loose
        and before not in _NOUN_BEFORE
        and before not in table.strong
        and before not in (*_SECOND, "and", "to", "by")
    ):
        head = plain[index + 1] if plain[index] in _SECOND and index + 1 < len(plain) else plain[index]
        if head in table.strong and any(
            word in table.strong or word in table.weak for word in plain[first : index - 1]
        ):
            return " "  # automatic captions have no punctuation: a second verb begins a second action
    return ""


def operations(words: Sequence[Word], language: str = "en") -> list[Operation]:
    """Clauses that command an action, in order; "open the Format menu, then Sheet" counts twice (the second is elided)."""
    found: list[Operation] = []
    last: Operation | None = None
    planned = False
    for clause in split_clauses(words, language):
        verb = operation_verb(clause.text, language)
        planned = announced(clause.text) if clause.connective not in ("and", ",") else planned or announced(clause.text)
        strong = verb is not None and clean(clause.text.split()[verb[1]]) in lexicon(language).strong
        if verb is not None and planned and not strong and not _WIDGETS & {clean(word.text) for word in clause.words}:
            last = None  # "we will write a list, save it": the plan goes on
        elif verb is not None:
            last = Operation(clause=clause, kind=verb[0], position=min(verb[1], len(clause.words) - 1))
            found.append(last)
        elif _elided(clause, last):
            found.append(Operation(clause=clause, kind="click", position=0, elided=True))
        else:
            last = None
    return found


def announced(clause: str) -> bool:
    """The clause speaks of a plan: `we will ...`, `let us ...`, `I want to ...`."""
    words = [clean(word) for word in clause.split()]
    lead = [word for word in words[:6] if word not in _FILLERS]
    return bool(lead) and lead[0] in _PLANS - {"to", "try", "can", "need", "have"}


def _elided(clause: Clause, last: Operation | None) -> bool:
    """A few words after `then`, of which the last is a label: the verb of the clause before is meant again."""
    if last is None or last.kind != "click" or clause.connective not in ("then", "and then", "followed by"):
        return False
    rest = [word for word in clause.words if clean(word.text) not in _FILLERS]
    return 0 < len(rest) <= 4 and all(word.text[:1].isupper() or clean(word.text) in _DETERMINERS for word in rest)

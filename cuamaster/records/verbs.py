"""Which clause tells to do something: operation verbs in context, apart from nouns, conditions and announcements."""

from __future__ import annotations

import re

from cuamaster.records.lexicon import LEXICONS, MODIFIER_WORDS, PLAIN_KEY_WORDS, SPOKEN_KEYS, Lexicon, word_set

_CLEAN = re.compile(r"^[^\w]+|[^\w]+$")
DETERMINERS = word_set("a an the this that these those your my our his her its no each every another of")
NOUN_BEFORE = DETERMINERS | word_set("single new which what some any")
"""Words after which a verb's form is a noun: `a click`, `which type`."""
_COMPOUNDS = {"type": word_set("file data document content font chart"), "click": frozenset({"mouse"})}
FILLERS = word_set(
    "now then next first second third finally lastly so and please just simply again also okay ok well here after that "
    "but or once you i we afterwards all right alright good great there i'm we're you're over"
)
"""English words before a command that change nothing about it."""
PLANS = word_set("will going gonna want wanted need have let lets let's us we'll i'll you'll can to try")
"""Words before a verb that speak of intentions."""
_PREPOSITIONS = word_set("in on from at under inside within into for")
MENU_TITLES = word_set(
    "file edit view insert format tools settings preferences options help window search image layer select filters data home"
)
WIDGETS = MENU_TITLES - {
    "search",
    "select",
    "image",
    "layer",
    "data",
    "home",
    "window",
    "help",
    "options",
    "filters",
} | word_set("menu submenu button dialog dialogue tab icon checkbox box field toolbar sidebar panel dropdown")
"""Nouns (and menu titles everybody has) that turn a plan, "let's open the Edit menu", into an operation."""
SECOND = {"right": "right_click", "double": "double_click", "left": "click", "middle": "click"}
"""Words that make a click another click."""
_KEY_NOUNS = word_set("key keys taste tasten tecla teclas")
_NOT_TICKED = word_set("that if whether out how what")


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
    return operation_of(clause, lexicon(language))


def operation_of(clause: str, table: Lexicon) -> tuple[str, int] | None:
    """As `operation_verb`, with the table at hand."""
    raw = clause.split()
    if not table.spaced:
        return _in_characters(raw, table)
    words = [clean(word) for word in raw]
    found = _first_verb(raw, words, table) or _instrument(words, table)
    if found is None:
        return None
    kind, index = found
    for later in range(index + 1, len(words)):  # "select by dragging", "click and drag": the manner is the action
        manner = table.strong.get(words[later], "")
        by = words[later - 1] in ("by", "and") and words[later].endswith("ing")
        if manner and (by or (manner == "drag" and words[later - 1] == "and" and later == index + 2)):
            kind, index = manner, later
            break
    if kind == "press":
        kind = _press(words[index + 1 :], _widgets(table))
    if kind == "click":
        kind = next((other for pattern, other in table.manners if other and pattern.search(clause)), kind)
    return kind, index


def fillers(table: Lexicon) -> frozenset[str]:
    """Words before a command that change nothing about it, and those that say who does it."""
    return FILLERS | table.fillers | table.subjects


def _widgets(table: Lexicon) -> frozenset[str]:
    """English keeps to nouns that are nothing else (`row`, `page` and `file` are); other languages' role words are safe."""
    return WIDGETS | set(table.nouns.roles) if table.nouns.leading else WIDGETS


def _instrument(words: list[str], table: Lexicon) -> tuple[str, int] | None:
    """`With control S we save it`: the key is the whole command."""
    for index, word in enumerate(words[:-2]):
        if word in table.instruments and words[index + 1] in MODIFIER_WORDS and not table.hedges & set(words[:index]):
            return "key", index
    return None


def _first_verb(raw: list[str], words: list[str], table: Lexicon) -> tuple[str, int] | None:
    if words[:1] == ["or"]:
        return None  # "or you can press Shift C": another way, not a step
    for index, word in enumerate(words):
        named = index > 0 and raw[index][:1].isupper() and not raw[index].isupper() and not raw[0].isupper()
        if named and word not in table.nominal and not all(item in fillers(table) for item in words[:index]):
            continue  # "choose Find and Replace": a label, not a command
        before = words[index - 1] if index else ""
        first = index - 1 if before in SECOND and word.startswith("click") else index
        if first and (words[first - 1] in NOUN_BEFORE or words[first - 1] in _COMPOUNDS.get(word, ())):
            continue  # "the right click menu", "file type"
        if any(item in table.hedges for item in words[:first]):
            return None
        kind = table.strong.get(word)
        if kind is not None:
            return (SECOND.get(before, kind) if word.startswith("click") else kind), index
        kind = table.weak.get(word)
        if kind is not None and _commanded(words, index, table) and _weak_holds(words, index, table):
            return (_enter(words, index) if word == "enter" else kind), index
    return None


def _commanded(words: list[str], index: int, table: Lexicon) -> bool:
    """A weak verb is a command at the head of its clause, after fillers or a place ("in the menu, open ...")."""
    if words[index].endswith(("ed", "ing")) and index:
        return False
    lead = [word for word in words[:index] if word not in fillers(table)]
    widgets = _widgets(table)
    if not lead:
        return not (index and words[index - 1] in table.subjects and not widgets & set(words[index:]))
    if all(word in PLANS | table.plans for word in lead):  # "let's open the Edit menu", "I'll call it x"
        return bool(widgets & set(words[index:])) or words[index : index + 2] in (["call", "it"], ["name", "it"])
    return lead[0] in _PREPOSITIONS and words[index - 1] not in PLANS


def _weak_holds(words: list[str], index: int, table: Lexicon) -> bool:
    """Some weak verbs are operations only with the right object: `use control c`, `check the box`, `name it x`."""
    word, rest = words[index], words[index + 1 :]
    if word in table.needs:
        return bool(table.needs[word] & set(rest))
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


def _press(rest: list[str], widgets: frozenset[str]) -> str:
    """Press or hit: a key when one is named before any widget, else a click."""
    for position, word in enumerate(rest):
        if word in _KEY_NOUNS or "+" in word or MODIFIER_WORDS & set(word.split("-")):
            return "key"
        if word in PLAIN_KEY_WORDS:
            following = rest[position + 1] if position + 1 < len(rest) else ""
            return "click" if following in widgets else "key"
        if word in widgets:
            return "click"
    return "key" if rest and len(rest[-1]) == 1 and rest[-1].isalnum() and rest[-1] not in ("a", "i") else "click"


def _in_characters(raw: list[str], table: Lexicon) -> tuple[str, int] | None:
    found = verb_in_characters("".join(raw), table)
    if found is None:
        return None
    kind, at, _ = found
    lengths = 0
    for index, word in enumerate(raw):
        lengths += len(word)
        if lengths > at:
            return kind, index
    return None


def verb_in_characters(joined: str, table: Lexicon) -> tuple[str, int, int] | None:
    """Kind, first and last place (exclusive) of the verb in a clause without blanks; widgets' names hold none (`按钮`)."""
    masked = joined
    for noun in table.nouns.roles:
        masked = masked.replace(noun, "\0" * len(noun))
    for verbs in (table.strong, table.weak):
        hits = [(masked.find(verb), -len(verb), verb) for verb in verbs if verb in masked]
        if hits:
            at, _, verb = min(hits)
            if any(hedge in masked[:at] for hedge in table.hedges):
                return None
            kind = verbs[verb]
            return (_press_in_characters(masked) if kind == "press" else kind), at, at + len(verb)
    return None


def _press_in_characters(masked: str) -> str:
    keyed = any(noun in masked for noun in ("键", "キー")) or any(
        name in masked for name in SPOKEN_KEYS if not name.isascii()
    )
    return "key" if keyed or re.search(r"(?i)ctrl|alt|shift", masked) else "click"


def announced(clause: str, language: str = "en") -> bool:
    """The clause speaks of a plan: `we will ...`, `let us ...`, `I want to ...`."""
    table = lexicon(language)
    words = [clean(word) for word in clause.split()]
    lead = [word for word in words[:6] if word not in fillers(table)]
    return bool(lead) and lead[0] in (PLANS - {"to", "try", "can", "need", "have"}) | table.plans

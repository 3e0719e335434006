"""Narration as operations: which clauses of the timed words tell to do what, and when; the door to verbs and clauses.

Pure functions over words; the reconstruction's semantic triggers and the embedded annotator read speech through these.
"""

from __future__ import annotations

from collections.abc import Sequence

from cuamaster.records.clauses import (
    PAUSE_SECONDS,
    Clause,
    ends_sentence,
    split_clauses,
    spread,
    unpunctuated,
    words_of,
)
from cuamaster.records.lexicon import PLAIN_KEY_WORDS
from cuamaster.records.record import Record
from cuamaster.records.transcript import Word
from cuamaster.records.verbs import (
    DETERMINERS,
    MENU_TITLES,
    WIDGETS,
    announced,
    clean,
    fillers,
    lexicon,
    operation_verb,
)

__all__ = [
    "MENU_TITLES", "PAUSE_SECONDS", "Clause", "Operation", "clean", "ends_sentence", "lexicon", "operation_verb", "operations", "split_clauses", "spread",
    "unpunctuated", "words_of",
]  # fmt: skip


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


def operations(words: Sequence[Word], language: str = "en") -> list[Operation]:
    """Clauses that command an action, in order; "open the Format menu, then Sheet" counts twice (the second is elided)."""
    found: list[Operation] = []
    last: Operation | None = None
    planned = False
    for clause in split_clauses(words, language):
        verb = operation_verb(clause.text, language)
        planned = (
            announced(clause.text, language)
            if clause.connective not in (*lexicon(language).conjunctions, ",")
            else planned or announced(clause.text, language)
        )
        strong = verb is not None and clean(clause.text.split()[verb[1]]) in lexicon(language).strong
        named = verb is not None and verb[0] == "type" and clean(clause.text.split()[verb[1]]) in ("call", "name")
        if (
            verb is not None
            and planned
            and not strong
            and not named
            and not WIDGETS & {clean(word.text) for word in clause.words}
        ):
            last = None  # "we will write a list, save it": the plan goes on
        elif verb is not None:
            last = Operation(clause=clause, kind=verb[0], position=min(verb[1], len(clause.words) - 1))
            found.append(last)
        elif kind := _elided(clause, last, language):
            found.append(Operation(clause=clause, kind=kind, position=0, elided=True))
        else:
            last = None
    return found


def _elided(clause: Clause, last: Operation | None, language: str) -> str:
    """What a few words after `then` mean, of which the last is a label: the verb of the clause before again; '' if nothing."""
    table = lexicon(language)
    if last is None or last.kind not in ("click", "key") or clause.connective not in table.elides:
        return ""
    after = clause.words[len(clause.connective.split()) :]
    rest = [word for word in after if clean(word.text) not in fillers(table)]
    comma = next((index + 1 for index, word in enumerate(rest) if word.text.endswith(",")), len(rest))
    label = [clean(word.text) for word in rest[:comma]]
    if not 0 < len(label) <= 4:
        return ""
    widget = label[-1] in WIDGETS and label[0] in DETERMINERS  # "press 8, followed by the equals button"
    if last.kind == "key":
        keys = all(word in PLAIN_KEY_WORDS or word in DETERMINERS | {"key"} for word in label)
        return "click" if widget else "key" if keys and set(label) & PLAIN_KEY_WORDS else ""
    named = all(
        word.text[:1].isupper() or clean(word.text) in DETERMINERS | table.nouns.articles for word in rest[:comma]
    )
    in_menu = clean(last.clause.words[-1].text) == "menu" and len(rest) <= 3
    return "click" if named or in_menu or widget else ""

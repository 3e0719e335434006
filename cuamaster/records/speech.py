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
from cuamaster.records.record import Record
from cuamaster.records.transcript import Word
from cuamaster.records.verbs import (
    DETERMINERS,
    FILLERS,
    MENU_TITLES,
    WIDGETS,
    announced,
    clean,
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
            announced(clause.text)
            if clause.connective not in (*lexicon(language).conjunctions, ",")
            else planned or announced(clause.text)
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
        elif _elided(clause, last):
            found.append(Operation(clause=clause, kind="click", position=0, elided=True))
        else:
            last = None
    return found


def _elided(clause: Clause, last: Operation | None) -> bool:
    """A few words after `then`, of which the last is a label: the verb of the clause before is meant again."""
    if last is None or last.kind != "click" or clause.connective not in ("then", "and then", "followed by"):
        return False
    rest = [word for word in clause.words if clean(word.text) not in FILLERS]
    comma = next((index + 1 for index, word in enumerate(rest) if word.text.endswith(",")), len(rest))
    label = rest[:comma]
    named = all(word.text[:1].isupper() or clean(word.text) in DETERMINERS for word in label)
    in_menu = clean(last.clause.words[-1].text) == "menu" and len(rest) <= 3
    return 0 < len(label) <= 4 and (named or in_menu)

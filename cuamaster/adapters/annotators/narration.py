"""Narration as a row of utterances: operations, and talk that announces, completes, sells, sums up or closes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cuamaster.adapters.annotators.cues import APPEAL, CLOSING, PAID, PAID_TOO, PAST_FORMS, RETURN, TOLD
from cuamaster.records.speech import (
    PAUSE_SECONDS,
    Operation,
    clean,
    ends_sentence,
    operations,
    split_clauses,
    unpunctuated,
)
from cuamaster.records.transcript import Word

Aside = Literal["", "closing", "appeal", "paid", "told", "shown", "unseen"]
"""Why operations that are said are none of a task: a goodbye, an appeal to subscribe, a paid read, a report of what was done before, said
over another picture than the interface, said with nothing happening."""
PAID_GAP_S = 25.0
"""A paid read says in every other sentence or so what it sells."""
MOSTLY = 0.6
"""Share of operations in the past tense from which a narrator tells afterwards what was just done."""


@dataclass(frozen=True)
class Utterance:
    """A sentence with the operations it commands, or those that are `put_aside`; seconds."""

    text: str
    start: float
    end: float
    operations: tuple[Operation, ...] = ()
    aside: Aside = ""
    put_aside: tuple[Operation, ...] = ()

    @property
    def interrupts(self) -> bool:
        """No task goes on across it."""
        return self.aside in ("closing", "appeal", "paid", "shown")

    def without(self, aside: Aside) -> Utterance:
        """The same words, their operations put aside."""
        return replace(self, operations=(), aside=aside, put_aside=self.operations or self.put_aside)


def utterances(words: Sequence[Word], language: str) -> list[Utterance]:
    """Sentences by punctuation or pause (clauses, where there is no punctuation), each with its operations or why it has none."""
    found = operations(words, language)
    if unpunctuated(words):
        pieces = [list(clause.words) for clause in split_clauses(words, language)]
    else:
        pieces = [[]]
        for index, word in enumerate(words):
            pieces[-1].append(word)
            if index + 1 < len(words) and (ends_sentence(word) or words[index + 1].start - word.end >= PAUSE_SECONDS):
                pieces.append([])
    spoken: list[Utterance] = []
    for piece in filter(None, pieces):
        inside = tuple(item for item in found if piece[0].start <= item.t < max(piece[-1].end, piece[0].start + 0.001))
        spoken.append(Utterance(" ".join(word.text for word in piece), piece[0].start, piece[-1].end, inside))
    return _asides(spoken, afterwards=_tells_afterwards(found))


def _asides(spoken: Sequence[Utterance], *, afterwards: bool) -> list[Utterance]:
    sold = paid_reads(spoken)
    result = []
    for index, item in enumerate(spoken):
        past = bool(item.operations) and all(in_the_past(operation) for operation in item.operations)
        if index in sold:
            result.append(item.without("paid"))
        elif CLOSING.search(item.text):
            result.append(item.without("closing"))
        elif APPEAL.search(item.text):
            result.append(item.without("appeal"))
        elif TOLD.search(item.text) or (past and not afterwards):
            result.append(item.without("told"))
        else:
            result.append(item)
    return result


def paid_reads(spoken: Sequence[Utterance]) -> frozenset[int]:
    """Places of the utterances of paid reads: from the first that says so to the last that sells, unless the narrator returns between."""
    sure = [index for index, item in enumerate(spoken) if PAID.search(item.text)]
    selling = {index for index, item in enumerate(spoken) if PAID_TOO.search(item.text)} | set(sure)
    found: set[int] = set()
    for first in sure:
        for step in (1, -1):
            last = at = first
            while 0 <= (at := at + step) < len(spoken):
                near, far = (spoken[last], spoken[at]) if step > 0 else (spoken[at], spoken[last])
                if far.start - near.end > PAID_GAP_S or (step > 0 and RETURN.search(spoken[at].text)):
                    break
                last = at if at in selling else last
            found.update(range(min(first, last), max(first, last) + 1))
    return frozenset(found)


def in_the_past(operation: Operation) -> bool:
    """`we clicked File`: an English verb in the past tense."""
    verb = clean(operation.clause.words[operation.position].text)
    return verb.endswith("ed") or verb in PAST_FORMS


def _tells_afterwards(found: Sequence[Operation]) -> bool:
    return len(found) > 0 and sum(in_the_past(item) for item in found) >= MOSTLY * len(found)

"""Narration as a row of utterances: operations, and talk that announces, completes, sells, sums up or closes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
    words_of,
)
from cuamaster.records.transcript import Transcript, Word

Aside = Literal["", "closing", "appeal", "paid", "told", "shown", "unseen"]
"""Why operations that are said are none of a task: a goodbye, an appeal to subscribe, a paid read, a report of what was done before, said
over another picture than the interface, said with nothing happening."""
PAID_GAP_S = 25.0
"""A paid read says in every other sentence or so what it sells."""
BREATH_S = 0.25
"""Silence between two cues; inside a cue words follow each other."""
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


def narrated(transcript: Transcript) -> list[Utterance]:
    """The utterances of a transcript; where it has no punctuation, a cue that begins after a breath begins one."""
    words = words_of(transcript)
    cues = frozenset(item.words[0].start if item.words else item.start for item in transcript.sentences)
    return utterances(words, transcript.language, cues)


def utterances(words: Sequence[Word], language: str, cues: Collection[float] = ()) -> list[Utterance]:
    """Sentences by punctuation or pause, each with its operations or why it has none.

    Without punctuation: clauses, cut at pauses where one of `cues` (seconds) starts.
    """
    found = operations(words, language)
    loose = unpunctuated(words)
    openers = {clause.words[0].start for clause in split_clauses(words, language)} if loose else set()
    pieces: list[list[Word]] = [[]]
    for before, word in zip([None, *words], words, strict=False):
        silence = word.start - before.end if before is not None else 0.0
        if loose:
            opens = word.start in openers or (word.start in cues and silence >= BREATH_S)
        else:
            opens = silence >= PAUSE_SECONDS or (before is not None and ends_sentence(before))
        if opens and pieces[-1]:
            pieces.append([])
        pieces[-1].append(word)
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

"""Narration as a row of utterances: operation, talk that announces, completes or closes; and where one task ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from cuamaster.records.speech import PAUSE_SECONDS, Operation, ends_sentence, operations, split_clauses, unpunctuated
from cuamaster.records.transcript import Word

LONG_TALK_SECONDS = 6.0
"""Talk between operations from which, once something is completed, a new task is assumed."""
VERY_LONG_SECONDS = 25.0

_CLOSING = re.compile(
    r"\b(thank(s| you) (you )?(very much |so much |all )?for (watching|your)|thanks everyone|see you|good ?bye|bye bye|next (video|time|tutorial)"
    r"|that('s| is| was) (all|it|everything)( for| folks|\.|,|$)|that concludes|until next|have a (nice|great|good)|hope (this|you)|end of (this|the) (video|tutorial)"
    r"|danke für|bis zum nächsten|gracias por|hasta la|谢谢|再见|下期|ありがとうございました)|感谢",
    re.IGNORECASE,
)
_APPEAL = re.compile(
    r"\b(subscribe|like button|bell|notification|link in the description|(leave|write) (me )?a comment|comments? (below|section)|patreon|sponsor|discount|coupon|channel)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"^(good|great|perfect|done|excellent|nice|voil[aà]|there (we|you) (go|have)|very good|fine|super|fertig|listo)\b|\b(is|are|has been|have been) "
    r"(now|already|successfully)\b|\bnow (stored|saved|done|finished|ready|complete)\b|\bthat('s| is) how\b|\bas you can see\b|\bwe('ve| have) (now |just |successfully )?"
    r"(created|made|saved|finished|added|done|learned|seen)\b|\bfinished\b",
    re.IGNORECASE,
)
_GOAL = re.compile(
    r"\b(let('s| us)|next (we|up|task|thing|topic|example)|now (we|i|let)|we (will|want|still|can now|need to|are going)|i (will|want|am going)|i'll|we'll|how to|another|"
    r"second (task|part|example|thing)|third (task|part|example|thing)|moving on|last (task|thing|part)|task|but wait|also want|jetzt wollen|ahora vamos|接下来|次は)\b",
    re.IGNORECASE,
)
_NEW_TASK = re.compile(
    r"\b(next|second|third|another|new|last|final) (task|part|topic|example|exercise|lesson|chapter|tip)\b|\b(task|part|tip|example|lesson) (number )?"
    r"(two|three|four|five|six|[2-9])\b|\bmoving on\b|\bnow let('s| us) (see|look|learn) (at )?how\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Utterance:
    """A sentence with the operations it commands; seconds."""

    text: str
    start: float
    end: float
    operations: tuple[Operation, ...] = ()

    @property
    def closing(self) -> bool:
        """It says goodbye, or asks for a subscription."""
        return bool(_CLOSING.search(self.text) or _APPEAL.search(self.text))


@dataclass
class Run:
    """Utterances of one task, and the talk that came before and after it."""

    spoken: list[Utterance] = field(default_factory=list)
    lead: list[Utterance] = field(default_factory=list)
    tail: list[Utterance] = field(default_factory=list)

    @property
    def operations(self) -> list[Operation]:
        """All operations, in order."""
        return [item for utterance in self.spoken for item in utterance.operations]


def utterances(words: Sequence[Word], language: str) -> list[Utterance]:
    """Sentences by punctuation or pause (clauses, where there is no punctuation), each with its operations.

    Goodbyes and appeals to subscribe have none, whatever verbs they use.
    """
    found = operations(words, language)
    if unpunctuated(words):
        pieces = [list(clause.words) for clause in split_clauses(words, language)]
    else:
        pieces = [[]]
        for index, word in enumerate(words):
            pieces[-1].append(word)
            if index + 1 < len(words) and (ends_sentence(word) or words[index + 1].start - word.end >= PAUSE_SECONDS):
                pieces.append([])
    result: list[Utterance] = []
    for piece in pieces:
        if not piece:
            continue
        inside = tuple(item for item in found if piece[0].start <= item.t < max(piece[-1].end, piece[0].start + 0.001))
        item = Utterance(" ".join(word.text for word in piece), piece[0].start, piece[-1].end)
        result.append(item if item.closing else Utterance(item.text, item.start, item.end, inside))
    return result


def runs(spoken: Sequence[Utterance]) -> list[Run]:
    """Tasks: operations that belong together, split where the talk between completes one thing and turns to another."""
    found: list[Run] = []
    talk: list[Utterance] = []
    for item in spoken:
        if not item.operations:
            talk.append(item)
            continue
        if not found or _breaks(found[-1].spoken[-1], talk, item):
            if found:
                found[-1].tail = talk
            found.append(Run([item], lead=talk))
        else:
            found[-1].spoken += [*talk, item]
        talk = []
    if found:
        found[-1].tail = talk
    return found


def _breaks(before: Utterance, talk: Sequence[Utterance], after: Utterance) -> bool:
    if any(item.closing for item in talk):
        return True
    said = " ".join(item.text for item in talk)
    gap = after.start - before.end
    if not talk:
        return gap >= VERY_LONG_SECONDS
    done = any(_DONE.search(item.text) for item in talk)
    goal = bool(_GOAL.search(said))
    if _NEW_TASK.search(said):
        return True
    return (done and goal) or (done and gap >= LONG_TALK_SECONDS) or gap >= VERY_LONG_SECONDS


def span(run: Run, previous_end: float, next_start: float | None, duration: float | None) -> tuple[float, float]:
    """Seconds of a task: from its first words (a little before, if nobody was talking) until the talk after it begins.

    Hands lag behind the voice, so the end is the start of the closing or bridging talk, never the last word said.
    """
    first, last = run.spoken[0], run.spoken[-1]
    start = max(previous_end, first.start - 1.0, run.lead[-1].end if run.lead else 0.0)
    limit = last.end + 15.0
    if run.tail:
        limit = min(limit, max(run.tail[0].start, last.end + 0.5))
    if next_start is not None:
        limit = min(limit, next_start)
    if duration is not None:
        limit = min(limit, duration)
    return round(max(0.0, start), 3), round(max(limit, start + 0.1), 3)

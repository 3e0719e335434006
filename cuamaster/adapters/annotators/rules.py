"""The embedded annotator: judges, mines and reviews by rules over words, names and what changes on the screen; needs no model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cuamaster.adapters.annotators.instruction import instruct
from cuamaster.adapters.annotators.narration import Utterance, narrated
from cuamaster.adapters.annotators.spans import UNSEEN_KINDS, looked_at, runs, span
from cuamaster.adapters.annotators.start import start_state
from cuamaster.errors import UnknownName
from cuamaster.ports import Candidate, Image, Review
from cuamaster.records.chapters import Chapter, borne_out
from cuamaster.records.speech import Operation, operation_verb, words_of
from cuamaster.records.spoken_keys import spoken_keys
from cuamaster.records.taxonomy import App, Taxonomy
from cuamaster.records.transcript import Transcript, Word
from cuamaster.records.video import Judgement, Opinion, TaskSegment, Video
from cuamaster.vision.reel import Reel

MIN_OPERATIONS = 2
MIN_TRUST = 0.4
DENSE_PER_MINUTE = 3.0
STRONG_VISUAL = 0.6
"""A candidate nobody speaks of is kept from this score on (the aligner scores area, cursor stop and plausibility 0-1)."""
MIN_KIN = 6
"""Letters from which a word inside an application's name stands for it: terminal, calculator; not note, file, text."""


class RulesAnnotator:
    """Annotator without a model. `taxonomy` names applications in speech and titles; without it only video.app is known."""

    name = "rules"

    def __init__(self, taxonomy: Taxonomy | None = None) -> None:
        self._taxonomy = taxonomy

    def tell(self, videos: Sequence[Video]) -> list[Opinion]:  # noqa: ARG002  there is nothing to say of any
        """Nothing: the scorer has said what rules can."""
        return []

    def score(self, video: Video, transcript: Transcript, frames: Sequence[tuple[float, Image]]) -> Judgement:
        """0-5: one point each for some operations, many, a dense narration, a named application, and frames to look at.

        What the frames show is not judged again: the screen gate lets through what is a screen and can be read.
        """
        found = self._operations(transcript)
        minutes = max(0.25, (video.duration or (transcript.sentences[-1].end if transcript.sentences else 0.0)) / 60)
        points = [
            len(found) >= MIN_OPERATIONS,
            len(found) >= 2 * MIN_OPERATIONS,
            len(found) / minutes >= DENSE_PER_MINUTE,
            bool(self._app(video, transcript.text)),
            bool(frames),
        ]
        suitability = sum(points) if found else 0
        if transcript.trust < MIN_TRUST:
            suitability = min(suitability, 1)
        return Judgement(
            suitability=suitability,
            has_computer_operation=bool(found),
            reconstructible=len(found) >= MIN_OPERATIONS and transcript.trust >= MIN_TRUST,
            clear_picture=True,
            reason=f"{len(found)} operations said in {minutes:.1f} min; trust {transcript.trust:.2f}",
            annotator=self.name,
            video_id=video.id,
        )

    def mine(self, video: Video, transcript: Transcript, frames: Sequence[tuple[float, Image]]) -> list[TaskSegment]:
        """Task spans with at least two operations; greetings, goodbyes, appeals, paid reads, slides and long talk are left out.

        Pictures count when `frames` is a `Reel` of the whole recording: then only what is seen to be operated is mined.
        """
        spoken = narrated(transcript)
        chapters = _believed(video.chapters, words_of(transcript), spoken)
        spoken = [_in_paid_chapter(item, chapters) for item in spoken]
        reel = frames if isinstance(frames, Reel) and len(frames) > 1 else None
        if reel is not None:
            spoken = looked_at(spoken, reel)
        marks = [chapter.t_start for chapter in chapters if chapter.t_start > 0]
        tasks = [run for run in runs(spoken, reel, marks) if len(run.operations) >= MIN_OPERATIONS]
        segments: list[TaskSegment] = []
        for index, run in enumerate(tasks):
            before = segments[-1] if segments else None
            following = tasks[index + 1].spoken[0].start if index + 1 < len(tasks) else None
            start, end = span(run, before.t_end if before else 0.0, following, video.duration, reel)
            said = " ".join(item.text for item in (*run.lead, *run.spoken))
            app_id = self._app_of_task(video, said, before) or self._app(video, transcript.text)
            state, continues = start_state(run.operations, self._named(app_id), before, transcript.language)
            segments.append(
                TaskSegment(
                    video_id=video.id, index=index, t_start=start, t_end=end, app=app_id,
                    instruction=instruct(run.operations, self._app_name(app_id), transcript.language), annotator=self.name,
                    evidence=" ".join(item.text for item in run.spoken if item.operations)[:1000],
                    start_state=state, continues=continues,
                )
            )  # fmt: skip
        return segments

    def review(self, candidates: Sequence[Candidate], segment: TaskSegment) -> list[Review]:  # noqa: ARG002 (words decide here)
        """Keep what is said and seen, what is said and may be too small to see, and what is clearly seen though unsaid."""
        return [_decide(item) for item in candidates]

    def _operations(self, transcript: Transcript) -> list[Operation]:
        return [item for utterance in narrated(transcript) for item in utterance.operations]

    def _app(self, video: Video, said: str) -> str:
        """The application a video was kept for; else the one its title or the words name most; '' if none."""
        if video.app:
            return video.app
        if self._taxonomy is None:
            return ""
        named = self._taxonomy.match(video.title) or self._taxonomy.match(f"{said} {video.description}")
        return named[0].id if named else ""

    def _app_of_task(self, video: Video, said: str, before: TaskSegment | None) -> str:
        """In a video about several applications, the one whose name (or a long word of it, "terminal") the task's words hold most.

        Words that name none are still about the one before.
        """
        if self._taxonomy is None:
            return self._app(video, said)
        told = self._taxonomy.match(f"{video.title} {video.description}")
        if len(told) < 2 or (video.app and video.app not in {app.id for app in told}):
            return self._app(video, said)
        words = re.findall(r"[^\W_]+", said.lower())

        still = before.app if before is not None else video.app

        def weight(app: App) -> tuple[int, bool]:
            names = [re.sub(r"[\W_]+", "", name.lower()) for name in app.names]
            return sum(len(word) >= MIN_KIN and any(word in name for name in names) for word in words), app.id == still

        return max(told, key=weight).id

    def _app_name(self, app_id: str) -> str:
        app = self._named(app_id)
        return app.name if isinstance(app, App) else app

    def _named(self, app_id: str) -> App | str:
        """The application, or its id where the taxonomy does not know it."""
        try:
            return self._taxonomy.app(app_id) if self._taxonomy is not None and app_id else app_id
        except UnknownName:
            return app_id


def _believed(chapters: Sequence[Chapter], words: Sequence[Word], spoken: Sequence[Utterance]) -> Sequence[Chapter]:
    """The chapters, or none of them where the speech tells otherwise."""
    edges = [0.0, *(t for item in spoken for t in (item.start, item.end))]
    pauses = list(zip(edges[::2], edges[1::2], strict=False))
    return chapters if borne_out(chapters, words, pauses) else ()


def _in_paid_chapter(item: Utterance, chapters: Sequence[Chapter]) -> Utterance:
    """Operations said in a chapter that is called an advertisement are none."""
    middle = (item.start + item.end) / 2
    inside = [chapter for chapter in chapters if chapter.t_start <= middle]
    return item.without("paid") if inside and inside[-1].paid else item


def _decide(item: Candidate) -> Review:
    verb = operation_verb(item.clause) if item.clause else None
    kind = item.verb or (verb[0] if verb else "")
    said = item.t_semantic is not None and bool(kind)
    if said and item.t_visual is not None:
        return Review(keep=True, kind=kind, clause=item.clause, reason="said and seen")
    if said:
        heard = kind in UNSEEN_KINDS and (kind != "key" or spoken_keys(item.clause) is not None)
        return Review(
            keep=heard,
            kind=kind,
            clause=item.clause,
            reason="said, effect too small to see" if heard else "said, not seen",
        )
    if item.t_visual is not None and item.score >= STRONG_VISUAL:
        return Review(keep=True, kind=kind or "click", reason=f"not said, clearly seen ({item.score:.2f})")
    return Review(keep=False, kind=kind, reason="a change nobody speaks of")

"""Has titles judged on which the embedded scorer is undecided, nearest calls first, within the round's budget: by the second reader, then by a model."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence

from cuamaster.ports import Annotator, Embedder
from cuamaster.records.record import content_id
from cuamaster.records.taxonomy import Taxonomy
from cuamaster.records.video import Opinion, Reading, Video
from cuamaster.seeding.scorer import load_scorer
from cuamaster.seeding.screen import READ_AGAIN, UNDECIDED, ScreenRules, in_title, masked, undecided
from cuamaster.seeding.second_reader import load_second_reader, text_of
from cuamaster.stages.running import Each, run
from cuamaster.tables import RoundFolder, records_of, slices

BATCH = 20
"""Titles in one call: enough to share the question's tokens, few enough that an answer stays complete."""
READ_BATCH = 100
"""Titles of one part of the readings: some seconds of work, which is what a kill loses."""


def read_again(
    folder: RoundFolder,
    taxonomy: Taxonomy,
    rules: ScreenRules,
    embedder: Embedder,
    each: Each,
    *,
    most: int,
    today: str | None = None,
) -> dict[str, Reading]:
    """`discover` -> `readings`, by video id: of at most `most` videos, those whose scorer's probability is nearest to the wanted one."""
    doubts = _nearest(folder, taxonomy, rules, most, today, within=READ_AGAIN)
    stage = folder.stage("readings")
    run(
        stage, _batches(doubts, READ_BATCH), lambda batch: (_read(batch, taxonomy, embedder), ()),
        key=_key, each=each, label=lambda batch: f"{len(batch)} titles", given=embedder.name,
    )  # fmt: skip
    return {reading.video_id: reading for reading in stage.kept(Reading)}


def _read(batch: Sequence[Video], taxonomy: Taxonomy, embedder: Embedder) -> list[Reading]:
    texts = [masked(video.title, video.description, in_title(video, taxonomy)) for video in batch]
    margins = load_scorer().margin([title for title, _ in texts], [about for _, about in texts])
    vectors = embedder.embed([text_of(*text) for text in texts])
    likely, kinds = load_second_reader().read(vectors, margins)
    return [
        Reading(video_id=video.id, likely=p, kind=kind)
        for video, p, kind in zip(batch, likely.tolist(), kinds, strict=True)
    ]


def ask(
    folder: RoundFolder,
    taxonomy: Taxonomy,
    rules: ScreenRules,
    annotator: Annotator,
    each: Each,
    *,
    most: int,
    today: str | None = None,
    read: Mapping[str, Reading] | None = None,
) -> dict[str, Opinion]:
    """`discover` -> `opinions`, by video id: of at most `most` videos, those whose probability is nearest to the wanted one. `read`: readings
    that stand in for the scorer's probability."""
    doubts = _nearest(folder, taxonomy, rules, most, today, read=read)
    stage = folder.stage("opinions")
    run(
        stage, _batches(doubts, BATCH), lambda batch: (annotator.tell(batch), ()),
        key=_key, each=each, label=lambda batch: f"{len(batch)} titles", given=annotator.name,
    )  # fmt: skip
    return {opinion.video_id: opinion for opinion in stage.kept(Opinion)}


def _nearest(
    folder: RoundFolder,
    taxonomy: Taxonomy,
    rules: ScreenRules,
    most: int,
    today: str | None,
    *,
    read: Mapping[str, Reading] | None = None,
    within: float = UNDECIDED,
) -> list[Video]:
    def doubts() -> Iterator[tuple[float, str, Video]]:
        for part in slices(folder.stage("discover")):
            videos = records_of(part.table(), Video)
            for distance, video in undecided(videos, taxonomy, rules, today=today, read=read, within=within):
                yield distance, video.id, video

    return [video for *_, video in heapq.nsmallest(most, doubts(), key=lambda item: item[:2])]


def _batches(videos: Sequence[Video], size: int) -> list[Sequence[Video]]:
    return [videos[first : first + size] for first in range(0, len(videos), size)]


def _key(batch: Sequence[Video]) -> str:
    return content_id("titles", [video.id for video in batch])

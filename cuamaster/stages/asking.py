"""Asks a model about the titles on which the embedded scorer is undecided, nearest calls first, within the round's budget."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from cuamaster.ports import Annotator
from cuamaster.records.record import content_id
from cuamaster.records.taxonomy import Taxonomy
from cuamaster.records.video import Opinion, Video
from cuamaster.seeding.screen import ScreenRules, undecided
from cuamaster.stages.running import Each, run
from cuamaster.tables import RoundFolder, records_of, slices

BATCH = 20
"""Titles in one call: enough to share the question's tokens, few enough that an answer stays complete."""


def ask(
    folder: RoundFolder,
    taxonomy: Taxonomy,
    rules: ScreenRules,
    annotator: Annotator,
    each: Each,
    *,
    most: int,
    today: str | None = None,
) -> dict[str, Opinion]:
    """`discover` -> `opinions`, by video id: of at most `most` videos, those whose probability is nearest to the wanted one."""

    def doubts() -> Iterator[tuple[float, str, Video]]:
        for part in slices(folder.stage("discover")):
            for distance, video in undecided(records_of(part.table(), Video), taxonomy, rules, today=today):
                yield distance, video.id, video

    nearest = [video for *_, video in heapq.nsmallest(most, doubts(), key=lambda item: item[:2])]
    batches = [nearest[first : first + BATCH] for first in range(0, len(nearest), BATCH)]
    stage = folder.stage("opinions")
    run(
        stage, batches, lambda batch: (annotator.tell(batch), ()),
        key=_key, each=each, label=lambda batch: f"{len(batch)} titles", given=annotator.name,
    )  # fmt: skip
    return {opinion.video_id: opinion for opinion in stage.kept(Opinion)}


def _key(batch: Sequence[Video]) -> str:
    return content_id("titles", [video.id for video in batch])

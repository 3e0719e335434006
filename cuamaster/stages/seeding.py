"""Searches without duplicates, and filters what was found by its metadata and words."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime

from cuamaster.ports import Annotator, Embedder, VideoSource
from cuamaster.records.episode import Dropped
from cuamaster.records.taxonomy import Taxonomy
from cuamaster.records.video import Query, Video
from cuamaster.seeding.screen import ScreenRules
from cuamaster.settings import Settings
from cuamaster.stages import sifting
from cuamaster.stages.asking import ask, read_again
from cuamaster.stages.running import ITEM_FAULTS, NONE, Each, Patience, Result, drop, run
from cuamaster.stages.searching import key_of
from cuamaster.tables import RoundFolder

log = logging.getLogger(__name__)


def rules_of(settings: Settings) -> ScreenRules:
    """The metadata limits of the settings."""
    return ScreenRules(min_duration_s=settings.min_duration_s, max_duration_s=settings.max_duration_s)


def discover(
    folder: RoundFolder,
    queries: Sequence[Query],
    sources: Sequence[VideoSource],
    each: Each,
    workers: int = 1,
    patience: Patience = NONE,
) -> None:
    """Queries -> candidates without duplicates. One item is one query at one source of its provider, so that one that must wait holds up no other."""

    def key(item: tuple[Query, VideoSource]) -> str:
        return key_of(item[0], [item[1]])

    def search(item: tuple[Query, VideoSource]) -> Result:
        found: list[Video] = []
        lost: list[Dropped] = []
        try:
            for video in item[1].search(item[0]):
                found.append(video)  # what came before a fault stays
        except ITEM_FAULTS as exc:
            log.warning("search: %s", exc)
            lost.append(drop(key(item), "search", exc))
        return found, lost

    asked = [(query, source) for query in queries for source in sources if source.name == query.provider]
    run(
        folder.stage("search"), asked, search,
        key=key, each=each, label=lambda item: item[0].text or "everything", patience=patience,
    )  # fmt: skip
    sifting.sketch_all(folder, each, workers)
    sifting.drop_duplicates(folder, each)


def screen(
    folder: RoundFolder,
    taxonomy: Taxonomy,
    annotator: Annotator,
    embedder: Embedder,
    settings: Settings,
    each: Each,
) -> None:
    """Candidates -> those worth fetching, by metadata and words; borderline cases are read again, and a model, if there is one, is asked
    about what is open then."""
    today, rules, read, told = datetime.now(UTC).date().isoformat(), rules_of(settings), None, None
    if settings.round_readings:
        read = read_again(folder, taxonomy, rules, embedder, each, most=settings.round_readings, today=today)
    if settings.annotator != "rules" and settings.round_opinions:
        told = ask(folder, taxonomy, rules, annotator, each, most=settings.round_opinions, today=today, read=read)
    sifting.screen_all(folder, taxonomy, rules, each, settings.sift_workers, today, read, told)

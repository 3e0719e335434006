"""Fetch: candidates become files, each recording once."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from pathlib import Path

from cuamaster.errors import SourceUnavailable, UnknownName
from cuamaster.ports import Fetched, SeedingPorts, VideoSource
from cuamaster.records.episode import Dropped
from cuamaster.records.record import content_id
from cuamaster.records.video import Fingerprint, Media, Video
from cuamaster.seeding.screen import media_fault
from cuamaster.settings import Settings
from cuamaster.stages.recordings import spread_frames, titles, videos_of
from cuamaster.stages.resuming import STAGE, to_fetch
from cuamaster.stages.running import ITEM_FAULTS, NONE, Each, Patience, Result, drop, run
from cuamaster.stages.seeding import rules_of
from cuamaster.tables import RoundFolder, Workspace
from cuamaster.vision.fingerprint import FRAMES, same_footage
from cuamaster.vision.fingerprint import fingerprint as frame_hashes


def fetch(folder: RoundFolder, ports: SeedingPorts, settings: Settings, each: Each, patience: Patience = NONE) -> None:
    """Video -> media file, captions, probed facts and what its page says; what the probe shows may still drop it.

    What earlier rounds put off is tried too; what can still not be had stays theirs.
    """
    rules = rules_of(settings)
    own, earlier = to_fetch(Workspace(settings.workspace), folder)
    foreign, taken = {video.id for video in earlier}, folder.stage(STAGE)

    def bring(video: Video) -> Result:
        path, captions, said = _fetch(video, ports.sources, settings.workspace.resolve() / "media" / video.id)
        info = ports.frames.probe(path)
        fault = media_fault(video, info, rules, has_captions=bool(captions))
        if fault is not None:
            return (), (fault.model_copy(update={"stage": "fetch"}),)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        names = tuple(str(caption) for caption in captions)
        media = Media(
            video_id=video.id, path=str(path), sha256=digest, captions=names, info=info,
            license=said.license, uploader=said.uploader, upload_date=said.upload_date,
        )  # fmt: skip
        return [media], ()

    def take_over(video: Video) -> Result:
        try:
            result = bring(video)
        except UnknownName as exc:  # its own round may have had another provider
            raise SourceUnavailable(str(exc), reason="no-provider") from exc
        except ITEM_FAULTS as exc:
            result = (), (drop(video.id, "fetch", exc),)
        taken.write(video.id, [video])
        return result

    run(
        folder.stage("fetch"), [*own, *earlier], lambda video: take_over(video) if video.id in foreign else bring(video),
        key=lambda video: video.id, each=each, label=lambda video: video.title, patience=patience,
    )  # fmt: skip
    if taken.items():
        taken.close(content_id("taken-over", sorted(video.id for video in taken.kept(Video))))


def fingerprint(folder: RoundFolder, ports: SeedingPorts, each: Each) -> None:
    """Media -> what it looks like; re-uploads under another title are dropped, the first uploaded of them stays.

    What a person pointed to (it has no query) is taken at that, copy or not.
    """
    videos = videos_of(folder)

    def look(media: Media) -> Result:
        frames = [frame for _, frame in spread_frames(ports.frames, media, FRAMES)]
        return [Fingerprint(video_id=media.video_id, duration=media.info.duration, frames=frame_hashes(frames))], ()

    def distinct(seen: Sequence[Fingerprint]) -> Result:
        kept: list[Fingerprint] = []
        dropped: list[Dropped] = []
        for item in sorted(seen, key=lambda item: (videos[item.video_id].upload_date or "9999", item.video_id)):
            near = [other for other in kept if abs(other.duration - item.duration) <= 1 + item.duration / 100]
            asked = videos[item.video_id].query is not None
            first = next((other for other in near if asked and _same(other, item)), None)
            if first is None:
                kept.append(item)
            else:
                detail = f"{videos[item.video_id].url}: same pictures as {first.video_id} {videos[first.video_id].url}"
                dropped.append(
                    Dropped(item_id=item.video_id, stage="distinct", reason="duplicate-recording", detail=detail)
                )
        return kept, dropped

    media = folder.stage("fetch").kept(Media)
    label = titles(videos)
    run(folder.stage("fingerprint"), media, look, key=lambda item: item.video_id, each=each, label=label)
    seen = folder.stage("fingerprint").kept(Fingerprint)
    run(
        folder.stage("distinct"), [seen], distinct,
        key=lambda all_: content_id("fingerprints", sorted(item.to_json() for item in all_)), each=each, label=lambda all_: f"{len(all_)} recordings",
    )  # fmt: skip


def _same(one: Fingerprint, two: Fingerprint) -> bool:
    return same_footage(one.frames, two.frames, (one.duration, two.duration))


def _fetch(video: Video, sources: Sequence[VideoSource], folder: Path) -> Fetched:
    """From the first source that knows the video; raises UnknownName when none does."""
    for source in sources:
        with contextlib.suppress(UnknownName):
            return source.fetch(video, folder)
    raise UnknownName(f"{video.url}: no provider has it any more", hint="was it moved, or a provider switched off?")

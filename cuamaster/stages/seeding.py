"""Stages 1-5: search, filter, fetch, no re-uploads, gate, transcribe, score, mine, reconstruct."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from cuamaster.errors import UnknownName
from cuamaster.ports import Annotator, Fetched, FrameReader, Image, SeedingPorts, VideoSource
from cuamaster.records.episode import Dropped
from cuamaster.records.record import content_id
from cuamaster.records.taxonomy import Taxonomy
from cuamaster.records.transcript import Transcript
from cuamaster.records.video import Fingerprint, Judgement, Media, Query, ScreenView, TaskSegment, Video
from cuamaster.seeding.mine import check_segments, sampling_rate
from cuamaster.seeding.reconstruct import reconstruct as reconstruct_segment
from cuamaster.seeding.screen import ScreenRules, media_fault
from cuamaster.seeding.screen_gate import gate as screen_gate
from cuamaster.settings import Settings
from cuamaster.stages import sifting
from cuamaster.stages.asking import ask
from cuamaster.stages.running import ITEM_FAULTS, NONE, Each, Patience, Result, drop, run
from cuamaster.stages.searching import key_of
from cuamaster.tables import RoundFolder
from cuamaster.vision.fingerprint import FRAMES, same_footage
from cuamaster.vision.fingerprint import fingerprint as frame_hashes
from cuamaster.vision.reel import Reel
from cuamaster.vision.screen_view import ScreenFrames

log = logging.getLogger(__name__)
SCORE_FRAMES = 8
"""Frames, evenly spread, that a judge of the whole video sees."""
MIN_SUITABILITY = 3


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


def screen(folder: RoundFolder, taxonomy: Taxonomy, annotator: Annotator, settings: Settings, each: Each) -> None:
    """Candidates -> those worth fetching, by metadata and words; a model, if there is one, is asked about borderline cases."""
    today, rules, told = datetime.now(UTC).date().isoformat(), rules_of(settings), None
    if settings.annotator != "rules" and settings.round_opinions:
        told = ask(folder, taxonomy, rules, annotator, each, most=settings.round_opinions, today=today)
    sifting.screen_all(folder, taxonomy, rules, each, settings.sift_workers, today, told)


def fetch(folder: RoundFolder, ports: SeedingPorts, settings: Settings, each: Each, patience: Patience = NONE) -> None:
    """Video -> media file, captions, probed facts and what its page says; what the probe shows may still drop it."""
    rules = rules_of(settings)

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

    videos = folder.stage("screen").kept(Video)
    run(folder.stage("fetch"), videos, bring, key=lambda video: video.id, each=each, label=_title, patience=patience)


def fingerprint(folder: RoundFolder, ports: SeedingPorts, each: Each) -> None:
    """Media -> what it looks like; re-uploads under another title are dropped, the first uploaded of them stays.

    What a person pointed to (it has no query) is taken at that, copy or not.
    """
    videos = _videos(folder)

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
    label = _titles(videos)
    run(folder.stage("fingerprint"), media, look, key=lambda item: item.video_id, each=each, label=label)
    seen = folder.stage("fingerprint").kept(Fingerprint)
    run(
        folder.stage("distinct"), [seen], distinct,
        key=lambda all_: content_id("fingerprints", sorted(item.to_json() for item in all_)), each=each, label=lambda all_: f"{len(all_)} recordings",
    )  # fmt: skip


def gate(folder: RoundFolder, ports: SeedingPorts, each: Each) -> None:
    """Media -> where and when it shows a screen that can be read; anything else is dropped before it is listened to."""

    def judge(media: Media) -> Result:
        return screen_gate(media, frames=ports.frames, reader=ports.reader)

    once = {item.video_id for item in folder.stage("distinct").kept(Fingerprint)}
    _per_video(folder, "gate", judge, each, only=once, given=ports.reader.name)


def transcribe(folder: RoundFolder, ports: SeedingPorts, taxonomy: Taxonomy, each: Each) -> None:
    """Media -> transcript: captions where there are some, else speech recognition."""
    videos = _videos(folder)

    def listen(media: Media) -> Result:
        video = videos[media.video_id]
        prompt = ", ".join([video.title, *([taxonomy.app(video.app).name] if video.app else [])])
        for transcriber in ports.transcribers:
            transcript = transcriber.transcribe(media, prompt=prompt)
            if transcript is not None:
                return [transcript], ()
        return (), (Dropped(item_id=media.video_id, stage="transcribe", reason="no-speech", detail=video.url),)

    _per_video(
        folder,
        "transcribe",
        listen,
        each,
        only=_views(folder),
        given=" ".join(item.name for item in ports.transcribers),
    )


def score(folder: RoundFolder, ports: SeedingPorts, each: Each) -> None:
    """Transcript and frames -> suitability 0-5 and the three flags; unsuitable videos are dropped here."""
    videos, transcripts, views = _timed(folder), _transcripts(folder), _views(folder)

    def judge(media: Media) -> Result:
        video, transcript = videos[media.video_id], transcripts[media.video_id]
        screens = spread_frames(ScreenFrames(ports.frames, views[media.video_id]), media, SCORE_FRAMES)
        judgement = ports.annotator.score(video, transcript, screens)
        judgement = judgement.model_copy(update={"video_id": video.id})
        reason = _unsuitable(judgement)
        if reason:
            return (), (Dropped(item_id=video.id, stage="score", reason=reason, detail=judgement.reason),)
        return [judgement], ()

    _per_video(folder, "score", judge, each, only=transcripts, given=ports.annotator.name)


def mine(folder: RoundFolder, ports: SeedingPorts, each: Each) -> None:
    """Suitable video -> task segments with times and instruction."""
    videos, transcripts, views = _timed(folder), _transcripts(folder), _views(folder)
    suitable = {judgement.video_id for judgement in folder.stage("score").kept(Judgement)}

    def find(media: Media) -> Result:
        video, transcript = videos[media.video_id], transcripts[media.video_id]
        rate = sampling_rate(media.info.duration)
        screens = ScreenFrames(ports.frames, views[media.video_id])
        reel = Reel(screens.sample(Path(media.path), fps=rate))
        segments = ports.annotator.mine(video, transcript, reel)
        kept, dropped = check_segments(segments, transcript, media.info.duration, reel)
        if not segments:
            dropped = [Dropped(item_id=video.id, stage="mine", reason="no-task", detail=video.url)]
        return kept, dropped

    _per_video(folder, "mine", find, each, only=suitable, given=ports.annotator.name)


def reconstruct(folder: RoundFolder, ports: SeedingPorts, settings: Settings, each: Each) -> None:
    """Task segment -> trajectory of grounded actions with start state and verifier."""
    videos, transcripts, views = _videos(folder), _transcripts(folder), _views(folder)
    media = {item.video_id: item for item in folder.stage("fetch").kept(Media)}

    def rebuild(segment: TaskSegment) -> Result:
        return reconstruct_segment(
            videos[segment.video_id], media[segment.video_id], transcripts[segment.video_id], segment,
            frames=ScreenFrames(ports.frames, views[segment.video_id]), reader=ports.reader, annotator=ports.annotator, store=ports.store,
            window_s=settings.trigger_window_s,
        )  # fmt: skip

    run(
        folder.stage("reconstruct"), folder.stage("mine").kept(TaskSegment), rebuild,
        key=lambda segment: segment.id, each=each, label=lambda segment: segment.instruction,
        given=f"{ports.annotator.name} T={settings.trigger_window_s:g}",
    )  # fmt: skip


def spread_frames(frames: FrameReader, media: Media, count: int) -> list[tuple[float, Image]]:
    """`count` (seconds, frame) pairs from the middles of equal parts of the video; raises MediaError."""
    times = [media.info.duration * (index + 0.5) / count for index in range(count)]
    return [(t, frames.at(Path(media.path), t)) for t in times]


def _per_video(
    folder: RoundFolder,
    name: str,
    work: Callable[[Media], Result],
    each: Each,
    *,
    only: Collection[str],
    given: str = "",
) -> None:
    """Run a stage whose items are the fetched videos in `only`."""
    videos = _videos(folder)
    media = [item for item in folder.stage("fetch").kept(Media) if item.video_id in only]
    run(
        folder.stage(name), media, work,
        key=lambda item: item.video_id, each=each, label=_titles(videos), given=given,
    )  # fmt: skip


def _videos(folder: RoundFolder) -> dict[str, Video]:
    """Screened videos, with what their pages said where the search had not: searches tell no license and no date."""
    pages = {media.video_id: media for media in folder.stage("fetch").kept(Media)}
    return {video.id: _told(video, pages.get(video.id)) for video in folder.stage("screen").kept(Video)}


def _told(video: Video, page: Media | None) -> Video:
    if page is None:
        return video
    known = {name: getattr(video, name) or getattr(page, name) for name in ("license", "uploader", "upload_date")}
    return video.model_copy(update=known)


def _same(one: Fingerprint, two: Fingerprint) -> bool:
    return same_footage(one.frames, two.frames, (one.duration, two.duration))


def _titles(videos: Mapping[str, Video]) -> Callable[[Media], str]:
    return lambda media: videos[media.video_id].title


def _timed(folder: RoundFolder) -> dict[str, Video]:
    """Fetched videos with the duration and, if the source named none, the chapters that the probe found: many sources do not say them."""
    media = {item.video_id: item for item in folder.stage("fetch").kept(Media)}
    videos = _videos(folder)
    return {
        key: videos[key].model_copy(
            update={"duration": item.info.duration, "chapters": videos[key].chapters or item.info.chapters}
        )
        for key, item in media.items()
    }


def _transcripts(folder: RoundFolder) -> dict[str, Transcript]:
    return {transcript.video_id: transcript for transcript in folder.stage("transcribe").kept(Transcript)}


def _views(folder: RoundFolder) -> dict[str, ScreenView]:
    return {view.video_id: view for view in folder.stage("gate").kept(ScreenView)}


def _fetch(video: Video, sources: Sequence[VideoSource], folder: Path) -> Fetched:
    """From the first source that knows the video; raises UnknownName when none does."""
    for source in sources:
        with contextlib.suppress(UnknownName):
            return source.fetch(video, folder)
    raise UnknownName(f"{video.url}: no provider has it any more", hint="was it moved, or a provider switched off?")


def _unsuitable(judgement: Judgement) -> str:
    """The reason slug for which a judged video is not mined, or ''."""
    if not judgement.has_computer_operation:
        return "no-computer-operation"
    if not judgement.reconstructible:
        return "not-reconstructible"
    if not judgement.clear_picture:
        return "unclear-picture"
    return f"suitability-{judgement.suitability}" if judgement.suitability < MIN_SUITABILITY else ""


def _title(video: Video) -> str:
    return video.title

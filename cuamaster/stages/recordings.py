"""What a round knows of its fetched videos, read back from the stages before, and how a stage runs over them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from cuamaster.ports import FrameReader, Image
from cuamaster.records.transcript import Transcript
from cuamaster.records.video import Media, ScreenView, Video
from cuamaster.stages.resuming import chosen
from cuamaster.stages.running import Each, Result, run
from cuamaster.tables import RoundFolder


def videos_of(folder: RoundFolder) -> dict[str, Video]:
    """The round's videos, with what their pages said where the search had not: searches tell no license and no date."""
    pages = {media.video_id: media for media in folder.stage("fetch").kept(Media)}
    return {video.id: _told(video, pages.get(video.id)) for video in chosen(folder)}


def _told(video: Video, page: Media | None) -> Video:
    if page is None:
        return video
    known = {name: getattr(video, name) or getattr(page, name) for name in ("license", "uploader", "upload_date")}
    return video.model_copy(update=known)


def timed(folder: RoundFolder) -> dict[str, Video]:
    """Fetched videos with the duration and, if the source named none, the chapters that the probe found: many sources do not say them."""
    media = {item.video_id: item for item in folder.stage("fetch").kept(Media)}
    videos = videos_of(folder)
    return {
        key: videos[key].model_copy(
            update={"duration": item.info.duration, "chapters": videos[key].chapters or item.info.chapters}
        )
        for key, item in media.items()
    }


def transcripts_of(folder: RoundFolder) -> dict[str, Transcript]:
    """What was heard, by video."""
    return {transcript.video_id: transcript for transcript in folder.stage("transcribe").kept(Transcript)}


def views_of(folder: RoundFolder) -> dict[str, ScreenView]:
    """Where and when the videos show a screen, of those that passed the gate."""
    return {view.video_id: view for view in folder.stage("gate").kept(ScreenView)}


def titles(videos: Mapping[str, Video]) -> Callable[[Media], str]:
    """What a recording is called in progress bars."""
    return lambda media: videos[media.video_id].title


def spread_frames(frames: FrameReader, media: Media, count: int) -> list[tuple[float, Image]]:
    """`count` (seconds, frame) pairs from the middles of equal parts of the video; raises MediaError."""
    times = [media.info.duration * (index + 0.5) / count for index in range(count)]
    return [(t, frames.at(Path(media.path), t)) for t in times]


def per_video(
    folder: RoundFolder,
    name: str,
    work: Callable[[Media], Result],
    each: Each,
    *,
    only: Collection[str],
    given: str = "",
) -> None:
    """Run a stage whose items are the fetched videos in `only`."""
    videos = videos_of(folder)
    media = [item for item in folder.stage("fetch").kept(Media) if item.video_id in only]
    run(
        folder.stage(name), media, work,
        key=lambda item: item.video_id, each=each, label=titles(videos), given=given,
    )  # fmt: skip

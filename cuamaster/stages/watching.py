"""Gates, transcribes and scores: what is no screen goes before anything is heard of it, then the narration becomes words, then both are judged."""

from __future__ import annotations

from cuamaster.ports import SeedingPorts
from cuamaster.records.episode import Dropped
from cuamaster.records.taxonomy import Taxonomy
from cuamaster.records.video import Fingerprint, Judgement, Media
from cuamaster.seeding.screen_gate import gate as screen_gate
from cuamaster.stages.recordings import per_video, spread_frames, timed, transcripts_of, videos_of, views_of
from cuamaster.stages.running import Each, Result
from cuamaster.tables import RoundFolder
from cuamaster.vision.screen_view import ScreenFrames

SCORE_FRAMES = 8
"""Frames, evenly spread, that a judge of the whole video sees."""
MIN_SUITABILITY = 3


def gate(folder: RoundFolder, ports: SeedingPorts, each: Each) -> None:
    """Media -> where and when it shows a screen that can be read; anything else is dropped before it is listened to."""

    def judge(media: Media) -> Result:
        return screen_gate(media, frames=ports.frames, reader=ports.reader)

    once = {item.video_id for item in folder.stage("distinct").kept(Fingerprint)}
    per_video(folder, "gate", judge, each, only=once, given=ports.reader.name)


def transcribe(folder: RoundFolder, ports: SeedingPorts, taxonomy: Taxonomy, each: Each) -> None:
    """Media -> transcript: captions where there are some, else speech recognition."""
    videos = videos_of(folder)

    def listen(media: Media) -> Result:
        video = videos[media.video_id]
        prompt = ", ".join([video.title, *([taxonomy.app(video.app).name] if video.app else [])])
        for transcriber in ports.transcribers:
            transcript = transcriber.transcribe(media, prompt=prompt)
            if transcript is not None:
                return [transcript], ()
        return (), (Dropped(item_id=media.video_id, stage="transcribe", reason="no-speech", detail=video.url),)

    per_video(
        folder,
        "transcribe",
        listen,
        each,
        only=views_of(folder),
        given=" ".join(item.name for item in ports.transcribers),
    )


def score(folder: RoundFolder, ports: SeedingPorts, each: Each) -> None:
    """Transcript and frames -> suitability 0-5 and the three flags; unsuitable videos are dropped here."""
    videos, transcripts, views = timed(folder), transcripts_of(folder), views_of(folder)

    def judge(media: Media) -> Result:
        video, transcript = videos[media.video_id], transcripts[media.video_id]
        screens = spread_frames(ScreenFrames(ports.frames, views[media.video_id]), media, SCORE_FRAMES)
        judgement = ports.annotator.score(video, transcript, screens)
        judgement = judgement.model_copy(update={"video_id": video.id})
        reason = _unsuitable(judgement)
        if reason:
            return (), (Dropped(item_id=video.id, stage="score", reason=reason, detail=judgement.reason),)
        return [judgement], ()

    per_video(folder, "score", judge, each, only=transcripts, given=ports.annotator.name)


def _unsuitable(judgement: Judgement) -> str:
    """The reason slug for which a judged video is not mined, or ''."""
    if not judgement.has_computer_operation:
        return "no-computer-operation"
    if not judgement.reconstructible:
        return "not-reconstructible"
    if not judgement.clear_picture:
        return "unclear-picture"
    return f"suitability-{judgement.suitability}" if judgement.suitability < MIN_SUITABILITY else ""

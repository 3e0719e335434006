"""Mines and reconstructs: suitable videos become task segments, and these trajectories."""

from __future__ import annotations

from cuamaster.ports import SeedingPorts
from cuamaster.records.video import Judgement, Media, TaskSegment
from cuamaster.seeding.mine import mine as mine_video
from cuamaster.seeding.reconstruct import reconstruct as reconstruct_segment
from cuamaster.settings import Settings
from cuamaster.stages.recordings import per_video, timed, transcripts_of, videos_of, views_of
from cuamaster.stages.running import Each, Result, run
from cuamaster.tables import RoundFolder
from cuamaster.vision.screen_view import ScreenFrames


def mine(folder: RoundFolder, ports: SeedingPorts, each: Each) -> None:
    """Suitable video -> task segments with times and instruction."""
    videos, transcripts, views = timed(folder), transcripts_of(folder), views_of(folder)
    suitable = {judgement.video_id for judgement in folder.stage("score").kept(Judgement)}

    def find(media: Media) -> Result:
        return mine_video(
            videos[media.video_id], media, transcripts[media.video_id], views[media.video_id], frames=ports.frames, annotator=ports.annotator
        )  # fmt: skip

    per_video(folder, "mine", find, each, only=suitable, given=ports.annotator.name)


def reconstruct(folder: RoundFolder, ports: SeedingPorts, settings: Settings, each: Each) -> None:
    """Task segment -> trajectory of grounded actions with start state and verifier."""
    videos, transcripts, views = videos_of(folder), transcripts_of(folder), views_of(folder)
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

"""Videos that a round put off: a later round brings them once their site may be asked again, and they are that round's from then on."""

from __future__ import annotations

from cuamaster.records.video import Video
from cuamaster.stages.running import part_of
from cuamaster.tables import RoundFolder, StageFolder, Workspace

STAGE = "resume"
"""Videos of earlier rounds whose files this round fetched."""


def put_off(workspace: Workspace, folder: RoundFolder) -> list[Video]:
    """What a round chose and neither it nor a later one has fetched; [] while its fetching has not been to the end once."""
    if folder.stage("fetch").manifest() is None:
        return []
    later = [workspace.round(number) for number in workspace.rounds() if number >= folder.number]
    return _waiting(folder, [each.stage("fetch") for each in later])


def to_fetch(workspace: Workspace, folder: RoundFolder) -> tuple[list[Video], list[Video]]:
    """What a round has to fetch: its own videos, but for those that a later round brought, and what earlier rounds put off."""
    others = {number: workspace.round(number) for number in workspace.rounds() if number != folder.number}
    fetches = {number: other.stage("fetch") for number, other in others.items()}
    later = [stage for number, stage in fetches.items() if number > folder.number]
    mine = folder.stage("fetch")
    own = [video for video in folder.stage("screen").kept(Video) if _has(mine, video) or not _any(later, video)]
    found = {video.id: video for video in own}
    earlier: dict[str, Video] = {}
    for number, other in others.items():
        if number < folder.number and fetches[number].manifest() is not None:
            beside = [stage for before, stage in fetches.items() if before >= number]
            earlier.update({video.id: video for video in _waiting(other, beside) if video.id not in found})
    return own, list(earlier.values())


def chosen(folder: RoundFolder) -> list[Video]:
    """The videos a round works on: those that passed its filters, and those it took over."""
    return [*folder.stage("screen").kept(Video), *folder.stage(STAGE).kept(Video)]


def _waiting(folder: RoundFolder, fetches: list[StageFolder]) -> list[Video]:
    own = folder.stage("fetch")
    if own.items() - folder.stage(STAGE).items() >= folder.stage("screen").count():
        return []  # the usual case, without reading the rows
    return [video for video in folder.stage("screen").kept(Video) if not _any([own, *fetches], video)]


def _any(fetches: list[StageFolder], video: Video) -> bool:
    return any(_has(stage, video) for stage in fetches)


def _has(fetch: StageFolder, video: Video) -> bool:
    return fetch.has(part_of(fetch, video.id))

"""Lineage as columns: the first video's span for filters, everything as JSON, and the licenses of all of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cuamaster.records.record import canonical_json
from cuamaster.records.trajectory import Lineage, Trajectory

Sources = Mapping[str, Lineage]
"""Video id -> a lineage that knows its address and license."""


def sources_of(trajectories: Iterable[Trajectory]) -> Sources:
    """What the video trajectories know of their videos."""
    return {item.lineage.video_id: item.lineage for item in trajectories if item.lineage.video_id is not None}


def completed(lineage: Sequence[Lineage], sources: Sources) -> tuple[Lineage, ...]:
    """The lineage with the address and license of its videos: a composed task carries over only their ids and times."""
    return tuple(_completed(item, sources.get(item.video_id or "")) for item in lineage)


def _completed(item: Lineage, source: Lineage | None) -> Lineage:
    if source is None:
        return item
    return item.model_copy(
        update={"video_url": item.video_url or source.video_url, "license": item.license or source.license}
    )


def lineage_columns(lineage: Sequence[Lineage]) -> dict[str, Any]:
    """`video_id`, `video_url`, `t_start`, `t_end` of the first video, `license` of all, `lineage_json`."""
    video = next((item for item in lineage if item.video_id is not None), Lineage())
    return {
        "video_id": video.video_id,
        "video_url": video.video_url,
        "t_start": video.t_start,
        "t_end": video.t_end,
        "license": license_of(lineage),
        "lineage_json": canonical_json([item.model_dump(mode="json") for item in lineage]),
    }


def license_of(lineage: Sequence[Lineage]) -> str | None:
    """All licenses joined by AND; None when none is known."""
    return " AND ".join(sorted({item.license for item in lineage if item.license})) or None


def lineage_ids(lineage: Sequence[Lineage]) -> list[str]:
    """Ids of videos, segments and primitives, without repeats."""
    ids = [name for item in lineage for name in (item.video_id, item.segment_id, *item.primitive_ids) if name]
    return list(dict.fromkeys(ids))

"""Sources against the loopback site: no gaps between requests, a clock that tests move, no waiting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cuamaster.adapters.videos.local import LocalVideos
from cuamaster.adapters.videos.pace import Pace
from cuamaster.adapters.videos.sites import SiteTable
from cuamaster.adapters.videos.web import Web
from cuamaster.adapters.videos.ytdlp import Downloads, YtdlpVideos

BEGIN = 1_800_000_000.0


def pace(folder: Path, clock: Callable[[], float] = lambda: BEGIN) -> Pace:
    """The pace of a new process: what it knows of sites lies in `folder`. It never waits, for there are no gaps."""
    return Pace(SiteTable(folder / "sites.sqlite"), {"*": 0.0}, clock=clock, chance=lambda: 0.0)


def local(folder: Path, *places: str | Path, **options: Any) -> LocalVideos:
    """Folders and feeds."""
    return LocalVideos(places, web=Web(pace(folder, **options), timeout=5.0))


def ytdlp(
    folder: Path, address: str = "", *, search_key: str = "", clock: Callable[[], float] = lambda: BEGIN, **options: Any
) -> YtdlpVideos:
    """One address or search engine."""
    downloads = Downloads(pace(folder, clock), timeout=5.0, **{"retries": 0, **options})
    return YtdlpVideos(downloads, address=address, search_key=search_key)

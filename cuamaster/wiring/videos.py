"""Where videos come from: folders, feeds, addresses and searches, and what is known of the sites that are asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cuamaster.assets import samples_folder
from cuamaster.ports import VideoSource
from cuamaster.settings import Settings

if TYPE_CHECKING:
    from cuamaster.adapters.videos.pace import Pace
    from cuamaster.adapters.videos.sites import SiteTable


def sources(settings: Settings, places: Sequence[str] = ()) -> tuple[VideoSource, ...]:
    """The wanted providers; `places` (folders, files, feeds, addresses) instead of the settings' ones; without any, the bundled tutorials.

    Folders together are one source; every feed, address and search engine is one by itself.
    """
    found: list[VideoSource] = []
    pages = [place for place in places if is_page(place)]
    if "local" in settings.providers or places:
        from cuamaster.adapters.videos.local import LocalVideos
        from cuamaster.adapters.videos.web import Web

        given = [place for place in places or settings.videos or [str(samples_folder())] if place not in pages]
        web = Web(_pace(settings), proxy=settings.ytdlp_proxy)
        apart = [place for place in given if "://" in place]
        together = [place for place in given if place not in apart]
        for group in ([together] if together else []) + [[place] for place in apart]:
            found.append(LocalVideos(group, language=settings.language, web=web))
    if pages or ("ytdlp" in settings.providers and not places):
        found += _ytdlp(settings, pages)
    return tuple(found)


def is_page(place: str) -> bool:
    """Whether an address is more likely a page of a video or account than a feed."""
    address = urlsplit(place)
    feed = r"\.(?:xml|rss|atom|rdf|json)$|(?:^|[/._-])(?:feeds?|rss|atom)(?:[/._-]|$)"
    return address.scheme in ("http", "https") and re.search(feed, address.path.lower()) is None


def _ytdlp(settings: Settings, pages: Sequence[str]) -> list[VideoSource]:
    from cuamaster.adapters.videos.lists import addresses
    from cuamaster.adapters.videos.ytdlp import SEARCH_KEYS, Downloads, YtdlpVideos

    downloads = Downloads(
        _pace(settings), languages=tuple(dict.fromkeys((settings.language, *settings.search_languages))),
        archive=settings.workspace / "downloads.txt", max_seconds=settings.max_duration_s,
        cookies=settings.ytdlp_cookies, proxy=settings.ytdlp_proxy, rate_limit=settings.ytdlp_rate_limit,
    )  # fmt: skip
    listed = [YtdlpVideos(downloads, address=place) for place in pages or addresses(settings.ytdlp_places)]
    names = settings.ytdlp_search
    if names is None:
        names = () if listed else tuple(SEARCH_KEYS)
    searched = (
        [] if pages else [YtdlpVideos(downloads, name=name, search_key=SEARCH_KEYS.get(name, name)) for name in names]
    )
    return [*listed, *searched]


def _pace(settings: Settings) -> Pace:
    from cuamaster.adapters.videos.pace import Pace

    return Pace(sites(settings), settings.site_gaps)


def sites(settings: Settings) -> SiteTable:
    """What this machine knows of the sites it asks."""
    from cuamaster.adapters.videos.sites import SiteTable

    return SiteTable(settings.cache / "sites.sqlite")

"""yt-dlp with manners: every request waits for its site's turn, and a refusal ends the call at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import yt_dlp
from yt_dlp.extractor.bilibili import BiliBiliSearchIE as PlainBiliBiliSearchIE  # type: ignore[import-not-found]
from yt_dlp.networking.exceptions import HTTPError

from cuamaster.adapters.videos.bilibili import facts_of
from cuamaster.adapters.videos.pace import Pace
from cuamaster.adapters.videos.sites import site_of
from cuamaster.errors import CuamasterError, MediaError, SourceUnavailable

REQUESTS = 2_000
"""Requests that one call may send: a list of 5,000 videos needs some 200."""


class PoliteYoutubeDL(yt_dlp.YoutubeDL):
    """Requests for pages, lists and captions are paced, those for media are not: they go to other machines, at the download's own speed."""

    def __init__(self, params: Mapping[str, Any], pace: Pace) -> None:
        self._pace, self._media, self._requests = pace, False, 0
        self.stopped: CuamasterError | None = None
        super().__init__(cast("Any", params))
        self.add_info_extractor(BiliBiliSearchIE())

    def urlopen(self, req: Any) -> Any:
        """As yt-dlp's; raises SourceUnavailable while the site is left alone, and when it answers 429 or 412."""
        if self._media:
            return super().urlopen(req)
        site = site_of(req if isinstance(req, str) else req.url)
        self._requests += 1
        if self._requests > REQUESTS:
            self.stopped = MediaError(f"{site}: {REQUESTS} requests and no end", reason="endless")
            raise self.stopped
        try:
            self._pace.turn(site)
            return super().urlopen(req)
        except SourceUnavailable as exc:
            self.stopped = exc  # an extractor may catch everything
            raise
        except HTTPError as exc:
            wish = exc.response.headers.get("Retry-After")
            if exc.status in (412, 429) or (exc.status == 503 and wish):
                reason = "blocked" if exc.status == 412 else "rate-limited"
                self.stopped = self._pace.refused(site, reason, f"it answers {exc.status}", wish)
                raise self.stopped from exc
            raise

    def dl(self, name: str, info: Any, subtitle: bool = False, test: bool = False) -> Any:
        """As yt-dlp's; marks requests for media."""
        self._media = not subtitle
        try:
            return super().dl(name, info, subtitle, test)
        finally:
            self._media = False


class BiliBiliSearchIE(PlainBiliBiliSearchIE):  # type: ignore[misc]  # the stubs leave it out
    """Bilibili's search with what its answer says of each video; yt-dlp's own keeps only the addresses, and a title for none."""

    def _download_json(self, *args: Any, **kwargs: Any) -> Any:
        page = super()._download_json(*args, **kwargs)
        results = ((page or {}).get("data") or {}).get("result") or []
        self._facts = {str(item.get("aid")): facts_of(item) for item in results if isinstance(item, dict)}
        return page

    def _search_results(self, query: str) -> Iterator[dict[str, Any]]:
        for entry in super()._search_results(query):
            yield {**entry, **self._facts.get(str(entry.get("id")), {})}

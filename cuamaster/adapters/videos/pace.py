"""How fast each site is asked, and how long it is left alone after it refused: the one place in which a provider waits."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from cuamaster.adapters.videos.faults import Ruling
from cuamaster.adapters.videos.sites import SiteState, SiteTable
from cuamaster.errors import MediaError, SourceUnavailable

log = logging.getLogger(__name__)
GAP_SECONDS = 1.0
GAPS: Mapping[str, float] = {"bilibili.com": 3.0, "tiktok.com": 3.0}
"""Seconds between two requests to a site, before jitter. yt-dlp's own polite preset sleeps 0.75 s; Bilibili and TikTok block sooner."""
VIDEO = 10
"""Requests that a download counts for: with the default gap 10 to 20 s, as yt-dlp's preset `sleep` has it. A guest of YouTube is
served some 300 videos an hour (yt-dlp wiki, Extractors)."""
TRIES = 3
"""Times that a video is tried whose failure nobody can explain."""
_RESTS: Mapping[str, tuple[float, float]] = {
    "rate-limited": (300, 6 * 3600), "blocked": (900, 12 * 3600), "bot-check": (3600, 24 * 3600),
    "server-error": (60, 3600), "unreachable": (60, 3600),
}  # fmt: skip
"""Reason -> seconds of the first rest, and of the longest; each refusal in a row doubles it."""
LONGEST = 24 * 3600.0
"""No site is believed that wants to be left alone for longer."""


def rest_seconds(reason: str, strikes: int, retry_after: float | None, chance: float) -> float:
    """How long to leave a site alone that refused for the (strikes + 1)th time in a row; `chance` in [0, 1) adds up to a fifth."""
    first, longest = _RESTS.get(reason, _RESTS["server-error"])
    seconds = min(longest, first * 2.0 ** min(strikes, 20))
    if retry_after is not None:  # what the site says counts, and never less than its own wish
        seconds = max(1.0, min(retry_after, LONGEST)) if strikes == 0 else max(seconds, min(retry_after, LONGEST))
    return seconds * (1 + chance / 5)


def retry_after(value: str | None, now: float) -> float | None:
    """Seconds from a Retry-After header: a number or an HTTP date (RFC 9110, 10.2.3); None for anything else."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now) if text else None
    except (TypeError, ValueError):
        return None


class Pace:
    """Turns of sites. `gaps` override the seconds between requests by site; clock (epoch seconds), chance [0, 1) and wait come in."""

    def __init__(
        self,
        table: SiteTable,
        gaps: Mapping[str, float] | None = None,
        *,
        clock: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._table, self._gaps = table, {**GAPS, **(gaps or {})}
        self._clock, self._chance, self._wait = clock, chance, wait

    def turn(self, site: str, *, requests: int = 1) -> None:
        """Return when a request may be sent; raises SourceUnavailable at once while the site is left alone."""
        gap = self._gaps.get(site, self._gaps.get("*", GAP_SECONDS)) * requests * (1 + self._chance())
        now = self._clock()
        when, state = self._table.claim(site, gap, now)
        if when == state.until > now:
            raise resting(state)
        if when > now:
            self._wait(when - now)

    def refused(self, site: str, reason: str, said: str, wish: str | None = None) -> SourceUnavailable:
        """Leave the site alone from now on; returns what to raise. `wish`: its Retry-After header."""
        now, state = self._clock(), self._table.state(site)
        if state.until <= now:  # not while it rests already: requests that were under way are no further strike
            seconds = rest_seconds(reason, state.strikes, retry_after(wish, now), self._chance())
            self._table.rest(site, now + seconds, reason)
            state = self._table.state(site)
            log.warning("%s is left alone until %s: %s", site, clock_time(state.until), said)
        return resting(state, said)

    def answered(self, site: str) -> None:
        """The site served us: its refusals are forgotten."""
        self._table.answered(site)

    def judged(self, item: str, site: str, ruling: Ruling, said: str) -> SourceUnavailable | MediaError:
        """What a fault means for `item` (an address), and what is to be raised: the site rests, the item is tried again, or it is given up.

        A site that fails where it served us before may fail for this item alone, so that counts as a try of the item too.
        """
        if ruling.scope == "video":
            self._table.settled(item)
            return MediaError(said, reason=ruling.reason, hint=ruling.hint)
        weak = ruling.reason in ("server-error", "unreachable")
        if ruling.scope == "site" and not (weak and self._table.state(site).strikes == 0 and self._spent(item)):
            return self.refused(site, ruling.reason, said)
        if ruling.scope == "try" and not self._spent(item):
            return SourceUnavailable(said, reason=ruling.reason, until=self._clock() + 30 * (1 + self._chance()))
        self._table.settled(item)
        return MediaError(f"{said}, {TRIES} times", reason=ruling.reason, hint=ruling.hint)

    def settled(self, item: str) -> None:
        """The item came whole: its failed tries are forgotten."""
        self._table.settled(item)

    def _spent(self, item: str) -> bool:
        return self._table.tried(item) >= TRIES


def resting(state: SiteState, said: str = "") -> SourceUnavailable:
    """What is raised for a site that is left alone."""
    why = said or state.reason
    return SourceUnavailable(
        f"{state.site} is left alone until {clock_time(state.until)}: {why}",
        reason=state.reason, site=state.site, until=state.until, hint="the round goes on without it; run it again then",
    )  # fmt: skip


def clock_time(seconds: float) -> str:
    """An epoch time as people read it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(" ", "seconds").removesuffix("+00:00") + " UTC"

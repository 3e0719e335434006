"""What a sentence of yt-dlp or of a site means: nothing to be had here, leave the site alone, or try again a few times."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Scope = Literal["video", "site", "try"]
"""Who is at fault: this video or address, for good; the site, for a while; nobody knows, so a bounded number of tries."""


class Ruling(NamedTuple):
    """A stable slug, whom it concerns, and what the user can do."""

    reason: str
    scope: Scope
    hint: str | None = None


_COOKIES = "give ytdlp_cookies of an account that may see it"
_SLOWER = "raise site_gaps for it"
_TABLE: tuple[tuple[Ruling, str], ...] = (
    # yt-dlp's own words for an address it can do nothing with: utils/_utils.py UnsupportedError, YoutubeDL.py, extractor/generic.py
    (
        Ruling("unsupported", "video"),
        r"unsupported URL|is not a valid URL|no suitable extractor|no video formats found|no video could be found"
        r"|requested format is not available|only images are available|file:// URLs are disabled|unsupported url scheme",
    ),
    # extractor/youtube/_video.py: playability reasons, a captcha screen, the session limit of some 300 videos an hour
    (Ruling("bot-check", "site", _COOKIES), r"not a bot|captcha|unusual traffic|unable to solve JS challenge"),
    (
        Ruling("rate-limited", "site", _SLOWER),
        r"rate[- ]?limit|content isn.t available, try again later|too many requests",
    ),
    # extractor/bilibili.py: codes 412, 401 and 352 mean that this client is not wanted now, whatever the video
    (
        Ruling("blocked", "site", _SLOWER),
        r"(?:blocked|rejected) by server|please wait and try later|request was banned|IP is likely being blocked",
    ),
    # extractor/tiktok.py says of code 10204 that the address is blocked; users report that it depends on post and region (issue 11869)
    (
        Ruling("geo-blocked", "video", "ytdlp_proxy may help"),
        r"(?:available|blocked) (?:it )?(?:in|from) your (?:country|location|region)|geo[- ]?restrict|VPN or a proxy"
        r"|IP address is blocked from accessing this post|HTTP Error 451",
    ),
    (
        Ruling("age-gate", "video", _COOKIES),
        r"confirm your age|age[- ]restricted|age[- ]verif|inappropriate for some users|not be comfortable for some audiences",
    ),
    (
        Ruling("private", "video"),
        r"private (?:video|playlist|favorites list)|(?:video|playlist|account) is private|this unlisted video|privacy settings"
        r"|do not have permission to view",
    ),
    (
        Ruling("login-required", "video", _COOKIES),
        r"members[- ]only|channel.s members|supporter-only|login required|requiring login|log ?in (?:to|for)|need to login"
        r"|only available (?:for|to) (?:registered|.{0,20}premium)|premium members|requires? (?:payment|purchase)|need to purchase"
        r"|HTTP Error 40[12]",
    ),
    # live: extractor/youtube/_video.py, utils/_utils.py UserNotLive, extractor/bilibili.py, extractor/tiktok.py
    (
        Ruling("not-yet", "video"),
        r"will begin (?:in|shortly)|premieres? (?:in|will)|live event has not|not yet available|is upcoming",
    ),
    (Ruling("live-stream", "video"), r"not (?:currently )?live\b|livestream has ended|live stream recording is not"),
    (Ruling("drm", "video"), r"\bDRM\b"),
    (
        Ruling("removed", "video"),
        r"(?:has been|was) (?:removed|deleted)|may be deleted|no longer available|n.t available any ?more|(?:video|content) (?:is )?unavailable"
        r"|video not available|does(?: not|n.t) exist|account .{0,60}terminated|HTTP Error 4(?:04|10)",
    ),
    (Ruling("empty", "video"), r"does not have (?:any videos|an? \S+ tab)|has no videos"),
    # Media addresses of YouTube expire or ask for a token that the next extraction may have.
    (Ruling("forbidden-data", "try"), r"unable to download video data: HTTP Error 403"),
    (Ruling("forbidden", "video", _COOKIES), r"HTTP Error 403"),
    (Ruling("certificate", "video"), r"certificate_verify_failed|certificate verify failed"),
    # networking/exceptions.py, downloader/http.py, socket and OpenSSL errors
    (Ruling("broke-off", "try"), r"bytes read|expected \d+ bytes|did not get any data|incomplete|content too short"),
    (
        Ruling("server-error", "site"),
        r"HTTP Error (?:408|412|425|429|5\d\d)",
    ),
    (
        Ruling("unreachable", "site"),
        r"timed? ?out|connection (?:refused|reset|aborted)|temporary failure|name or service not known|network is unreachable"
        r"|no route to host|remote end closed|transport|unable to connect|getaddrinfo|max retries|eof occurred|failed to resolve|proxy",
    ),
    (Ruling("not-found", "video"), r"HTTP Error 4\d\d"),
)
_RULES = tuple((ruling, re.compile(pattern, re.IGNORECASE)) for ruling, pattern in _TABLE)
_ADDRESS = re.compile(r"https?://\S+")
UNKNOWN = Ruling("extractor-error", "try", "is yt-dlp up to date?")
"""A sentence that nobody has told us of: tried again, but not for ever."""


def ruling_of(said: str) -> Ruling:
    """The first row of the table that matches; addresses in the sentence say nothing. Messages: yt-dlp 2026.10.26."""
    words = _ADDRESS.sub("", said)
    return next((ruling for ruling, pattern in _RULES if pattern.search(words)), UNKNOWN)


def plain(message: str) -> str:
    """A message of yt-dlp without colours, its ERROR mark, and its request to report a bug."""
    said = re.sub(r"^ERROR:\s*", "", re.sub(r"\x1b\[[0-9;]*m", "", message)).strip()
    return re.split(r";? please report this issue on", said)[0].strip()

"""Videos of sites that yt-dlp knows: search keys (ytsearchN, bilisearchN), addresses, account and playlist lists."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from cuamaster.adapters.videos.metadata import names_query, video_from_info
from cuamaster.errors import (
    CuamasterError,
    InvalidInput,
    MediaError,
    SourceUnavailable,
    StoreFull,
    UnknownName,
    storage_fault,
    storing,
)
from cuamaster.records.video import Query, Video

log = logging.getLogger(__name__)
SEARCH_KEYS = ("ytsearch", "bilisearch")
"""Sites with a text search; TikTok has none in yt-dlp and is read from account and address lists."""
LIST_LIMIT = 500
_CAPTION_ORDER = (".json3", ".vtt", ".srt")
_CAPTION_ENDS = frozenset(_CAPTION_ORDER)
_FORMAT = "bv*[height<=?1080][ext=mp4]+ba[ext=m4a]/bv*[height<=?1080]+ba/b[height<=?1080]/b"

_TERMINAL = (
    ("bot-check", r"not a bot|captcha|unusual traffic"),
    ("age-gate", r"confirm your age|age[- ]restricted|inappropriate for some users"),
    (
        "geo-blocked",
        r"available (?:in|from) your (?:country|location|region)|geo[- ]?restrict|blocked (?:it )?in your country",
    ),
    ("private", r"private video|video is private|this video is unlisted and"),
    (
        "login-required",
        r"members[- ]only|login required|only available (?:for|to) (?:registered|premium)|requires? (?:payment|purchase)|log ?in to|premium",
    ),
    (
        "removed",
        r"has been removed|no longer available|video (?:is )?unavailable|does not exist|HTTP Error 4(?:04|10)|account .{0,40}terminated|been deleted",
    ),
    ("not-yet", r"will begin in|premieres in|live event has not"),
    ("drm", r"\bDRM\b"),
    (
        "unsupported",
        r"unsupported URL|no video formats found|requested format is not available|no video could be found|is not a valid URL",
    ),
    ("forbidden", r"HTTP Error 40[13]"),
)
_TRANSIENT = re.compile(
    r"HTTP Error (?:408|412|425|429|5\d\d)|timed? ?out|connection (?:refused|reset|aborted)|temporary failure|name or service not known|"
    r"network is unreachable|remote end closed|incomplete|did not get any data|rate[- ]?limit|too many requests|transport|unable to connect|"
    r"getaddrinfo|max retries|eof occurred|content too short|failed to resolve",
    re.IGNORECASE,
)


class YtdlpVideos:
    """`places`: addresses of videos, accounts, playlists, or text files with one address a line (# comments).

    `rate_limit` in bytes per second; `pause` seconds between downloads of one account; `archive` is yt-dlp's own file of
    what was fetched before: such videos are not offered again. `captions` are languages, best first.
    """

    name = "ytdlp"

    def __init__(
        self,
        places: Sequence[str | Path] = (),
        *,
        search_keys: Sequence[str] = SEARCH_KEYS,
        captions: Sequence[str] = ("en",),
        rate_limit: int | None = None,
        pause: float = 0.0,
        cookies: Path | None = None,
        proxy: str | None = None,
        archive: Path | None = None,
        timeout: float = 30.0,
        retries: int = 2,
    ) -> None:
        if cookies is not None and not cookies.is_file():
            raise InvalidInput(f"ytdlp_cookies: no such file {cookies}", hint="export cookies in Netscape format")
        self._places, self._keys, self._captions = [str(place) for place in places], tuple(search_keys), tuple(captions)
        self._archive, self._limit, self._pause = archive, rate_limit, pause
        self._cookies, self._proxy, self._timeout, self._retries = cookies, proxy, timeout, retries

    def search(self, query: Query) -> Iterator[Video]:
        """Flat metadata from every search key, or of the address or `key:words` that the text is; then from `places`.

        One site that fails is logged; raises SourceUnavailable or MediaError only if none gave anything.
        """
        asked = (
            [query.text]
            if _is_request(query.text)
            else [f"{key}{query.offset + query.limit}:{query.text}" for key in self._keys if query.text]
        )
        failure: CuamasterError | None = None
        given = 0
        for request in [*asked, *self._addresses()]:
            listed = request not in asked
            try:
                found = (
                    self._listing(request, LIST_LIMIT) if listed else self._listing(request, query.limit, query.offset)
                )
                for video in found:
                    if given < query.limit * max(1, len(asked)) and (not listed or names_query(video, query)):
                        given += 1
                        yield video.model_copy(update={"app": query.app or None, "query": query.text or None})
            except (SourceUnavailable, MediaError) as exc:
                failure = exc
                log.warning("%s: %s", request, exc)
        if failure is not None and not given:
            raise failure

    def asked(self, query: Query) -> str:  # noqa: ARG002  the same for every query
        """The addresses it looks at."""
        return json.dumps(self._places)

    def fetch(self, video: Video, folder: Path) -> tuple[Path, tuple[Path, ...]]:
        """Download at most 1080p, captions (people's before automatic ones) and info.json; a finished download is reused."""
        stem = re.sub(r"[^\w.-]+", "_", video.id)
        with storing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        found = self._files(folder, stem)
        if found is None:
            info = self._extract(video.url, download=True, outtmpl=str(folder / f"{stem}.%(ext)s"), noplaylist=True)
            found = self._files(folder, stem)
            if found is None:
                raise MediaError(
                    f"{video.url}: nothing was downloaded", reason="no-media-file", hint=f"title {info.get('title')!r}"
                )
            self._remember(info)
        return found

    def _addresses(self) -> Iterator[str]:
        for place in self._places:
            if re.match(r"https?://", place):
                yield place
            elif Path(place).is_file():
                lines = Path(place).read_text(encoding="utf-8").splitlines()
                yield from (line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#"))
            else:
                raise UnknownName(f"neither an address nor a file of addresses: {place}")

    def _listing(self, request: str, limit: int, offset: int = 0) -> Iterator[Video]:
        info = self._extract(request, download=False, playliststart=offset + 1, playlistend=offset + limit)
        entries = info.get("entries")
        seen = self._archived()
        for entry in [info] if entries is None else entries:
            if not entry:
                continue
            site = str(
                entry.get("extractor_key") or entry.get("ie_key") or info.get("extractor_key") or "generic"
            ).lower()
            source_id = str(entry.get("id") or entry.get("url"))
            if f"{site} {source_id}" in seen:
                log.info("%s %s was fetched before", site, source_id)
                continue
            url = str(entry.get("webpage_url") or entry.get("url"))
            yield video_from_info(entry, source=site, source_id=source_id, url=url)

    def _extract(self, request: str, *, download: bool, **more: Any) -> dict[str, Any]:
        """One yt-dlp call with its faults made ours."""
        import yt_dlp

        options: dict[str, Any] = {
            "quiet": True, "no_warnings": True, "noprogress": True, "logger": log, "extract_flat": False if download else "in_playlist",
            "socket_timeout": self._timeout, "retries": self._retries, "extractor_retries": self._retries, "fragment_retries": self._retries,
            "format": _FORMAT, "merge_output_format": "mp4", "writesubtitles": True, "writeautomaticsub": True, "writeinfojson": download,
            "subtitleslangs": [pattern for code in self._captions for pattern in (code, f"{code}-orig", f"{code}-[A-Z]+")],
            "subtitlesformat": "json3/vtt/srt/best", "ratelimit": self._limit, "sleep_interval": self._pause or None,
            "cookiefile": str(self._cookies) if self._cookies else None, "proxy": self._proxy, "cachedir": False, "color": "never",
            **more,
        }  # fmt: skip
        if self._pause:
            options["max_sleep_interval"] = self._pause * 2
        try:
            with yt_dlp.YoutubeDL(
                cast("Any", {key: value for key, value in options.items() if value is not None})
            ) as ydl:
                info: Any = ydl.extract_info(request, download=download)
                clean: Any = ydl.sanitize_info(info) if info else {}
                return dict(clean)
        except yt_dlp.utils.YoutubeDLError as exc:
            raise _fault(request, exc) from exc
        except OSError as exc:
            fault = storage_fault(exc, f"the download of {request}")
            if fault is exc:
                raise SourceUnavailable(f"{request}: {exc}") from exc
            raise fault from exc

    def _files(self, folder: Path, stem: str) -> tuple[Path, tuple[Path, ...]] | None:
        """(media, captions) of a finished download; partial files do not count."""
        files = [
            path
            for path in folder.glob(f"{stem}.*")
            if path.suffix not in (".part", ".ytdl", ".temp") and path.is_file()
        ]
        captions = [path for path in files if path.suffix in _CAPTION_ENDS]
        media = [
            path
            for path in files
            if path not in captions and path.suffix != ".json" and not re.search(r"\.f\w+\.\w+$", path.name)
        ]
        if not media:
            return None
        return media[0], tuple(
            sorted(captions, key=lambda path: (self._rank(path), _CAPTION_ORDER.index(path.suffix), path.name))
        )

    def _rank(self, path: Path) -> int:
        code = path.name.split(".")[-2].split("-")[0]
        return self._captions.index(code) if code in self._captions else len(self._captions)

    def _archived(self) -> frozenset[str]:
        if self._archive is None or not self._archive.is_file():
            return frozenset()
        return frozenset(self._archive.read_text(encoding="utf-8").splitlines())

    def _remember(self, info: dict[str, Any]) -> None:
        if self._archive is not None:
            with storing(self._archive):
                self._archive.parent.mkdir(parents=True, exist_ok=True)
            with storing(self._archive), self._archive.open("a", encoding="utf-8") as file:
                file.write(f"{str(info.get('extractor_key', 'generic')).lower()} {info.get('id')}\n")


def _is_request(text: str) -> bool:
    """An address, or words with a search key before them (`ytsearch5:gimp tutorial`)."""
    return re.match(r"https?://|[a-z]\w*search(?:date)?(?:\d+|all)?:", text) is not None


def _fault(request: str, exc: Exception) -> SourceUnavailable | MediaError | StoreFull:
    """yt-dlp speaks in sentences: which of our faults this one is."""
    said = re.sub(r"\x1b\[[0-9;]*m|^ERROR:\s*", "", str(exc)).strip()
    if "No space left" in said:
        return StoreFull(f"no space left while downloading {request}")
    for reason, pattern in _TERMINAL:
        if re.search(pattern, said, re.IGNORECASE):
            hint = (
                "try another address or ytdlp_cookies"
                if reason in ("bot-check", "age-gate", "login-required", "geo-blocked")
                else None
            )
            return MediaError(f"{request}: {said}", reason=reason, hint=hint)
    if _TRANSIENT.search(said):
        return SourceUnavailable(f"{request}: {said}", hint="slow down: set ytdlp_rate_limit, or wait")
    return MediaError(f"{request}: {said}", reason="extractor-error", hint="is yt-dlp up to date?")

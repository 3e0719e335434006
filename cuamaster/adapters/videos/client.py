"""Calls of yt-dlp: what an address lists, a download, a caption file; its sentences become our errors."""

from __future__ import annotations

import io
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yt_dlp
from yt_dlp.cookies import CookieLoadError

from cuamaster.adapters.videos.extractors import request_site
from cuamaster.adapters.videos.faults import plain, ruling_of
from cuamaster.adapters.videos.pace import Pace
from cuamaster.adapters.videos.polite import PoliteYoutubeDL
from cuamaster.adapters.videos.sites import site_of
from cuamaster.adapters.videos.web import MEDIA_BYTES, MEDIA_SECONDS
from cuamaster.errors import (
    CuamasterError,
    InvalidInput,
    MediaError,
    MissingDependency,
    StoreFull,
    storage_fault,
)

log = logging.getLogger(__name__)
REDIRECTS = 5
"""Addresses that may lead on to another, and lists that may lie in lists, before it is enough."""
_SAID = ("title", "description", "uploader", "duration", "upload_date", "timestamp", "license", "categories")
_CODECS = "[vcodec~=?'^(avc|h264|vp0?9|vp8)']"
FORMAT = (
    f"bv*[height<=?1080]{_CODECS}+ba/b[height<=?1080]{_CODECS}/bv*[height<=?1080]+ba/b[height<=?1080]/bv*[height<=?1080]"
    "/wv*+ba/w"
)
"""At most 1080 lines in a codec that every decoder has (H.264, VP9), with sound; then any codec; then without sound; then the smallest of
what is larger. What names no size or codec counts as fitting."""
_STUMBLES = (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError)
"""What an extractor raises that stumbles over what a site sent."""
_WRITES = re.compile(r"cannot write|unable to (?:write|open|rename|create|download video: \[Errno)", re.IGNORECASE)
"""yt-dlp's words for what the file system refused; only the exception behind them tells why."""


class Client:
    """Calls of yt-dlp with one set of options. `cookies` is read and never written; `rate_limit`: bytes per second; `retries` of one request."""

    def __init__(
        self,
        pace: Pace,
        *,
        cookies: Path | None = None,
        proxy: str | None = None,
        rate_limit: int | None = None,
        timeout: float = 30.0,
        retries: int = 2,
    ) -> None:
        self.pace = pace
        self._cookies, self._proxy, self._limit = cookies, proxy, rate_limit
        self._timeout, self._retries = timeout, retries

    def listing(self, request: str, first: int, last: int) -> dict[str, Any]:
        """What an address or `key:words` is: a video as its page says it, or a list with its entries `first` to `last` (from 1), none of them
        looked into. yt-dlp's own processing is left out: it needs every entry to be sound, and thinks of file names for each."""
        with self._calls(request) as ydl:
            info = _dict(ydl.extract_info(request, download=False, process=False))
            for _ in range(REDIRECTS):
                if info.get("_type") not in ("url", "url_transparent"):
                    break
                inner = _dict(ydl.extract_info(info["url"], download=False, process=False, ie_key=info.get("ie_key")))
                above = (
                    info if info["_type"] == "url_transparent" else {}
                )  # what the embedding page says counts for more
                told = {name: above[name] for name in _SAID if above.get(name) is not None}
                if above and inner.get("extractor_key") == "Generic":  # a bare file: the page is its address
                    told["webpage_url"] = above.get("webpage_url")
                info = {"_type": "video", **inner, **told}
            if info.get("entries") is None:
                return info
            return {**info, "entries": self._entries(ydl, request, info, first, last)}

    def _entries(
        self, ydl: PoliteYoutubeDL, request: str, info: Any, first: int, last: int, depth: int = 0
    ) -> list[dict[str, Any]]:
        """Entries as they come; what came before a fault of the list itself stays."""
        found: list[dict[str, Any]] = []
        part: Any = slice(first, last)
        try:
            for _, entry in yt_dlp.utils.PlaylistEntries(ydl, info)[part]:
                if not isinstance(entry, dict):
                    continue
                if entry.get("entries") is not None:  # a list that came whole
                    inner = self._entries(ydl, request, entry, 1, last, depth + 1) if depth < REDIRECTS else []
                    entry = {**entry, "entries": inner}
                found.append(entry)
        except yt_dlp.utils.YoutubeDLError as exc:
            fault = ydl.stopped or self._fault(request, exc)
            if not (found and isinstance(fault, MediaError)):
                raise fault from exc
            log.warning("%s: the list ends after %d: %s", request, len(found), fault)
        return found

    def fetch(self, address: str, stem: Path, refuse: Callable[[Mapping[str, Any]], None]) -> dict[str, Any]:
        """Download to `stem`.EXT with `stem`.info.json; `refuse` raises MediaError for what is not to be downloaded, before it is."""

        def look(info: Any, *_: Any, **__: Any) -> None:
            refuse(info)

        began = time.monotonic()

        def bounded(state: Mapping[str, Any]) -> None:
            if (state.get("downloaded_bytes") or 0) > MEDIA_BYTES:
                raise MediaError(f"{address}: more than {MEDIA_BYTES:,} bytes", reason="too-large")
            if time.monotonic() - began > MEDIA_SECONDS:
                raise MediaError(f"{address}: not done after {MEDIA_SECONDS:g} s", reason="too-slow")

        # A list stays a list of addresses: its first two entries tell that it is one.
        options = {
            "outtmpl": f"{_literal(stem)}.%(ext)s", "noplaylist": True, "playlistend": 2, "match_filter": look, "progress_hooks": [bounded],
            "writeinfojson": True, "allow_playlist_files": False,
            # Chapters go into the file: a flat listing, which the video's record comes from, has none.
            "postprocessors": [{"key": "FFmpegMetadata", "add_metadata": False, "add_infojson": False}],
        }  # fmt: skip
        with self._calls(address, **options) as ydl:
            found: Any = ydl.extract_info(address, download=True)
            return _dict(ydl.sanitize_info(found) if found else None)

    def track(self, address: str, part: Mapping[str, Any], target: Path) -> None:
        """Fetch one caption file of the video at `address`."""
        with self._calls(address) as ydl:
            if part.get("data") is not None:
                target.write_text(str(part["data"]), encoding="utf-8")
            else:
                ydl.dl(str(target), dict(part), subtitle=True)

    @contextmanager
    def _calls(self, request: str, **more: Any) -> Iterator[PoliteYoutubeDL]:
        """A YoutubeDL whose faults are ours."""
        address = request if "://" in request else None
        stopped: CuamasterError | None = None
        ydl: PoliteYoutubeDL | None = None
        try:
            with PoliteYoutubeDL(self._options(more), self.pace) as ydl:
                yield ydl
            stopped = ydl.stopped
        except CuamasterError:
            raise
        except (yt_dlp.utils.YoutubeDLError, OSError, *_STUMBLES) as exc:
            stopped = ydl.stopped if ydl is not None else None
            if stopped is None:
                raise self._fault(request, exc) from exc
        if stopped is not None:
            raise stopped
        if address is not None:
            self.pace.answered(site_of(address))

    def _options(self, more: Mapping[str, Any]) -> dict[str, Any]:
        cookies = io.StringIO(self._cookies.read_text(encoding="utf-8")) if self._cookies else None
        options = {
            "quiet": True, "no_warnings": True, "noprogress": True, "logger": _Quiet(), "color": "never", "cachedir": False,
            "extract_flat": "in_playlist", "format": FORMAT, "merge_output_format": "mp4/mkv", "updatetime": False,
            "socket_timeout": self._timeout, "retries": self._retries, "fragment_retries": self._retries,
            "extractor_retries": self._retries, "file_access_retries": 0, "skip_unavailable_fragments": False,
            "retry_sleep_functions": dict.fromkeys(("http", "fragment", "extractor"), lambda n: min(30.0, 2.0**n)),
            "ratelimit": self._limit, "cookiefile": cookies, "proxy": self._proxy,
            "js_runtimes": {name: {} for name in ("deno", "node", "bun", "quickjs")}, **more,
        }  # fmt: skip
        return {key: value for key, value in options.items() if value is not None}

    def _fault(self, request: str, exc: Exception) -> CuamasterError:
        """yt-dlp speaks in sentences: which of our faults this one is."""
        said = plain(str(exc)) if isinstance(exc, yt_dlp.utils.YoutubeDLError) else f"{type(exc).__name__}: {exc}"
        if isinstance(exc, CookieLoadError) or "Netscape format" in said:
            return InvalidInput(f"ytdlp_cookies {self._cookies}: {said}", hint="export cookies in Netscape format")
        if isinstance(exc, OSError) or _WRITES.search(said):
            written = next((fault for fault in _behind(exc) if isinstance(fault, OSError)), OSError(said))
            fault = storage_fault(written, f"the download of {request}")
            if isinstance(fault, CuamasterError):
                return fault
        if "No space left" in said:
            return StoreFull(f"no space left while downloading {request}")
        if re.search(r"ffmpeg (?:is not installed|not found)", said):
            return MissingDependency(f"ffmpeg: {said}", hint="apt-get install ffmpeg")
        return self._judged(request, said)

    def _judged(self, request: str, said: str) -> CuamasterError:
        return self.pace.judged(request, request_site(request), ruling_of(said), f"{request}: {said}")


def _behind(exc: BaseException | None) -> Iterator[BaseException]:
    """An exception and those that it came from, the nearest first."""
    for _ in range(10):
        if exc is None:
            return
        yield exc
        exc = exc.__cause__ or exc.__context__


def _dict(found: Any) -> dict[str, Any]:
    """What yt-dlp found; {} for nothing."""
    return dict(found) if found else {}


def _literal(path: Path) -> str:
    """A path in an output template."""
    return str(path).replace("%", "%%")


class _Quiet:
    """yt-dlp's log: what it calls an error is raised too, and told once by whoever handles it."""

    def debug(self, message: str) -> None:
        log.debug("%s", message)

    info = warning = error = debug

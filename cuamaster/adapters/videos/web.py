"""Reads feeds and fetches their files over HTTP: bounded in bytes and time, at the site's pace, a broken download goes on where it stopped."""

from __future__ import annotations

import contextlib
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any

from cuamaster.adapters.videos.faults import ruling_of
from cuamaster.adapters.videos.pace import VIDEO, Pace
from cuamaster.adapters.videos.sites import site_of
from cuamaster.errors import InvalidInput, MediaError

FEED_BYTES = 20_000_000
FEED_SECONDS = 120.0
MEDIA_BYTES = 8_000_000_000
MEDIA_SECONDS = 4 * 3600.0
"""A tutorial of an hour in 1080p has about one GB."""
_CHUNK = 1 << 16
_BROKEN = (TimeoutError, HTTPException, ConnectionError)


class Web:
    """Plain HTTP GET. `timeout`: seconds without an answer; `proxy`: an address for http and https; `clock`: monotonic seconds."""

    def __init__(
        self,
        pace: Pace,
        *,
        timeout: float = 30.0,
        proxy: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pace, self._timeout, self._clock = pace, timeout, clock
        self._refused = proxy if proxy and not proxy.startswith(("http://", "https://")) else None
        handlers = [urllib.request.ProxyHandler({"http": proxy, "https": proxy})] if proxy else []
        self._opener = urllib.request.build_opener(*handlers)

    def read(self, address: str, limit: int = FEED_BYTES, seconds: float = FEED_SECONDS) -> bytes:
        """A document; raises InvalidInput for one that does not end, SourceUnavailable, MediaError."""
        data = bytearray()
        with self._opened(address, 1) as response:
            for chunk in self._chunks(response, address, seconds):
                data += chunk
                if len(data) > limit:
                    raise InvalidInput(f"{address}: more than {limit:,} bytes and no end", hint="is it a feed?")
        self._pace.settled(address)
        return bytes(data)

    def bring(self, address: str, target: Path) -> None:
        """Download to `target`, whole or not at all. What a broken download left in `target`.part is kept and completed next time."""
        partial = target.with_name(target.name + ".part")
        have = partial.stat().st_size if partial.exists() else 0
        with self._opened(address, VIDEO, {"Range": f"bytes={have}-"} if have else {}) as response:
            goes_on = response.status == 206
            wanted = _length(response)
            with partial.open("ab" if goes_on else "wb") as file:
                got = have if goes_on else 0
                whole = None if wanted is None else got + wanted
                for chunk in self._chunks(response, address, MEDIA_SECONDS):
                    file.write(chunk)
                    got += len(chunk)
                    if got > MEDIA_BYTES:
                        break
        if got > MEDIA_BYTES:
            partial.unlink()
            raise MediaError(f"{address}: more than {MEDIA_BYTES:,} bytes", reason="too-large")
        if whole is not None and got < whole:
            raise self._fault(address, f"{got} bytes read, {whole - got} more expected")
        partial.replace(target)
        self._pace.settled(address)

    def _chunks(self, response: Any, address: str, seconds: float) -> Iterator[bytes]:
        """The body; one that trickles for longer than `seconds` is given up, one that breaks off is tried again."""
        end = self._clock() + seconds
        try:
            while chunk := response.read1(_CHUNK):
                if self._clock() > end:
                    raise MediaError(f"{address}: not done after {seconds:g} s", reason="too-slow")
                yield chunk
        except _BROKEN as exc:
            raise self._fault(address, f"incomplete: {type(exc).__name__} {exc}") from exc

    @contextlib.contextmanager
    def _opened(self, address: str, requests: int, headers: dict[str, str] | None = None) -> Iterator[Any]:
        if self._refused:
            raise InvalidInput(
                f"ytdlp_proxy {self._refused}: feeds go through http proxies only", hint="or leave feeds out"
            )
        site = site_of(address)
        self._pace.turn(site, requests=requests)
        try:
            request = urllib.request.Request(address, headers={"User-Agent": "cuamaster", **(headers or {})})
            response = self._opener.open(request, timeout=self._timeout)
        except urllib.error.HTTPError as exc:
            with exc:
                if exc.code == 416:  # what is there is longer than what the site has now: begin anew
                    raise self._fault(address, "incomplete: the partial file does not fit") from exc
                if exc.code in (412, 429) or (exc.code == 503 and exc.headers.get("Retry-After")):
                    reason = "blocked" if exc.code == 412 else "rate-limited"
                    wish = exc.headers.get("Retry-After")
                    raise self._pace.refused(site, reason, f"{address} answers {exc.code}", wish) from exc
                raise self._fault(address, f"HTTP Error {exc.code}: {exc.reason}") from exc
        except (urllib.error.URLError, *_BROKEN) as exc:
            raise self._fault(address, f"unable to connect: {getattr(exc, 'reason', exc)}") from exc
        except ValueError as exc:
            raise MediaError(f"{address}: {exc}", reason="unsupported") from exc
        self._pace.answered(site)
        with response:
            yield response

    def _fault(self, address: str, said: str) -> Exception:
        return self._pace.judged(address, site_of(address), ruling_of(said), f"{address}: {said}")


def _length(response: Any) -> int | None:
    value = response.headers.get("Content-Length", "")
    return int(value) if value.isascii() and value.isdigit() else None

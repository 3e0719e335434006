"""A small video site on loopback: files of a folder with ranges, chosen statuses, documents without an end, downloads that break off."""

from __future__ import annotations

import functools
import re
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar


class _Handler(SimpleHTTPRequestHandler):
    """`/status/CODE[/RETRY-AFTER]`, `/endless/NAME` (the file over and over), `/broken/NAME` (half of what is asked, then nothing)."""

    extensions_map: ClassVar = {**SimpleHTTPRequestHandler.extensions_map, ".vtt": "text/vtt", ".mp4": "video/mp4"}
    site: Site

    def _answered(self) -> bool:
        """Whether a status was sent in place of the file: those that the test laid up for this path come first."""
        self.site.requests.append(self.path)
        match = re.match(r"/status/(\d+)(?:/(\S+))?", self.path)
        if laid_up := self.site.statuses.get(self.path):
            code, wish = laid_up.pop(0)
        elif match:
            code, wish = int(match.group(1)), match.group(2)
        else:
            return False
        self.send_response(code)
        if wish:
            self.send_header("Retry-After", wish)
        self.send_header("Content-Length", "0")
        self.end_headers()
        return True

    def do_GET(self) -> None:
        if self._answered():
            return
        if self.path.startswith("/endless/"):
            self._endless()
        elif self.path.startswith("/broken/") or self.headers.get("Range"):
            self._part()
        else:
            super().do_GET()

    def do_HEAD(self) -> None:
        if not self._answered():
            super().do_HEAD()

    def _endless(self) -> None:
        data = (self.site.folder / Path(self.path).name).read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(self.path))
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                self.wfile.write(data)
        except OSError:
            pass  # the reader has had enough

    def _part(self) -> None:
        path = self.site.folder / Path(self.path).name
        if not path.is_file():
            self.send_error(404)
            return
        data = path.read_bytes()
        match = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        begin = int(match.group(1)) if match else 0
        end = int(match.group(2)) + 1 if match and match.group(2) else len(data)
        if match and begin >= len(data):
            self.send_error(416)
            return
        part = data[begin:end]
        self.send_response(206 if match else 200)
        self.send_header("Content-Type", self.guess_type(self.path))
        self.send_header("Content-Length", str(len(part)))
        if match:
            self.send_header("Content-Range", f"bytes {begin}-{begin + len(part) - 1}/{len(data)}")
        self.end_headers()
        broken = self.path.startswith("/broken/") and len(part) > 1000
        self.wfile.write(part[: len(part) // 2] if broken else part)
        self.close_connection = broken

    def log_message(self, *args: Any) -> None:
        """Quiet."""


class Site:
    """Serves `folder` until closed. `requests`: the paths asked for; `statuses`: path -> (status, Retry-After) to give before the file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.requests: list[str] = []
        self.statuses: dict[str, list[tuple[int, str | None]]] = {}
        handler = type("Handler", (_Handler,), {"site": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(folder)))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

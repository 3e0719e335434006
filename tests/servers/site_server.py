"""A small video site on loopback: the files of a folder, and answers with a chosen status under /status/CODE."""

from __future__ import annotations

import functools
import re
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar


class _Handler(SimpleHTTPRequestHandler):
    extensions_map: ClassVar = {**SimpleHTTPRequestHandler.extensions_map, ".vtt": "text/vtt", ".mp4": "video/mp4"}

    def _status(self) -> bool:
        match = re.match(r"/status/(\d+)", self.path)
        if match:
            self.send_error(int(match.group(1)))
        return match is not None

    def do_GET(self) -> None:
        if not self._status():
            super().do_GET()

    def do_HEAD(self) -> None:
        if not self._status():
            super().do_HEAD()

    def log_message(self, *args: Any) -> None:
        """Quiet."""


class Site:
    """Serves `folder` until closed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, directory=str(folder)))
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

"""An OpenAI-compatible server on loopback that answers from a script: well, badly, with errors, or not at all."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ChatServer:
    """Answers each request with the next item of the script (the last one again and again).

    An item is a text (the content of a completion), a dict (that choice's message), an int (a status), a tuple
    (status, headers, body), or None: hold the line open and say nothing.
    """

    def __init__(self) -> None:
        self.script: list[Any] = ["hello"]
        self.requests: list[dict[str, Any]] = []
        self.reject_formats: tuple[str, ...] = ()
        self.released = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server.answer(self)

            def log_message(self, *args: Any) -> None:
                """Quiet."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        wanted = (body.get("response_format") or {}).get("type")
        if wanted in self.reject_formats:
            self.requests.append(body)
            return self._send(handler, 400, {}, {"error": {"message": f"response_format {wanted} is not supported"}})
        item = self.script[min(len(self.answered), len(self.script) - 1)]
        self.requests.append(body)
        if item is None:
            self.released.wait(30)
            handler.close_connection = True
            return None
        if isinstance(item, int):
            return self._send(handler, item, {}, {"error": {"message": f"scripted {item}"}})
        if isinstance(item, tuple):
            return self._send(handler, *item)
        message = {"role": "assistant", "content": item} if isinstance(item, str) else {"role": "assistant", **item}
        reason = message.pop("finish_reason", "stop")
        return self._send(
            handler, 200, {},
            {
                "id": "c1", "object": "chat.completion", "created": 1, "model": body["model"],
                "choices": [{"index": 0, "finish_reason": reason, "message": message}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
            },
        )  # fmt: skip

    @property
    def answered(self) -> list[dict[str, Any]]:
        """Requests that were not turned away for their response_format."""
        return [
            body for body in self.requests if (body.get("response_format") or {}).get("type") not in self.reject_formats
        ]

    def _send(self, handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: Any) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def close(self) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

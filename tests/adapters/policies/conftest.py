"""What policy tests share: a frame, a task, and an OpenAI-compatible endpoint on loopback that answers as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from cuamaster.ports import Frame
from cuamaster.records.condition import FileExists, WindowTitle
from cuamaster.records.primitive import ActionTemplate, Parameter, Primitive, Procedure
from cuamaster.records.task import Environment, PrimitiveUse, Task
from cuamaster.records.trajectory import Target, Window


class Endpoint:
    """Queued answers (a text, a message object, or a status code) and the requests that came in."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: list[str | dict[str, Any] | int] = []
        self.requests: list[dict[str, Any]] = []


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(body)
            answer = state.answers.pop(0)
            if isinstance(answer, int):
                self._send(answer, {"error": {"message": "told to fail"}})
                return
            message = {"role": "assistant", **(answer if isinstance(answer, dict) else {"content": answer})}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
            self._send(
                200,
                {
                    "id": "1",
                    "object": "chat.completion",
                    "created": 0,
                    "model": body["model"],
                    "choices": [choice],
                    "usage": usage,
                },
            )

        def _send(self, status: int, data: Any) -> None:
            payload = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class names it so)
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = Endpoint(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def make_frame() -> Callable[..., Frame]:
    def make(shade: int = 0, active: Window | None = None) -> Frame:
        image = np.full((80, 100, 3), shade, dtype=np.uint8)
        return Frame(image=image, t=0.0, active=active)

    return make


@pytest.fixture
def task() -> Task:
    """Make a folder by menu or by command, then type and commit a name."""

    def click(text: str) -> ActionTemplate:
        return ActionTemplate(type="mouse.click", target=Target(text=text))

    make = Primitive(
        app="files",
        ability="create-folder",
        instruction="Create {name}",
        parameters=(Parameter(name="name", kind="dirname", examples=("x",)),),
        effects=(FileExists(path="~/{name}", type="dir"),),
        verifier=FileExists(path="~/{name}", type="dir"),
        procedures=(
            Procedure(
                mode="gui",
                steps=(
                    click("File"),
                    click("New {name}"),
                    ActionTemplate(type="keyboard.press", args={"keys": ["enter"]}),
                ),
            ),
            Procedure(mode="cli", steps=(ActionTemplate(type="shell.exec", args={"command": "mkdir ~/{name}"}),)),
        ),
    )
    search = Primitive(
        app="files",
        ability="search",
        instruction="Search {name}",
        parameters=(Parameter(name="name", examples=("x",)),),
        effects=(WindowTitle(title="{name}", app="files"),),
        verifier=WindowTitle(title="{name}", app="files"),
        procedures=(
            Procedure(
                mode="gui",
                steps=(
                    ActionTemplate(type="keyboard.type", args={"text": "{name}"}, say="Type the name"),
                    ActionTemplate(type="keyboard.press", args={"keys": ["enter"]}),
                ),
            ),
        ),
    )
    return Task(
        instruction="Create the folder and look for it.",
        environment=Environment(image="i", image_digest="d"),
        verifier=FileExists(path="~/my files", type="dir"),
        plan=tuple(PrimitiveUse(primitive=primitive, arguments={"name": "my files"}) for primitive in (make, search)),
        strategy="sequential",
    )

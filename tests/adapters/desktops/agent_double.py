"""A guest agent at the other end of a real socket: whoever uses it says what every message is answered with."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable

Answer = Callable[[dict[str, object], int], bytes]
"""(message, its number from 0) -> the bytes sent back."""


def line(value: object) -> bytes:
    """An answer that holds a value."""
    return json.dumps({"return": value}).encode() + b"\n"


def synced(message: dict[str, object]) -> bytes:
    """The answer to guest-sync-delimited."""
    return b"\xff" + line(message["arguments"]["id"])  # type: ignore[index]


def polite(message: dict[str, object], _number: int) -> bytes:
    """In step, and every command answered with its own name."""
    return synced(message) if message["execute"] == "guest-sync-delimited" else line(message["execute"])


def serve(peer: socket.socket, answer: Answer) -> list[dict[str, object]]:
    """Answer in a thread until the other end hangs up; the messages heard so far."""
    heard: list[dict[str, object]] = []

    def run() -> None:
        with peer.makefile("rb") as lines:
            for number, said in enumerate(lines):
                heard.append(json.loads(said.lstrip(b"\xff")))
                peer.sendall(answer(heard[-1], number))

    threading.Thread(target=run, daemon=True).start()
    return heard

"""Speaks with a second guest agent over a socket of its own, which answers at once after a restore.

QEMU tells libvirt at most once a second whether the port of its agent is open, and a restore closes and opens it: libvirt
holds the agent for lost until a second has passed. The same program on a channel that libvirt does not watch is there the moment
the guest runs. Protocol: QEMU's docs/interop/qemu-ga-ref, one JSON object a line; `guest-sync-delimited` after 0xFF drops what
was half said.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

CHANNEL = "org.cuamaster.agent.0"
"""The channel's name in an image's domain.xml."""

START = f"""for port in /sys/class/virtio-ports/*; do
  if [ "$(cat "$port/name")" = {CHANNEL} ]; then
    mkdir -p /run/cuamaster
    exec setsid qemu-ga -m virtio-serial -p "/dev/${{port##*/}}" -t /run/cuamaster -f /run/cuamaster/agent.pid -d
  fi
done
exit 1"""
"""A command for the guest's shell that starts the second agent; exits with 1 in a guest without the channel."""

_FIRST_TRY_S, _LONGEST_TRY_S = 0.1, 2.0


class AgentRefused(Exception):
    """The agent answered that a command failed, or nothing that can be read."""


class DirectAgent:
    """One connection to the second agent; calls from several threads wait for each other.

    Raises TimeoutError without an answer in time (nothing is sent again), OSError when the machine hangs up.
    """

    def __init__(self, peer: socket.socket) -> None:
        self._peer = peer
        self._lock = threading.Lock()
        self._received = b""
        self._syncs = 0
        self._in_step = False

    @classmethod
    def connect(cls, domain: Any) -> DirectAgent | None:
        """The agent of a libvirt domain, or None where its channel is missing or lies on another host."""
        path = _socket_of(domain)
        if path is None:
            return None
        peer = socket.socket(socket.AF_UNIX)
        try:
            peer.connect(str(path))
        except OSError:
            peer.close()
            return None
        return cls(peer)

    def close(self) -> None:
        """Hang up; safe to call twice."""
        self._peer.close()

    def sync(self, seconds: float) -> bool:
        """Whether the agent answers within so many seconds; what it may still say to earlier calls is dropped.

        Asked again at growing intervals: what was sent before a restore is lost.
        """
        with self._lock:
            return self._synced(time.monotonic() + seconds)

    def call(self, command: str, arguments: Mapping[str, Any], seconds: float) -> Any:
        """The `return` of one command. Raises AgentRefused with the agent's reason."""
        with self._lock:
            deadline = time.monotonic() + seconds
            if not self._in_step and not self._synced(deadline):
                raise TimeoutError(f"no answer within {seconds:g} s")
            self._in_step = False
            self._send({"execute": command, "arguments": dict(arguments)}, deadline)
            answer = self._line(deadline)
            if answer is None:
                raise TimeoutError(f"no answer within {seconds:g} s")
            try:
                said = json.loads(answer)
                self._in_step = True
                if "return" in said:
                    return said["return"]
                reason = str(said["error"]["desc"])
            except (ValueError, TypeError, KeyError):
                raise AgentRefused(f"an answer that cannot be read: {answer[:80]!r}") from None
            raise AgentRefused(reason)

    def _synced(self, deadline: float) -> bool:
        self._in_step = False
        first, tried = self._syncs + 1, _FIRST_TRY_S
        while time.monotonic() < deadline:
            self._syncs += 1
            until = min(deadline, time.monotonic() + tried)
            self._send({"execute": "guest-sync-delimited", "arguments": {"id": self._syncs}}, until, start=b"\xff")
            while (line := self._line(until)) is not None:
                if self._syncs == (known := _sync_id(line)):
                    self._in_step = True
                    return True
                if known >= first:  # an earlier question of this round, answered late: the next answer is on its way
                    until = deadline
            tried = min(2 * tried, _LONGEST_TRY_S)
        return False

    def _send(self, message: Mapping[str, Any], deadline: float, start: bytes = b"") -> None:
        self._peer.settimeout(max(0.001, deadline - time.monotonic()))
        self._peer.sendall(start + json.dumps(message).encode() + b"\n")

    def _line(self, deadline: float) -> bytes | None:
        """The next line, or None at the deadline."""
        parts = [self._received]
        while b"\n" not in parts[-1]:
            left = deadline - time.monotonic()
            if left <= 0:
                self._received = b"".join(parts)
                return None
            self._peer.settimeout(left)
            try:
                data = self._peer.recv(1 << 16)
            except TimeoutError:
                continue
            if not data:
                raise ConnectionResetError("the channel was closed")
            parts.append(data)
        line, _, self._received = b"".join(parts).partition(b"\n")
        return line


def _sync_id(line: bytes) -> int:
    """The number a sync was answered with; 0 for anything else."""
    try:
        said = json.loads(line.rpartition(b"\xff")[2])
    except ValueError:
        return 0
    known = said.get("return") if isinstance(said, dict) else None
    return known if isinstance(known, int) else 0


def _socket_of(domain: Any) -> Path | None:
    if urlsplit(domain.connect().getURI()).netloc:
        return None
    for channel in ElementTree.fromstring(domain.XMLDesc(0)).iterfind("devices/channel"):
        target, source = channel.find("target"), channel.find("source")
        if target is not None and target.get("name") == CHANNEL and source is not None and source.get("path"):
            return Path(str(source.get("path")))
    return None

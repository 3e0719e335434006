"""The one typed wrapper of a libvirt domain: QEMU monitor, guest agent, files, screen, life cycle."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import libvirt
import libvirt_qemu

from cuamaster.adapters.desktops.libvirt_agent import START, AgentRefused, DirectAgent
from cuamaster.adapters.desktops.libvirt_vcpus import Vcpus
from cuamaster.errors import ConnectionLost, DesktopFault, GuestDied, GuestUnresponsive, NoRoom

PIECE = 48 << 10
"""Bytes per guest-file-write and per read: pieces of 192 KiB have been seen to corrupt the agent's JSON."""

_TOLD_S = 2.0
"""So long libvirt may take to learn that a machine which hung up has ended."""

_STARTED_S = 30.0
"""So long a second agent may take to answer first; under emulation starting a program takes a second."""

_NO_ANSWER = (libvirt.VIR_ERR_AGENT_UNRESPONSIVE, libvirt.VIR_ERR_OPERATION_TIMEOUT)


@dataclass(frozen=True)
class Executed:
    """A finished program in the guest: exit code (negative: signal) and its captured output."""

    exit_code: int
    stdout: bytes
    stderr: bytes


class Guest:
    """A running virtual machine; every method raises GuestDied, GuestUnresponsive, ConnectionLost, NoRoom or DesktopFault.

    `monitor_seconds`: a machine whose monitor is silent for longer hangs, and is ended. `agent_seconds`: the same for one
    answer of the guest agent, after which the machine lives on.
    """

    monitor_seconds = 90.0
    agent_seconds = 30

    def __init__(self, domain: Any, name: str) -> None:
        self.name = name
        self._domain = domain
        self.vcpus = Vcpus(lambda: self.qmp("query-cpus-fast"))
        self._direct: DirectAgent | None = None

    # --- monitor

    def qmp(self, command: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Send one QMP command and return its `return` value."""
        request = json.dumps({"execute": command, "arguments": dict(arguments or {})})
        with self._monitor(f"monitor command {command}"):
            answer = json.loads(libvirt_qemu.qemuMonitorCommand(self._domain, request, 0))
        if "error" in answer:
            raise DesktopFault(f"{self.name}: {command}: {answer['error'].get('desc', answer['error'])}")
        return answer["return"]

    def hmp(self, line: str) -> str:
        """Send one human monitor command (for the few things QMP lacks)."""
        with self._monitor(f"monitor line {line!r}"):
            return str(libvirt_qemu.qemuMonitorCommand(self._domain, line, 1))

    @contextmanager
    def _monitor(self, what: str) -> Iterator[None]:
        """Around a call that libvirt waits for without a limit: a silent machine is ended, which ends the wait."""
        silent = threading.Event()

        def end() -> None:
            silent.set()
            with suppress(DesktopFault):  # the call that waits tells what is wrong
                self.destroy()

        timer = threading.Timer(self.monitor_seconds, end)
        timer.daemon = True
        timer.start()
        try:
            yield
        except libvirt.libvirtError as exc:
            if silent.is_set():
                raise GuestUnresponsive(
                    f"{self.name}: {what}: no answer within {self.monitor_seconds:g} s, the machine was ended"
                ) from exc
            raise self._fault(what, exc) from exc
        finally:
            timer.cancel()

    # --- agent

    def agent(self, command: str, arguments: Mapping[str, Any] | None = None, *, timeout: int | None = None) -> Any:
        """Send one guest agent command, waiting at most `timeout` seconds (None: `agent_seconds`) for the answer."""
        limit = self.agent_seconds if timeout is None else timeout
        if self._direct is not None:
            with self._spoken(f"agent command {command}"):
                return self._direct.call(command, arguments or {}, limit)
        request = json.dumps({"execute": command, "arguments": dict(arguments or {})})
        try:
            return json.loads(libvirt_qemu.qemuAgentCommand(self._domain, request, limit, 0))["return"]
        except libvirt.libvirtError as exc:
            raise self._fault(f"agent command {command}", exc) from exc

    @contextmanager
    def _spoken(self, what: str) -> Iterator[None]:
        """Around a call of the second agent."""
        try:
            yield
        except AgentRefused as exc:
            raise DesktopFault(f"{self.name}: {what}: {exc}") from exc
        except OSError as exc:
            deadline = time.monotonic() + (0 if isinstance(exc, TimeoutError) else _TOLD_S)
            while self.alive() and time.monotonic() < deadline:
                time.sleep(0.02)
            raise self._fault(what, exc) from exc

    def start_direct(self) -> bool:
        """Start the second agent and use it from now on; False where the guest or its machine has no channel for it."""
        if self.execute(["/bin/sh", "-c", START]).exit_code != 0 or not self.use_direct():
            return False
        if self._direct is not None and not self._direct.sync(_STARTED_S):  # it ended again: libvirt's serves as well
            self._direct.close()
            self._direct = None
        return self._direct is not None

    def use_direct(self) -> bool:
        """Use the second agent, which runs already, from now on; False where it cannot be reached from this host."""
        self._direct = DirectAgent.connect(self._domain)
        return self._direct is not None

    def ping(self, timeout: int = 5) -> bool:
        """True when the guest agent answers; raises GuestDied when there is no guest any more."""
        try:
            if self._direct is not None:
                with self._spoken("agent"):
                    return self._direct.sync(timeout)
            self.agent("guest-ping", timeout=timeout)
        except GuestDied:
            raise
        except DesktopFault:
            return False
        return True

    def wait_agent(self, seconds: float) -> None:
        """Poll until the agent answers; raises GuestUnresponsive at the deadline."""
        deadline = time.monotonic() + seconds
        while not self.ping(timeout=max(1, min(5, int(deadline - time.monotonic())))):
            if time.monotonic() > deadline:
                raise GuestUnresponsive(f"{self.name}: the guest agent did not answer within {seconds:g} s")
            time.sleep(0.02)

    def start(self, argv: Sequence[str], *, capture: bool = True) -> int:
        """Start a program as root in the guest; returns its pid for `finished`."""
        arguments = {"path": argv[0], "arg": list(argv[1:]), "capture-output": capture}
        return int(self.agent("guest-exec", arguments)["pid"])

    def finished(self, pid: int) -> Executed | None:
        """The result of a started program, or None while it runs."""
        status = self.agent("guest-exec-status", {"pid": pid})
        if not status["exited"]:
            return None
        code = status.get("exitcode", -int(status.get("signal", 0)))
        return Executed(
            int(code), base64.b64decode(status.get("out-data", "")), base64.b64decode(status.get("err-data", ""))
        )

    def wait(self, pid: int, seconds: float) -> Executed | None:
        """The result of a started program, or None when it still runs at the deadline."""
        deadline = time.monotonic() + seconds
        pause = 0.004
        while (done := self.finished(pid)) is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            time.sleep(min(pause, left))
            pause = min(0.05, pause * 1.4)
        return done

    def execute(self, argv: Sequence[str], *, timeout: float = 30.0) -> Executed:
        """Run a program as root to its end; raises GuestUnresponsive when it is still running at the deadline.

        Its output must stay below 2 MiB (larger answers break the agent).
        """
        done = self.wait(self.start(argv), timeout)
        if done is None:
            raise GuestUnresponsive(f"{self.name}: {argv[0]} did not end within {timeout:g} s")
        return done

    def read(self, path: str) -> bytes:
        """All bytes of a file, read as root in pieces."""
        handle = self.agent("guest-file-open", {"path": path, "mode": "r"})
        parts: list[bytes] = []
        try:
            while True:
                piece = self.agent("guest-file-read", {"handle": handle, "count": PIECE})
                parts.append(base64.b64decode(piece["buf-b64"]))
                if piece["eof"]:
                    return b"".join(parts)
        finally:
            self.agent("guest-file-close", {"handle": handle})

    def write(self, path: str, data: bytes) -> None:
        """Write a file as root in pieces; its folder must exist."""
        handle = self.agent("guest-file-open", {"path": path, "mode": "w"})
        try:
            for start in range(0, len(data), PIECE):
                rest = data[start : start + PIECE]
                while rest:
                    encoded = base64.b64encode(rest).decode()
                    rest = rest[int(self.agent("guest-file-write", {"handle": handle, "buf-b64": encoded})["count"]) :]
        finally:
            self.agent("guest-file-close", {"handle": handle})

    # --- screen and life

    def screendump(self, path: Path) -> bytes:
        """The screen as PPM bytes, through a file QEMU writes: four times faster than the stream, for QEMU on this host."""
        self.qmp("screendump", {"filename": str(path)})
        data = path.read_bytes()
        path.unlink()  # before it is written to the disk: ten megabytes a second while a desktop is watched
        return data

    def screenshot(self) -> bytes:
        """The screen as PPM or PNG bytes, streamed, so that no path is shared with the host."""
        parts: list[bytes] = []
        with self._monitor("screenshot"):
            stream = self._domain.connect().newStream(0)
            self._domain.screenshot(stream, 0, 0)
            stream.recvAll(lambda _stream, data, _opaque: parts.append(bytes(data)), None)
            stream.finish()
        return b"".join(parts)

    def alive(self) -> bool:
        """Whether QEMU still runs."""
        try:
            return bool(self._domain.isActive())
        except libvirt.libvirtError:
            return False

    def suspend(self) -> None:
        """Stop the virtual CPUs."""
        with self._monitor("suspend"):
            self._domain.suspend()

    def resume(self) -> None:
        """Let the virtual CPUs run."""
        with self._monitor("resume"):
            self._domain.resume()

    def destroy(self) -> None:
        """End QEMU; nothing happens when it is gone already."""
        if self._direct is not None:
            self._direct.close()
        try:
            self._domain.destroy()
        except libvirt.libvirtError as exc:
            if self.alive():
                raise self._fault("destroy", exc) from exc

    def _fault(self, what: str, exc: Any) -> DesktopFault:
        message = f"{self.name}: {what}: {exc}"
        if not connected(self._domain.connect()):
            return ConnectionLost(f"{self.name}: the connection to libvirt is lost ({what}: {exc})")
        if not self.alive():
            return GuestDied(f"{self.name}: the virtual machine is gone ({what}: {exc})")
        if self._stopped_by_disk():
            return NoRoom(f"{self.name}: stopped because its disk on the host cannot grow ({what}: {exc})")
        if isinstance(exc, OSError) or exc.get_error_code() in _NO_ANSWER:
            return GuestUnresponsive(message)
        return DesktopFault(message)

    def _stopped_by_disk(self) -> bool:
        try:
            state, reason = self._domain.state()
        except libvirt.libvirtError:
            return False
        return bool(state == libvirt.VIR_DOMAIN_PAUSED and reason == libvirt.VIR_DOMAIN_PAUSED_IOERROR)


def connected(connection: Any) -> bool:
    """Whether a libvirt connection still leads to libvirt; an embedded driver is always there."""
    try:
        return bool(connection.isAlive())
    except libvirt.libvirtError:
        return False

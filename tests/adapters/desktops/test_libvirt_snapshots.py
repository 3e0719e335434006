"""What is attested after a restore: an agent that hangs up once more is asked again, one that stays away and a changed state are told."""

from __future__ import annotations

import base64
import hashlib
import socket
from collections.abc import Iterator

import libvirt
import pytest

from cuamaster.adapters.desktops import libvirt_snapshots
from cuamaster.adapters.desktops.libvirt_agent import DirectAgent
from cuamaster.adapters.desktops.libvirt_freshness import Freshness
from cuamaster.adapters.desktops.libvirt_guest import Guest
from cuamaster.adapters.desktops.libvirt_input import Input
from cuamaster.adapters.desktops.libvirt_session import Session
from cuamaster.adapters.desktops.libvirt_snapshots import AttestedSnapshots
from cuamaster.errors import GuestUnresponsive, StateDrift, UnknownName
from tests.adapters.desktops.agent_double import line, serve, synced

FILE = "/home/user/kept.txt"


class Machine(Guest):
    """A guest whose domain is libvirt's own test machine and whose agent is the one at the socket; it has no monitor."""

    agent_seconds = 0.3

    def __init__(self, domain: object, peer: socket.socket) -> None:
        super().__init__(domain, "m")
        self._direct = DirectAgent(peer)

    def qmp(self, command: str, arguments: object = None) -> object:
        """Input events go nowhere."""
        return {}


class Inside:
    """The guest's side: runs the state program over one file, and loses answers as a port does that is closed and opened."""

    def __init__(self) -> None:
        self.text = b"one"
        self.lost = 0
        """So many of the next answers are never sent."""
        self.away = False

    def answer(self, message: dict[str, object], _number: int) -> bytes:
        """The bytes sent back, none for an answer that is lost."""
        if self.away:
            return b""
        if message["execute"] == "guest-sync-delimited":
            return synced(message)
        if self.lost:
            self.lost -= 1
            return b""
        if message["execute"] == "guest-exec":
            return line({"pid": 7})
        told = f"active 0\n== files\n{hashlib.sha256(self.text).hexdigest()}\t{FILE}\n"
        return line({"exited": True, "exitcode": 0, "out-data": base64.b64encode(told.encode()).decode()})


class Jobs:
    """QEMU's snapshot jobs of one file; a load costs the next `hang_ups` answers of the agent."""

    def __init__(self, inside: Inside, hang_ups: int) -> None:
        self._inside, self._hang_ups = inside, hang_ups
        self._kept: dict[str, bytes] = {}

    def save(self, tag: str) -> None:
        self._kept[tag] = self._inside.text

    def load(self, tag: str) -> None:
        self._inside.text = self._kept[tag]
        self._inside.lost = self._hang_ups

    def delete(self, tag: str) -> None:
        del self._kept[tag]

    def sizes(self) -> dict[str, int]:
        return {tag: len(text) for tag, text in self._kept.items()}


@pytest.fixture
def domain() -> Iterator[object]:
    """A machine that runs, by libvirt's test driver."""
    connection = libvirt.open("test:///default")
    yield connection.lookupByName("test")
    connection.close()


def _snapshots(
    domain: object, pair: tuple[socket.socket, socket.socket], inside: Inside, hang_ups: int
) -> AttestedSnapshots:
    serve(pair[1], inside.answer)
    guest = Machine(domain, pair[0])
    devices = Input(guest, 640, 480)
    freshness = Freshness(lambda: pytest.fail("no screen is looked at"), devices, lambda: True)
    session = Session(guest, "user", "/home/user")
    jobs = Jobs(inside, hang_ups)
    return AttestedSnapshots(guest, jobs, devices, freshness, session.state, answers=True)  # type: ignore[arg-type]


@pytest.mark.parametrize("hang_ups", [0, 1])
def test_an_agent_that_hangs_up_after_a_restore_is_asked_again(
    domain: object, pair: tuple[socket.socket, socket.socket], hang_ups: int
) -> None:
    inside = Inside()
    snapshots = _snapshots(domain, pair, inside, hang_ups)
    saved = snapshots.save("s", ["~/kept.txt"])
    assert saved.files == {"~/kept.txt": hashlib.sha256(b"one").hexdigest()}
    inside.text = b"two"
    assert snapshots.load("s") == saved
    assert inside.lost == 0, "the fault was met"
    assert snapshots.sizes() == {"s": 3}


def test_an_agent_that_stays_away_is_told(
    domain: object, pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libvirt_snapshots, "_REOPENED_SECONDS", 0.2)
    inside = Inside()
    snapshots = _snapshots(domain, pair, inside, 0)
    saved = snapshots.save("s", ["~/kept.txt"])
    inside.away = True
    with pytest.raises(GuestUnresponsive):
        snapshots.attest(saved, "a restore")


def test_another_state_is_drift_and_says_what_differs(
    domain: object, pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libvirt_snapshots, "_ATTEST_SECONDS", 0.2)
    inside = Inside()
    snapshots = _snapshots(domain, pair, inside, 0)
    saved = snapshots.save("s", ["~/kept.txt"])
    inside.text = b"two"
    with pytest.raises(StateDrift, match=r"after a restore: files differ: ~/kept\.txt"):
        snapshots.attest(saved, "a restore")
    with pytest.raises(UnknownName, match="it has s"):
        snapshots.load("t")
    snapshots.drop("s")
    assert snapshots.sizes() == {}

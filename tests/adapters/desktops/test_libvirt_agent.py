"""The protocol of the second guest agent, spoken with a peer over a real socket: late, half and lost answers."""

from __future__ import annotations

import socket

import pytest

from cuamaster.adapters.desktops.libvirt_agent import AgentRefused, DirectAgent
from tests.adapters.desktops.agent_double import line, polite, serve, synced


def test_a_command_is_answered_and_a_refusal_told(pair: tuple[socket.socket, socket.socket]) -> None:
    def answer(message: dict[str, object], number: int) -> bytes:
        refused = b'{"error": {"class": "GenericError", "desc": "no such file"}}\n'
        return refused if message["execute"] == "guest-file-open" else polite(message, number)

    heard = serve(pair[1], answer)
    agent = DirectAgent(pair[0])
    assert agent.call("guest-ping", {}, 5) == "guest-ping"
    with pytest.raises(AgentRefused, match="no such file"):
        agent.call("guest-file-open", {"path": "/x"}, 5)
    assert agent.call("guest-info", {}, 5) == "guest-info"
    assert [item["execute"] for item in heard].count("guest-sync-delimited") == 1, "in step it need not ask again"


def test_what_was_lost_in_a_restore_is_asked_again(pair: tuple[socket.socket, socket.socket]) -> None:
    heard = serve(pair[1], lambda message, number: b"" if number < 2 else polite(message, number))
    assert DirectAgent(pair[0]).sync(5)
    assert len(heard) == 3


def test_a_late_answer_is_never_taken_for_the_next_one(pair: tuple[socket.socket, socket.socket]) -> None:
    held: list[bytes] = []

    def answer(message: dict[str, object], number: int) -> bytes:
        if message["execute"] == "guest-exec":
            held.append(line({"pid": 7}))
            return b'{"return": {"pi'  # the rest comes with the next answer
        late = b'd": 7}}\n' if held else b""
        held.clear()
        return late + polite(message, number)

    heard = serve(pair[1], answer)
    agent = DirectAgent(pair[0])
    with pytest.raises(TimeoutError):
        agent.call("guest-exec", {"path": "true"}, 0.2)
    assert agent.call("guest-ping", {}, 5) == "guest-ping"
    assert [item["execute"] for item in heard].count("guest-exec") == 1, "nothing is sent twice"


def test_noise_and_late_syncs_are_skipped(pair: tuple[socket.socket, socket.socket]) -> None:
    kept: list[bytes] = []

    def answer(message: dict[str, object], number: int) -> bytes:
        if number == 0:
            kept.append(synced(message))
            return b"\xfe\x00 half a line\n[1]\n"
        return kept.pop() + polite(message, number) if kept else polite(message, number)

    serve(pair[1], answer)
    agent = DirectAgent(pair[0])
    assert agent.call("guest-ping", {}, 5) == "guest-ping"


@pytest.mark.parametrize("garbled", [b'{"return": {"pid"\n', b"[1]\n", b"7\n", b"\xff\xfe{}\n", b'{"error": "x"}\n'])
def test_an_answer_that_cannot_be_read_is_told_and_the_next_command_works(
    pair: tuple[socket.socket, socket.socket], garbled: bytes
) -> None:
    serve(pair[1], lambda message, number: garbled if message["execute"] == "guest-exec" else polite(message, number))
    agent = DirectAgent(pair[0])
    with pytest.raises(AgentRefused, match="cannot be read"):
        agent.call("guest-exec", {"path": "true"}, 5)
    assert agent.call("guest-ping", {}, 5) == "guest-ping"


def test_silence_and_a_hang_up_are_told_apart(pair: tuple[socket.socket, socket.socket]) -> None:
    agent = DirectAgent(pair[0])
    assert not agent.sync(0.3)
    with pytest.raises(TimeoutError):
        agent.call("guest-ping", {}, 0.3)
    pair[1].close()
    with pytest.raises(OSError, match=r"pipe|closed|reset") as caught:
        agent.call("guest-ping", {}, 5)
    assert not isinstance(caught.value, TimeoutError)

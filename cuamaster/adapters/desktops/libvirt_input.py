"""Pointer and keyboard at the hypervisor: works for any guest system, takes pixels and key codes."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterable, Sequence
from typing import Any

from cuamaster.adapters.desktops.keys import MODIFIER_CODES, character_codes
from cuamaster.adapters.desktops.libvirt_guest import Guest
from cuamaster.errors import DesktopFault

_BUTTONS = {"left": "left", "right": "right", "middle": "middle", "back": "side", "forward": "extra"}
# How long gestures take: applications tell clicks from drags and double clicks by time.
_PRESS = 0.03
_BETWEEN_CLICKS = 0.06
_AFTER_MOVE = 0.05
_DRAG_STEP_PX = 24
_UNSEEN = 30
"""Events sent at most before the guest must have dealt with them: the queues on the way hold 64 and drop what does not fit."""
_REST_S = 0.5
"""A guest that is busy with something else for longer than this gets more events on the answer to a ping alone."""

Event = dict[str, Any]


def _key(code: str, down: bool) -> Event:
    return {"type": "key", "data": {"down": down, "key": {"type": "qcode", "data": code}}}


def _button(name: str, down: bool) -> Event:
    return {"type": "btn", "data": {"button": name, "down": down}}


_MAKE = {"key": _key, "btn": _button}
_BOUNCE = 0.06
"""Seconds from a button's release to the next press, at least: libinput takes what comes within 25 ms for a bouncing switch and drops both."""


class Input:
    """Sends input events; remembers where the pointer is and what is held, so that it can be released."""

    def __init__(self, guest: Guest, width: int, height: int, *, local: bool = True, agent: bool = True) -> None:
        """`local`: QEMU runs on this host, so that it can be seen whether the guest has anything left to do.

        `agent`: the guest's agent can be asked as well; without either, the guest gets time instead.
        """
        self._guest = guest
        self._local = local
        self._agent = agent
        self._size = (width, height)
        self.pointer = (width // 2, height // 2)
        self._held: dict[tuple[str, str], None] = {}
        self._unseen = 0
        self._released = 0.0

    def move(self, x: int, y: int) -> None:
        """Put the pointer on the pixel (x, y)."""
        axes = zip("xy", (x, y), self._size, strict=True)
        self._send(
            [
                {"type": "abs", "data": {"axis": axis, "value": int((at + 0.5) * 32768 / size)}}
                for axis, at, size in axes
            ]
        )
        self.pointer = (x, y)

    def click(self, x: int, y: int, button: str, count: int, modifiers: Sequence[str]) -> None:
        """Click 1-3 times at a pixel with modifier codes held."""
        self.move(x, y)
        self._pace(_AFTER_MOVE)
        self.keys(modifiers, True)
        try:
            for number in range(count):
                if number:
                    self._pace(_BETWEEN_CLICKS)
                self.button(button, True)
                self._pace(_PRESS)
                self.button(button, False)
        finally:
            self.keys(reversed(modifiers), False)

    def drag(self, path: Sequence[tuple[int, int]], button: str, modifiers: Sequence[str]) -> None:
        """Press at the first pixel, move along the path in small steps, release at the last."""
        self.move(*path[0])
        self._pace(_AFTER_MOVE)
        self.keys(modifiers, True)
        try:
            self.button(button, True)
            self._pace(_AFTER_MOVE)
            for (x0, y0), (x1, y1) in itertools.pairwise(path):
                steps = max(2, int(max(abs(x1 - x0), abs(y1 - y0)) / _DRAG_STEP_PX))
                for step in range(1, steps + 1):
                    self.move(round(x0 + (x1 - x0) * step / steps), round(y0 + (y1 - y0) * step / steps))
                    self._pace(0.012)
            self._pace(0.1)  # drop targets look at where the pointer rests
            self.button(button, False)
        finally:
            self.keys(reversed(modifiers), False)

    def scroll(self, dx: int, dy: int, modifiers: Sequence[str]) -> None:
        """Turn the wheel by notches: dy > 0 down, dx > 0 right."""
        self.keys(modifiers, True)
        try:
            self._wheel("wheel-down" if dy > 0 else "wheel-up", abs(dy))
            if dx:
                self._sideways("wheel-right" if dx > 0 else "wheel-left", abs(dx))
        finally:
            self.keys(reversed(modifiers), False)

    def button(self, name: str, down: bool) -> None:
        """Press or release a button of the action space."""
        if down:
            self._pace(max(0.0, self._released + _BOUNCE - time.monotonic()))
        self._change("btn", _BUTTONS[name], down)
        if not down:
            self._released = time.monotonic()

    def keys(self, codes: Iterable[str], down: bool) -> None:
        """Press or release key codes in order."""
        for code in codes:
            self._change("key", code, down)

    def _change(self, kind: str, code: str, down: bool) -> None:
        if down:
            self._held[kind, code] = None  # before it is sent: it may arrive although its answer does not
        self._send([_MAKE[kind](code, down)])
        if not down:
            self._held.pop((kind, code), None)

    def press(self, codes: Sequence[str], seconds: float = _PRESS) -> None:
        """Press codes together, keep them for `seconds`, release in reverse."""
        try:
            self.keys(codes, True)
            self._pace(seconds)
        finally:
            self.keys(list(reversed(codes)), False)

    def type(self, text: str) -> None:
        """Type text of the US keyboard, in bursts the guest has swallowed before the next one starts."""
        burst: list[Event] = []
        for character in text:
            codes = character_codes(character)
            events = [_key(code, True) for code in codes] + [_key(code, False) for code in reversed(codes)]
            if len(burst) + len(events) > _UNSEEN:
                self._send(burst)
                burst = []
            burst += events
        if burst:
            self._send(burst)
            self._await_guest()

    @property
    def held(self) -> tuple[tuple[str, str], ...]:
        """Keys and buttons that are down, as (key | btn, code): to be kept with a snapshot of the guest."""
        return tuple(self._held)

    def release_all(self, held: Iterable[tuple[str, str]] = ()) -> None:
        """Release every modifier and button, what this object holds, and `held`: what was down when a snapshot was taken."""
        always = [("key", code) for code in MODIFIER_CODES] + [("btn", code) for code in _BUTTONS.values()]
        self._send([_MAKE[kind](code, False) for kind, code in dict.fromkeys([*held, *self._held, *always])])
        self._held.clear()

    def _wheel(self, code: str, notches: int) -> None:
        for _ in range(notches):
            self._send([_button(code, True), _button(code, False)])
            self._pace(0.02)

    def _sideways(self, code: str, notches: int) -> None:
        """The absolute pointer silently loses sideways notches, so they go through the PS/2 mouse."""
        mice = self._guest.hmp("info mice")
        active = re.search(r"^\* Mouse #(\d+)", mice, re.MULTILINE)
        ps2 = re.search(r"Mouse #(\d+): QEMU PS/2 Mouse", mice)
        if active is None or ps2 is None:
            raise DesktopFault(f"{self._guest.name}: no PS/2 mouse for sideways scrolling: {mice.strip()}")
        self._guest.hmp(f"mouse_set {ps2.group(1)}")
        try:
            self._wheel(code, notches)
        finally:
            self._guest.hmp(f"mouse_set {active.group(1)}")

    def _send(self, events: list[Event]) -> None:
        if self._unseen + len(events) > _UNSEEN:
            self._await_guest()
        self._guest.qmp("input-send-event", {"events": events})
        self._unseen += len(events)

    def _await_guest(self) -> None:
        """Wait until the guest has dealt with what was sent: it answers, and then has nothing left to do."""
        if self._agent:
            self._guest.agent("guest-ping", timeout=10)
        if self._local:
            self._guest.vcpus.wait_halted(_REST_S)
        elif not self._agent:
            self._pace(_REST_S)
        self._unseen = 0

    @staticmethod
    def _pace(seconds: float) -> None:
        """A gesture takes time; nothing is waited for here."""
        time.sleep(seconds)
